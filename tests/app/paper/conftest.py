"""A paper that is computed in seconds: its settings made tiny, its tables as they are."""

from collections.abc import Iterator

import pytest

from epinn.app.plan import presets

TINY = {
    "base.hidden": (4,),
    "base.epochs": 5,
    "base.newton": 0,
    "base.restarts": 0,
    "epinet.hidden": (4,),
    "epinet.prior_hidden": (3,),
    "epinet.epochs": 5,
    "hmc.burn_in": 0,
    "hmc.samples": 60,
    "hmc.leapfrog": 2,
    "hmc.thin": 1,
    "points.sensors": 5,
    "predict.draws": 20,
}


@pytest.fixture(scope="module")
def tiny_paper(quick_compile: None) -> Iterator[None]:
    """The paper's settings, small enough for a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in TINY.items():
            patch.setitem(presets.PAPER, name, value)
        yield
