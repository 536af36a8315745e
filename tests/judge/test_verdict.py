"""Verdicts: each word follows from what it should follow from."""

import dataclasses

import numpy as np
import pytest

import epinn
from epinn.judge.evaluation import Evaluation
from epinn.judge.verdict import Evidence, Verdict, judge, overall
from epinn.posterior.held_out import HeldOut
from epinn.posterior.statistics import Prediction
from epinn.solve.diagnosis import Finding
from epinn.solve.explanations import Explanation, Modes

N = 200


def seen(error=0.1, std=0.1, truth=True):
    rng, exact = np.random.default_rng(0), np.sin(np.linspace(0, 6, N))[:, None]
    prediction = Prediction(exact + error * rng.normal(size=(N, 1)), np.full((N, 1), std))
    problem = epinn.Problem(domain=epinn.Box(x=(0, 6)), equation=lambda u: u.xx + u)
    return Evaluation(problem, "m", np.zeros((N, 1)), (N,), prediction, exact if truth else None, {}, {}, 0.0)


def held_out(scale, number=40):
    return HeldOut(scale * np.random.default_rng(1).normal(size=number), np.zeros((2, number)), np.ones(number))


BLIND = Evidence(seen(truth=False))


@pytest.mark.parametrize(
    ("kind", "word"),
    [("outliers", "too narrow"), ("pattern", "too narrow"), ("scatter more", "too narrow"), ("scatter less", "too wide")],
)
def test_a_band_that_its_measurements_deny_is_not_trustworthy(kind, word):
    finding = Finding(kind, "3 of 30 readings are outliers", 'Say so with noise="student".')
    found = judge(dataclasses.replace(BLIND, residuals="small", denied=[finding]))
    assert found == Verdict(word, (finding.said,), (finding.advice,))


@pytest.mark.parametrize(
    ("evidence", "word", "part"),
    [
        (Evidence(seen(std=np.nan)), "not converged", "not finite"),
        (
            Evidence(seen(), complaints=["the residuals are far above; try more."]),
            "not converged",
            "the residuals are far above",
        ),
        (Evidence(seen(), diagnostics={"doubt": "the bound still rises: try more."}), "not converged", "the bound still rises"),
        (
            Evidence(seen(truth=False), diagnostics={"guarantee": "...", "factor": 2.0, "held_out": 40}),
            "trustworthy",
            "scaled by 2.0 to fit 40 held-out measurements",
        ),
        (Evidence(seen(truth=False), held_out=held_out(0.2)), "too wide", "miss by 0.1"),
        (Evidence(seen(), diagnostics={"rhat": 1.3, "acceptance": 0.8}), "not converged", "R-hat of the field 1.300"),
        (Evidence(seen(), diagnostics={"rhat": None, "acceptance": 0.0}), "not converged", "hardly moved"),
        (Evidence(seen(), diagnostics={"rhat": 1.004, "acceptance": 0.8}), "trustworthy", "R-hat of the field 1"),
        (BLIND, "not checked", "nothing"),
        (dataclasses.replace(BLIND, residuals="small", implied={"u": 0.09}), "trustworthy", "small"),
        (
            dataclasses.replace(BLIND, residuals="small", implied={"u": 0.5}),
            "not converged",
            "u is off by 0.50 of its variation",
        ),
        (
            dataclasses.replace(BLIND, residuals="small", implied={"u": 0.5}, missed=1e-4),
            "not converged",
            "missed by more than 0.00010 of its terms",
        ),
        (dataclasses.replace(BLIND, residuals="residuals: equation 1e-4"), "trustworthy", "1e-4"),
        (dataclasses.replace(BLIND, residuals="small", unasked="values differ"), "not checked", "not in the band"),
        (dataclasses.replace(BLIND, unasked="values differ", held_out=held_out(1.0)), "trustworthy", "held-out"),
        (
            dataclasses.replace(BLIND, reference=np.full((N, 1), 0.1)),
            "trustworthy",
            "1.0 times that of the linearised",
        ),
        (dataclasses.replace(BLIND, residuals="small", allowance=0.3), "trustworthy", "hold to 0.30 only"),
        (dataclasses.replace(BLIND, allowance=0.3), "not checked", "nothing"),
        (dataclasses.replace(BLIND, from_prior={"k": 0.9}), "not checked", "nothing"),
        (dataclasses.replace(BLIND, residuals="small", from_network={"k": 1.1, "c": 5.0}), "not checked", "said of c rests on"),
        (dataclasses.replace(BLIND, residuals="small", from_network={"k": 1.1, "c": 1.0}), "trustworthy", "small"),
        (dataclasses.replace(BLIND, reference=np.full((N, 1), 0.1), allowance=0.3), "trustworthy", "of its own posterior"),
        (dataclasses.replace(BLIND, reference=np.full((N, 1), 0.3)), "too narrow", "0.33 times"),
        (dataclasses.replace(BLIND, reference=np.full((N, 1), 0.01)), "too wide", "10 times"),
        (dataclasses.replace(BLIND, held_out=held_out(1.0)), "trustworthy", "of 40 held-out"),
        (dataclasses.replace(BLIND, held_out=held_out(2.0)), "too narrow", "of 40 held-out"),
    ],
)
def test_the_word_and_its_reason(evidence, word, part):
    verdict = judge(evidence)
    assert verdict.word == word
    assert part in "; ".join(verdict.why)


