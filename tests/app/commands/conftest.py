"""Runs that several commands' tests look at, and files of a user's."""

import pytest
from command_line import POISSON, TINY, good

OWN = """
import epinn, jax, jax.numpy as jnp, numpy as np

def make(noise=0.1, *, key=0):
    x = np.linspace(0.1, 0.9, 5)
    u = x * (1 - x) / 2 + noise * np.asarray(jax.random.normal(jax.random.key(key), 5))
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u: u.xx + 1.0,
        boundary=epinn.Dirichlet(0.0),
        data=epinn.Data(x, u, sigma=max(noise, 1e-3)),
        exact=lambda x: x * (1 - x) / 2,
    )

problem = make()
"""

BROKEN = """
import epinn, jax.numpy as jnp

def problem(equation=lambda u: u.xx, data=()):
    return epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=equation, boundary=epinn.Dirichlet(0.0), data=data)

nan = problem(data=epinn.Data([0.1, 0.2, 0.3], [1.0, float("nan"), 2.0], sigma=0.1))
outside = problem(data=epinn.Data([0.1, 3.5], [1.0, 2.0], sigma=0.1))
shape = problem(data=epinn.Data([0.1, 0.2], [1.0, 2.0, 3.0], sigma=0.1))
along_y = problem(lambda u: u.xx + u.yy)
undefined = problem(lambda u: u.xx - sorce(u))
runaway = problem(lambda u: jnp.sqrt(-1.0 - u**2))
"""


@pytest.fixture(scope="session")
def single(tmp_path_factory):
    """One method on one seed: the process and the folder of results."""
    cwd = tmp_path_factory.mktemp("single")
    return good("run", *POISSON, "--out", "out", cwd=cwd), cwd / "out"


@pytest.fixture(scope="session")
def compared(tmp_path_factory):
    """Three methods on one seed."""
    cwd = tmp_path_factory.mktemp("compared")
    return good("compare", *POISSON, "--set", "dropout.rate=0.05", "--out", "out", cwd=cwd), cwd / "out"


@pytest.fixture(scope="session")
def inverse(tmp_path_factory):
    """An inverse problem on three seeds, as JSON, without a folder of its own choice."""
    cwd, points = tmp_path_factory.mktemp("inverse"), ("--set", "points.collocation=32", "--set", "points.sensors=8")
    seeds = ("--seeds", 3, "--seed", 5)
    process = good("run", "heat1d-inverse", "--method", "dropout", *TINY, *points, *seeds, "--json", cwd=cwd)
    return process, cwd / "runs" / "heat1d-inverse-dropout-1"


@pytest.fixture
def own(tmp_path):
    """A folder with the user's files."""
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "syntax.py").write_text("import epinn\n\nproblem = = 3\n")
    (tmp_path / "number.py").write_text("problem = 3\n")
    (tmp_path / "model.json").write_text('{"weights": [1.0, 2.0]}')
    (tmp_path / "imports.py").write_text("import epinn\n\n\nimport nosuchmodule\n")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.txt").write_text("years of work")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text('{"epinn": "0.1.0"}')
    return tmp_path


@pytest.fixture(scope="session")
def own_file():
    """A file with a sound problem."""
    return OWN


@pytest.fixture(scope="session")
def broken():
    """A file with problems that have a mistake each."""
    return BROKEN
