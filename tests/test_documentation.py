"""The Python code of README, guide and other pages runs as it stands, page by page, on networks hardly trained."""

import functools
import re
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import pytest

import epinn

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/guide.md", "docs/from_deepxde.md")
MODEL = eqx.nn.MLP(1, 1, width_size=8, depth=2, activation=jnp.tanh, key=jax.random.key(0))  # which the reader has already
BRIEF = epinn.Base(hidden=(8, 8), epochs=50, newton=5, restarts=0)


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [PAGES[0], *(pytest.param(page, marks=pytest.mark.slow) for page in PAGES[1:])])
@pytest.mark.filterwarnings("ignore::epinn.errors.EpinnWarning")  # a network that is trained so briefly is no solution
@pytest.mark.usefixtures("quick_compile")
def test_code_runs(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(epinn, "fit", functools.partial(epinn.fit, base=BRIEF))
    names: dict = {"model": MODEL}
    for code in blocks(page):
        exec(compile(code, page, "exec"), names)
    plt.close("all")


@pytest.mark.parametrize("page", PAGES)
def test_there_is_code(page):
    assert len(blocks(page)) >= (1 if "from" in page else 2)
