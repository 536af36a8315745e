"""Named sets of settings: `fast` is epinn's defaults, `accurate` looks once more for what they leave, and `paper`
is what the E-PINN paper used.

The paper's are given as changes to the defaults. Where the paper is silent, docs/paper.md gives the reason for each choice.
"""

from typing import Any

from ...errors import unknown_name
from .settings import Settings, defaults

PRESETS = ("fast", "accurate", "paper")

ACCURATE: dict[str, Any] = {"base.stages": 3}

PAPER: dict[str, Any] = {
    "base.hidden": (32, 32, 32),
    "base.epochs": 100_000,
    "base.learning_rate": 1e-3,
    "base.schedule": "constant",
    "base.optimizer": "adam",
    "base.newton": 0,
    "base.restarts": 0,
    "base.starts": 0,
    "base.tolerance": 0.01,
    "base.dimensionless": False,
    "epinet.objective": "paper",
    "epinet.hidden": (32, 32, 32),
    "epinet.prior_hidden": (5, 5),
    "epinet.index_dim": 8,
    "epinet.alpha": 0.05,
    "epinet.epochs": 10_000,
    "epinet.learning_rate": 1e-3,
    "epinet.schedule": "constant",
    "epinet.base": "physics",  # measurements reach the base only where the equation alone cannot determine the solution
    "dropout.during": "prediction",  # not what its text says, but what reproduces its tables
    "hmc.step_size": 5e-5,
    "hmc.leapfrog": 50,
    "hmc.burn_in": 1_000,
    "hmc.samples": 10_000,
    "hmc.chains": 1,
    "hmc.adapt": False,
    "hmc.precondition": False,
    "hmc.tolerance": 0.01,
    "hmc.thin": 5,  # a quarter of a gigabyte less to store; diagnostics use every sample
    "hmc.start": "xavier",
    "predict.draws": 10_000,
}

BY_PROBLEM: dict[str, dict[str, Any]] = {
    "poisson2d-nonlinear": {"hmc.step_size": 1e-5},
    "heat1d-inverse": {"epinet.base": "all"},
    "burgers": {"points.collocation": 1000},
}


def preset(name: str, problem: str) -> Settings:
    """The settings of a preset for a problem (a shipped name; any other text has the preset's usual settings)."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    changes = {"fast": {}, "accurate": ACCURATE, "paper": PAPER | BY_PROBLEM.get(problem, {})}
    return defaults().changed(changes[name])
