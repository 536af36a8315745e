"""Try a wheel as a stranger would: in an empty environment, in an empty folder, with nothing of the repository at hand.

python tools/smoke.py dist/epinn-0.2.0-py3-none-any.whl [--python python3.12 ...]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORK = """
import sys
from importlib.metadata import version

import jax.numpy as jnp
import numpy as np

import epinn

assert "site-packages" in epinn.__file__, epinn.__file__
assert version("epinn") == epinn.__version__
x = np.linspace(-0.9, 0.9, 20)
problem = epinn.Problem(
    domain=epinn.Box(x=(-1, 1)),
    equation=lambda u, x: u.xx + 9 * jnp.sin(3 * x),
    boundary=epinn.Dirichlet(lambda x: jnp.sin(3 * x)),
    data=epinn.Data(x, np.sin(3 * x) + 0.1 * np.random.default_rng(0).normal(size=20), sigma=0.1),
)
pinn = epinn.fit(problem, key=0, base=epinn.Base(hidden=(8, 8)))
band = epinn.attach(pinn, problem, method="laplace", key=1)
mean, std = band.predict(x)
assert np.abs(mean - np.sin(3 * x)).max() < 0.2, "no solution"
assert np.all(std > 0)
print(band.summary())
band.plot().savefig("band.png")
band.report("band.html")
band.save("band.safetensors")
assert np.allclose(epinn.load("band.safetensors", problem).predict(x).mean, mean, atol=1e-5)
print("epinn", epinn.__version__, "on Python", sys.version.split()[0])
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="interpreters to try it with")
    arguments = parser.parse_args()
    for python in arguments.python:
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            smoke(arguments.wheel.resolve(), python, Path(folder))
        print(f"{python}: passed in {time.perf_counter() - started:.0f} s")


def smoke(wheel: Path, python: str, folder: Path) -> None:
    """Install the wheel into an empty environment, and use library and command line there."""
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    bin_ = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([bin_ / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
    work = folder / "work"
    work.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    for command in (["--version"], ["--help"], ["problems"], ["new", "cooling.toml"], ["check", "cooling.toml"]):
        subprocess.run([bin_ / "epinn", *command], cwd=work, env=clean, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([bin_ / "python", "-c", WORK], cwd=work, env=clean, check=True)
    for name in ("band.png", "band.html", "band.safetensors"):
        assert (work / name).stat().st_size > 0, name


if __name__ == "__main__":
    main()
