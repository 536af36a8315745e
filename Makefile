# Everything runs in .venv, which the first target that needs it makes.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

SHAPES := $(if $(CI),,--no-shapes)  # checking them takes a quarter of the time, and is for machines to wait for
FRAMEWORKS := tests/interop tests/test_documentation.py tests/app/commands/test_attach.py

.PHONY: setup demo test test-rest test-all lint docs wheel bench faults fuzz endurance browser clean

setup: .venv/developer  ## an environment with epinn and the tools to work on it

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "epinn needs Python 3.11 or newer: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/user: pyproject.toml | .venv/bin/python
	$(PIP) --editable .
	@touch $@

.venv/developer: pyproject.toml | .venv/bin/python
	$(PIP) --editable '.[dev]'
	@touch $@ .venv/user

demo: .venv/user  ## 1D Poisson with noise 0.1: three methods side by side, beside the published values
	$(BIN)/epinn compare poisson1d --noise 0.1

browser:  ## Chromium, in which the tests open the report page; left out with a note where it cannot be installed
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; } \
	  || echo "no chromium: the tests that open the report page in a browser are left out"

test: .venv/developer browser  ## the tests that people run while they work: all but the slow ones; shapes are checked where CI is set
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not slow" $(SHAPES)

lint: .venv/developer  ## style, types, and which package may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

INTEROP := .venv-interop

$(INTEROP)/installed: tests/interop/requirements.txt pyproject.toml
	$(PYTHON) -m venv $(INTEROP)
	$(INTEROP)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --requirement $<
	@touch $@

test-all: $(INTEROP)/installed browser  ## every test, every shape, also with PyTorch, DeepXDE, ONNX, Flax, Haiku and Keras, which are installed for it
	DDE_BACKEND=pytorch KERAS_BACKEND=jax $(INTEROP)/bin/python -m pytest -n 2 --dist worksteal -q

test-rest: $(INTEROP)/installed browser  ## what `make test` leaves out: the slow ones, and those that need PyTorch and the like
	DDE_BACKEND=pytorch KERAS_BACKEND=jax $(INTEROP)/bin/python -m pytest -n 2 --dist worksteal -q -m slow
	DDE_BACKEND=pytorch KERAS_BACKEND=jax $(INTEROP)/bin/python -m pytest -n 2 --dist worksteal -q -m "not slow" $(FRAMEWORKS)

DOCS := .venv-docs

$(DOCS)/installed: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: $(DOCS)/installed  ## the site in build/website/site; runs the tutorials that have changed, half an hour of two cores for all of them
	$(DOCS)/bin/python -m website

wheel: .venv/developer  ## the wheel in dist/, installed into an empty environment and tried there
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/smoke.py dist/*.whl

PEERS := .venv-peers

$(PEERS)/installed: benchmarks/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

bench: .venv/user $(PEERS)/installed  ## speed against PyTorch, DeepXDE and jinns, on one core; half an hour
	$(BIN)/python benchmarks/step.py --peers $(PEERS)/bin/python
	$(BIN)/python benchmarks/accuracy.py poisson1d poisson1d-nonlinear porous1d --recipe
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/page.py

faults: .venv/user  ## kills, damaged files and full disks on purpose, 50 and 200 of each; hours, see docs/results/faults
	$(BIN)/python -m benchmarks.faults

fuzz: .venv/developer  ## 100,000 wrong inputs of eight kinds, see docs/results/fuzz; with onnx and torch where they are installed
	$(BIN)/python -m benchmarks.fuzz

endurance: .venv/user  ## 2,000 fits in one process, 200 runs of four processes in one tree, what checkpoints cost
	$(BIN)/python -m benchmarks.endurance fits
	$(BIN)/python -m benchmarks.endurance tree
	$(BIN)/python -m benchmarks.endurance cost

clean:
	rm -rf .venv .venv-interop .venv-peers .venv-docs build dist .pytest_cache .mypy_cache .ruff_cache