SOUND = "residuals: equation 1e-4"


@pytest.mark.parametrize(
    ("evidence", "word", "truth"),
    [
        (Evidence(seen(), residuals=SOUND), "trustworthy", "the truth is in the 95% band at 9"),
        (Evidence(seen(error=0.3), residuals=SOUND), "trustworthy", "of the points, so this verdict is wrong"),
        (Evidence(seen(error=0.3), complaints=["it is lost"]), "not converged", "the truth is in the 95% band at 5"),
        (Evidence(seen(error=0.001), residuals=SOUND), "trustworthy", "and the error is 0.0096 of its standard deviation"),
        (Evidence(seen()), "not checked", "the truth is in the 95% band at 9"),
        (Evidence(seen(std=np.nan)), "not converged", ""),
    ],
)
def test_the_truth_tests_a_verdict_and_has_no_part_in_it(evidence, word, truth):
    verdict, blind = (judge(dataclasses.replace(evidence, evaluation=one)) for one in (evidence.evaluation, _blind(evidence)))
    assert verdict.word == blind.word == word
    assert verdict.why == blind.why
    assert truth in verdict.truth
    assert ("Known here: " in verdict.reasons) == bool(truth)
    assert "wrong" not in verdict.truth or "wrong" in truth
    assert blind.truth == ""


def _blind(evidence):
    return dataclasses.replace(evidence.evaluation, truth=None)


def smooth_errors(scale, number=30, sets=300):
    """Verdicts on many sets of held-out measurements whose errors share one smooth field, `scale` times as large as the draws
    say."""
    rng, x = np.random.default_rng(2), np.linspace(0, 1, number)
    kernel = np.exp(-0.5 * ((x[:, None] - x) / 0.3) ** 2) + 1e-9 * np.eye(number)
    draw = lambda count: rng.normal(size=(count, number)) @ np.linalg.cholesky(kernel).T  # noqa: E731
    noise, draws = np.full(number, 0.3), draw(1000)
    found = [HeldOut(scale * field + noise * rng.normal(size=number), draws, noise) for field in draw(sets)]
    return [judge(dataclasses.replace(BLIND, held_out=one)).word for one in found]


@pytest.mark.slow
def test_errors_that_measurements_share_are_no_reason_to_distrust_a_band():
    """Were they taken to be independent, every tenth of these right bands would be called too narrow, every fifth too wide."""
    words = smooth_errors(1.0)
    assert words.count("too narrow") < 10  # 3 are expected
    assert words.count("too wide") < 3


