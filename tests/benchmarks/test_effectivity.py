"""True error over stated error of a network that was hardly trained, and of one that was."""

import numpy as np
import pytest

import epinn
from benchmarks import effectivity
from benchmarks.suite.case import Case, Reference

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_compile")]

T = np.linspace(0, 2, 41)


def decay(seed):
    return epinn.Problem(
        domain=epinn.Box(t=(0, 2)), equation=lambda u: u.t + u, initial=epinn.Initial(5.0), points=epinn.Points(40)
    )


def test_a_linear_problem_has_bands_as_wide_as_its_errors(monkeypatch):
    stages = {
        "poor": epinn.Base(hidden=(8, 8), epochs=100, newton=0, restarts=0, hard=False),
        "good": epinn.Base(hidden=(8, 8), epochs=100, newton=20, restarts=0, hard=False),
    }
    monkeypatch.setattr(effectivity, "STAGES", stages)
    case = Case("decay", "Decay", decay, lambda: Reference(T[:, None], 5 * np.exp(-T)[:, None]))
    poor, good = effectivity.cells(case, 0)
    assert good["error"] < 0.01 * poor["error"]
    assert not poor["trustworthy"]
    assert good["trustworthy"]
    assert 0.5 < poor["effectivity"] < 1.2
