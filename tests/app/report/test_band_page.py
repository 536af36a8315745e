"""The page of one band, without a run folder."""

import numpy as np

import epinn
from epinn.app.report.band_page import band_page
from epinn.app.report.page import Line, render
from epinn.judge.evaluation import Evaluation
from epinn.judge.verdict import Verdict
from epinn.posterior.statistics import Prediction

WARNING = "the residuals of 'equation' (rms 2) are far above its tolerance (0.01): this is no solution."


def seen(fields=("S", "I"), **unknowns):
    points = np.linspace(0, 1, 20)[:, None]
    shape = (20, len(fields))
    problem = epinn.Problem(domain=epinn.Box(t=(0, 1)), equation=lambda: 0.0, fields=fields, name="An epidemic")
    found = Prediction(np.zeros(shape), np.full(shape, 0.0017))
    draws = {name: Prediction(np.asarray(value), np.asarray(0.1)) for name, value in unknowns.items()}
    return Evaluation(problem, "epinet", points, (20,), found, np.zeros(shape), draws, dict.fromkeys(draws), 0.0)


def record(evaluation, verdict, warnings=()):
    channel = {"channel": "initial of I", "rows": 1, "noise": "exact", "sigma": 0.01, "origin": "tolerance", "used": "sigma"}
    return {
        "method": "epinet",
        **evaluation.record(),
        "spread": evaluation.spread(),
        "noise_sd": {},
        "time_s": 2.0,
        "time_uq_s": 1.0,
        "diagnostics": {},
        "channels": [channel],
        "failed": False,
        "warnings": list(warnings),
        "verdict": verdict.plain(),
    }


def test_the_page_says_verdict_metrics_conditions_settings_and_shows_pictures():
    evaluation = seen(beta=1.6)
    page = band_page(
        record(evaluation, Verdict("trustworthy", ("R-hat of the field 1.002",))),
        evaluation,
        settings={"alpha": 0.05},
        facts={"Seed": "7"},
    )
    assert (page.title, page.subtitle) == ("An epidemic", "epinet")
    assert page.summary == (Line("beta = 1.60 ± 0.10. R-hat of the field 1.002.", "epinet", "trustworthy", "good"),)
    text = render(page)
    for words in ("initial of I", "0.00680", "alpha", "Mean and band", "Error and band, magnified", "Draws of the unknowns"):
        assert words in text
    assert page.facts["Seed"] == "7"
    assert page.facts["Problem"] == "S, I for t from 0 to 1"


def test_what_the_verdict_says_is_not_said_again():
    evaluation, verdict = seen(), Verdict("not converged", (WARNING.split(": ", maxsplit=1)[0],), ("this is no solution.",))
    page = band_page(record(evaluation, verdict, [WARNING, "its weights were rounded."]), evaluation)
    assert [line.text for line in page.summary] == [
        "The residuals of 'equation' (rms 2) are far above its tolerance (0.01). This is no solution.",
        "its weights were rounded.",
    ]
    assert "Settings" not in [section.title for section in page.sections]