def test_a_band_that_is_too_narrow_is_found_although_errors_are_shared():
    assert smooth_errors(4.0, sets=100).count("too narrow") > 70


def test_several_seeds_are_one_sentence():
    verdicts = [Verdict("trustworthy", ("a",)), Verdict("too narrow", ("b",)), Verdict("trustworthy", ("c",))]
    text = str(overall([verdict.plain() for verdict in verdicts], [4, 5, 6]))
    assert text == "trustworthy in 2 of 3 seeds, too narrow in 1. Seed 4: A."
    assert str(overall([verdicts[1].plain()], [0])) == "too narrow. B."


def test_advice_that_several_complaints_share_is_given_once():
    complaints = [f"the residuals of {name} are large (rms 2): this is no solution. Try another seed." for name in "ab"]
    verdict = judge(Evidence(seen(truth=False), complaints=complaints))
    assert verdict.why == ("the residuals of a are large (rms 2)", "the residuals of b are large (rms 2)")
    assert str(verdict) == (
        "not converged. The residuals of a are large (rms 2); the residuals of b are large (rms 2). "
        "This is no solution. Try another seed."
    )


OTHER = Explanation({"ka": 1.1, "V": 35.0}, 2, 0.3)


def test_a_band_beside_which_something_else_explains_the_measurements_is_ambiguous():
    """However small the residuals are, and even if held-out measurements are in it: they are explained by the other as well."""
    evidence = dataclasses.replace(
        BLIND, residuals=SOUND, held_out=held_out(1.0), modes=Modes(4, 2, (OTHER,)), unknowns={"ka": 0.18, "V": 6.256}
    )
    verdict = judge(evidence)
    assert verdict.word == "ambiguous"
    assert verdict.why[0] == "the measurements are explained as well by ka = 1.10, V = 35.0 (found from 2 of 4 further starts)"
    assert verdict.why[1] == "this band knows of ka = 0.180, V = 6.26 only"
    assert SOUND in verdict.why
    assert "prior=epinn.Normal" in verdict.advice[0]
    lost = dataclasses.replace(evidence, complaints=["it is lost"])
    assert judge(lost).word == "not converged"
    denied = dataclasses.replace(evidence, held_out=held_out(2.0))
    assert judge(denied).word == "too narrow"


@pytest.mark.parametrize(
    ("modes", "said"),
    [
        (Modes(1, 1), "the same unknowns from 1 further start"),
        (Modes(4, 4), "the same unknowns from 4 further starts"),
        (Modes(4, 3), "the same unknowns from 3 of 4 further starts, nothing as good from the others"),
        (Modes(), "no work was left to look whether other values of the unknowns explain the measurements as well"),
    ],
)
def test_where_starts_find_nothing_else_that_is_said(modes, said):
    assert judge(dataclasses.replace(BLIND, residuals=SOUND, modes=modes)) == Verdict("trustworthy", (SOUND, said))
    assert judge(dataclasses.replace(BLIND, modes=modes)).word == "not checked"  # by itself it speaks for no band


def test_a_verdict_survives_as_plain_data_also_from_before_there_was_advice():
    verdict = Verdict("not converged", ("a",), ("try b.",))
    assert Verdict.of(verdict.plain()) == verdict
    assert Verdict.of({"word": "too wide", "why": ["a"]}) == Verdict("too wide", ("a",))


def test_colours_tell_good_from_bad():
    tones = {"trustworthy": "good", "too wide": "fair", "too narrow": "bad", "ambiguous": "bad", "not converged": "bad"}
    assert {word: Verdict(word).tone for word in (*tones, "not checked")} == tones | {"not checked": ""}


def test_fields_that_are_zero_everywhere_are_not_all_that_there_may_be():
    found = judge(dataclasses.replace(BLIND, residuals="small", is_zero=True))
    assert found.word == "not checked"
    assert "zero" in found.reasons
    assert judge(dataclasses.replace(BLIND, residuals="small", is_zero=True, held_out=held_out(1.0))).word == "trustworthy"
