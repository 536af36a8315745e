# docker build -t epinn . && docker run --rm -v "$PWD/runs:/data/runs" epinn
FROM python:3.12-slim

COPY pyproject.toml README.md LICENSE /src/
COPY src /src/src
RUN pip install --no-cache-dir '/src[data,geometry]' && rm -rf /src

WORKDIR /data
CMD ["epinn", "compare", "poisson1d", "--noise", "0.1"]
