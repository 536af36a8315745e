"""How far to trust a band, in plain words, from what can be known about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..methods.mcmc.diagnostics import MIXED, STUCK
from ..posterior.held_out import HeldOut
from .evaluation import Evaluation
from .metrics import LEVEL, coverage, quantile
from .wording import two_digits

NARROW, WIDE = 0.6, 1.7  # spread, in parts of that of the method's own posterior, linearised
RARE = 0.01  # held-out measurements that would be as far off so seldom say that the band is too narrow
HARDLY = 0.001  # and if they are so near that this seldom happens, it is too wide
POOR = 0.8  # part of the points where the truth is in the band; errors are correlated, so less than the level is no scandal yet
IDLE = 0.1  # errors, in standard deviations, of a band that is wider than it need be,
MATTERS = 0.02  # if it is also wide in parts of the range of the field

TRUSTWORTHY, TOO_NARROW, TOO_WIDE, NOT_CONVERGED, NOT_CHECKED = (
    "trustworthy",
    "too narrow",
    "too wide",
    "not converged",
    "not checked",
)


@dataclass(frozen=True)
class Verdict:
    """A word, and the figures behind it."""

    word: str
    why: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.word}: {'; '.join(self.why)}" if self.why else self.word

    def plain(self) -> dict[str, Any]:
        return {"word": self.word, "why": list(self.why)}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about one band: complaints of training, diagnostics of the method, and things to compare with."""

    evaluation: Evaluation
    complaints: Sequence[str] = ()
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    residuals: str = ""  # what is left of the conditions, in words, where the band is made from just that
    reference: np.ndarray | None = None  # the spread of its own posterior, linearised, on the same grid
    allowance: float | None = None  # what exact conditions are taken to be known to, if the network does better
    held_out: HeldOut | None = None


def judge(evidence: Evidence) -> Verdict:
    """The first thing that is wrong; if nothing is, all that was looked at."""
    if evidence.complaints:
        return Verdict(NOT_CONVERGED, tuple(_gist(text) for text in evidence.complaints))
    band = evidence.evaluation.prediction
    if not (np.all(np.isfinite(band.mean)) and np.all(np.isfinite(band.std))):
        return Verdict(NOT_CONVERGED, ("the band is not finite everywhere",))
    rhat, acceptance = (evidence.diagnostics.get(name) for name in ("rhat", "acceptance"))
    if acceptance is not None and (rhat is None or acceptance < STUCK):
        return Verdict(NOT_CONVERGED, (f"the chains hardly moved, acceptance {acceptance:.2f}",))
    if rhat is not None and not rhat < MIXED:
        return Verdict(NOT_CONVERGED, (f"R-hat of the field {rhat:.3f}",))
    if "doubt" in evidence.diagnostics:  # the method's own
        return Verdict(NOT_CONVERGED, (_gist(evidence.diagnostics["doubt"]),))
    checks = [check for check in (_held_out(evidence), _truth(evidence), _reference(evidence)) if check is not None]
    for word in (TOO_NARROW, TOO_WIDE):
        if wrong := [why for found, why in checks if found == word]:
            return Verdict(word, tuple(wrong))
    why = [why for _, why in checks] + ([] if rhat is None else [f"R-hat of the field {rhat:.3f}"])
    why += [evidence.residuals] if evidence.residuals else []
    why += [] if evidence.allowance is None else [f"exact conditions count as known to {evidence.allowance:.2g} only"]
    if "guarantee" in evidence.diagnostics:
        factor, number = (evidence.diagnostics[name] for name in ("factor", "held_out"))
        why.append(f"{number} held-out measurements made it {two_digits(factor)} times as wide")
    return Verdict(TRUSTWORTHY, tuple(why)) if why else Verdict(NOT_CHECKED, ("there is nothing to compare it with",))


def _gist(complaint: str) -> str:
    """A complaint without its advice."""
    return complaint.split(";", maxsplit=1)[0].split(". ", maxsplit=1)[0].rstrip(".")


def _held_out(evidence: Evidence) -> tuple[str, str] | None:
    """How many measurements lie in the band with its noise, and whether their distances could be an accident."""
    if evidence.held_out is None:
        return None
    percentile, scores = evidence.held_out.percentile, evidence.held_out.scores
    if percentile < HARDLY:
        return (
            TOO_WIDE,
            f"held-out measurements are off by {two_digits(float(np.mean(scores**2)) ** 0.5)} of what the band says",
        )
    inside, number = int(np.sum(scores <= quantile(LEVEL))), len(scores)
    word = TOO_NARROW if percentile > 1 - RARE else TRUSTWORTHY
    return word, f"{inside} of {number} held-out measurements are in the {LEVEL:.0%} band with its noise"


def _truth(evidence: Evidence) -> tuple[str, str] | None:
    """The exact solution, where there is one."""
    seen, truth = evidence.evaluation, evidence.evaluation.truth
    if truth is None:
        return None
    mean, std = seen.prediction.mean[:, 0], seen.prediction.std[:, 0]
    covered, size = coverage(mean, std, truth[:, 0]), float(np.ptp(truth[:, 0]))
    typical = float(np.sqrt(np.mean((truth[:, 0] - mean) ** 2) / max(float(np.mean(std**2)), 1e-300)))
    if covered < POOR:
        return TOO_NARROW, f"the truth is in the {LEVEL:.0%} band at {covered:.0%} of the points"
    if typical < IDLE and np.mean(std) > MATTERS * size:
        return TOO_WIDE, f"the error is {two_digits(typical)} of the standard deviation"
    return TRUSTWORTHY, f"the truth is in the {LEVEL:.0%} band at {covered:.0%} of the points"


def _reference(evidence: Evidence) -> tuple[str, str] | None:
    """What the method looks for, linearised around the same network."""
    if evidence.reference is None:
        return None
    own, other = (float(np.sqrt(np.mean(std[:, 0] ** 2))) for std in (evidence.evaluation.prediction.std, evidence.reference))
    ratio = own / max(other, 1e-300)
    word = TOO_NARROW if ratio < NARROW else TOO_WIDE if ratio > WIDE else TRUSTWORTHY
    whose = "the linearised posterior" if evidence.allowance is None else "its own posterior, linearised"
    return word, f"its spread is {two_digits(ratio)} times that of {whose}"


def overall(verdicts: Sequence[Mapping[str, Any]], seeds: Sequence[int]) -> str:
    """The verdicts of several seeds in one sentence: the commonest, and the figures of the first seed that has it."""
    words = [verdict["word"] for verdict in verdicts]
    word = max(dict.fromkeys(words), key=words.count)
    first = words.index(word)
    why = "; ".join(verdicts[first]["why"])
    if len(words) == 1:
        return f"{word} ({why})"
    others = ", ".join(f"{other} in {words.count(other)}" for other in dict.fromkeys(words) if other != word)
    return f"{word} in {words.count(word)} of {len(words)} seeds (seed {seeds[first]}: {why}){others and '; ' + others}"
