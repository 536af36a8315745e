"""How far to trust a band, in plain words, from what can be known about it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..methods.mcmc.diagnostics import MIXED, STUCK
from ..posterior.gaussian import LEVEL, quantile
from ..posterior.held_out import HeldOut
from ..solve.diagnosis import Finding
from ..solve.evidence import LOOSER
from ..solve.explanations import Modes
from ..solve.misfit import SOLVED
from .evaluation import Evaluation
from .metrics import at_least_rounding, coverage
from .wording import fixed, metric, significant, split_advice

NARROW, WIDE = 0.6, 1.7  # acceptable ratios of the spread to that of the method's own posterior, linearised
RARE = 0.01  # held-out measurements that would be as far off so seldom say that the band is too narrow
HARDLY = 0.001  # and if they are so near that this seldom happens, it is too wide
POOR = (
    0.8  # a coverage below this is too low; errors are correlated in space, so one band may fall short of its level by chance
)
IDLE = 0.1  # a band is wider than it need be if the rms error is below this fraction of its standard deviation,
MATTERS = 0.02  # and the standard deviation above this fraction of the range of the field

FAR = 0.1  # of a field's variation: if the residuals imply a larger error, they do not tell it well either

LET_THEM_MEET = "to have it in the band, let one of them go over into the other, within as short a stretch as it really does."

RESTS = 1.5  # times as uncertain: from there on an unknown rests on the network, and not on the measurements
MOSTLY = 0.5  # an unknown whose standard deviation is this part of its prior's is mostly prior

FOUND_ZERO = "all fields are zero, which meets every condition, and whether anything else does was not looked for"
EXCLUDE_ZERO = "to exclude it, say what is known of another solution: a value somewhere, Data(...), or one more condition."

SETTLE = (
    "The measurements do not settle that: take more of them, or say what is known, Unknown(guess, prior=epinn.Normal(...))."
)

TELL_APART = "say what is known, prior=epinn.Normal(...) or positive=True, guess nearer, or measure what tells them apart."

TRUSTWORTHY, TOO_NARROW, TOO_WIDE, AMBIGUOUS, NOT_CONVERGED, NOT_CHECKED = (
    "trustworthy",
    "too narrow",
    "too wide",
    "ambiguous",
    "not converged",
    "not checked",
)

TONES = {  # the colour of a verdict, if any
    TRUSTWORTHY: "good",
    TOO_NARROW: "bad",
    TOO_WIDE: "fair",
    AMBIGUOUS: "bad",
    NOT_CONVERGED: "bad",
}


@dataclass(frozen=True)
class Verdict:
    """A word, the reasons for it with their figures, and what to do about it if anything is wrong.

    The word never rests on a truth that nobody has. Where it is known all the same, `truth` is what it says of the band: a test
    of the verdict.
    """

    word: str
    why: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    truth: str = ""

    def __str__(self) -> str:
        return f"{self.word}. {self.reasons}" if self.why else f"{self.word}."

    @property
    def reasons(self) -> str:
        """The reasons and the advice as sentences, and what the truth says."""
        known = [f"known here: {self.truth}."] if self.truth else []
        return " ".join(_capital(text) for text in (f"{'; '.join(self.why)}.", *self.advice, *known))

    @property
    def tone(self) -> str:
        """The colour that it is shown in: "good", "fair", "bad", or "" for none."""
        return TONES.get(self.word, "")

    def plain(self) -> dict[str, Any]:
        return {"word": self.word, "why": list(self.why), "advice": list(self.advice), "truth": self.truth}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Verdict":
        """The verdict that `plain` described."""
        return cls(plain["word"], tuple(plain["why"]), tuple(plain.get("advice", ())), plain.get("truth", ""))


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
    denied: Sequence[Finding] = ()  # by the measurements that it was trained on
    implied: Mapping[str, float] = field(default_factory=dict)  # by field, the error that residuals imply, by its variation
    missed: float = math.inf  # the largest residual of what holds exactly, in parts of the size of its terms
    unasked: str = ""  # where given values contradict each other, in words
    from_prior: Mapping[str, float] = field(default_factory=dict)  # by unknown, its standard deviation in parts of its prior's
    from_network: Mapping[str, float] = field(default_factory=dict)  # by unknown, how many times as uncertain it is without the
    # preference of a network for smooth fields
    modes: Modes | None = None  # whether something else explains the measurements as well, if that was looked for
    unknowns: Mapping[str, float] = field(default_factory=dict)  # as the base found them
    is_zero: bool = False  # whether what was found is zero everywhere, though nothing was measured: others may exist


def _capital(sentence: str) -> str:
    return f"{sentence[:1].upper()}{sentence[1:]}"


def judge(evidence: Evidence) -> Verdict:
    """The first thing that is wrong; if nothing is, all that was looked at. What the truth says of it comes after that."""
    verdict = _judged(evidence)
    return replace(verdict, truth=_beside_the_truth(evidence, verdict.word))


def _judged(evidence: Evidence) -> Verdict:
    rhat, acceptance = (evidence.diagnostics.get(name) for name in ("rhat", "acceptance"))
    if evidence.complaints:
        return _not_converged(evidence.complaints)
    band = evidence.evaluation.prediction
    if not (np.all(np.isfinite(band.mean)) and np.all(np.isfinite(band.std))):
        return _not_converged(["the band is not finite everywhere"])
    if far := [name for name, error in evidence.implied.items() if error > FAR]:
        return _not_converged([_far_off(name, evidence.implied[name], evidence.missed) for name in far])
    if "doubt" in evidence.diagnostics:  # the method's own
        return _not_converged([evidence.diagnostics["doubt"]])
    if acceptance is not None and (rhat is None or acceptance < STUCK):
        return _not_converged([f"the chains hardly moved (acceptance {fixed(acceptance, 2)})"])
    if rhat is not None and not rhat < MIXED:
        return _not_converged([f"R-hat of the field {metric('rhat', rhat)}"])
    checks = [check for check in (_held_out(evidence), _reference(evidence)) if check is not None]
    denied = [(TOO_WIDE if finding.kind == "scatter less" else TOO_NARROW, finding) for finding in evidence.denied]
    for word in (TOO_NARROW, TOO_WIDE):
        here = [finding for found, finding in denied if found == word]
        if wrong := [*(finding.said for finding in here), *(why for found, why in checks if found == word)]:
            return Verdict(word, tuple(wrong), tuple(dict.fromkeys(finding.advice for finding in here)))
    grounds = (*(why for _, why in checks), *_grounds(evidence))
    why = (*_mostly_prior(evidence), *grounds, *_allowed(evidence), *_starts(evidence))
    if evidence.modes is not None and evidence.modes.others:
        return Verdict(AMBIGUOUS, (*_others(evidence.modes, evidence.unknowns), *why), (TELL_APART,))
    if open_ := [name for name, times in evidence.from_network.items() if times > RESTS]:
        return Verdict(NOT_CHECKED, (_rests_on_the_network(open_, evidence.from_network), *why), (SETTLE,))
    if evidence.unasked and evidence.held_out is None:  # measurements would have told
        said = f"{evidence.unasked}, and how far that reaches is not in the band"
        return Verdict(NOT_CHECKED, (said, *why), (LET_THEM_MEET,))
    if evidence.is_zero and evidence.held_out is None:
        return Verdict(NOT_CHECKED, (FOUND_ZERO, *why), (EXCLUDE_ZERO,))
    return Verdict(TRUSTWORTHY, why) if grounds else Verdict(NOT_CHECKED, ("there is nothing to compare it with", *why))


def _far_off(name: str, error: float, missed: float) -> str:
    off = f"going by its residuals {name} is off by {significant(error)} of its variation"
    if missed > SOLVED:
        return f"{off}, too much to be estimated from them: train the network further, or take a larger one."
    return (
        f"{off}, though no condition is missed by more than {significant(missed)} of its terms: if these leave {name} open, an "
        "initial value, an initial slope or a boundary value is missing; else the equation makes much of what is left, and the "
        "network must be trained further, or be larger."
    )


def _not_converged(complaints: Sequence[str]) -> Verdict:
    """What the complaints say, and every piece of advice once."""
    said = [split_advice(text) for text in complaints]
    return Verdict(NOT_CONVERGED, tuple(gist for gist, _ in said), tuple(dict.fromkeys(advice for _, advice in said if advice)))


def _grounds(evidence: Evidence) -> Iterator[str]:
    """What else speaks for a band in which nothing is wrong."""
    if (rhat := evidence.diagnostics.get("rhat")) is not None:
        yield f"R-hat of the field {metric('rhat', rhat)}"
    if evidence.residuals:
        yield evidence.residuals
    if (left := evidence.diagnostics.get("stage_left")) is not None:
        yield f"the last stage of the network left {significant(left)} of those before it"
    elif (left := evidence.diagnostics.get("own_error_left")) is not None:
        explained = max(0.0, 1 - left**2)
        yield f"the error that was estimated for the network explains {explained:.0%} of them, by mean square"
    if "guarantee" in evidence.diagnostics:
        factor, count = (evidence.diagnostics[name] for name in ("factor", "held_out"))
        yield f"scaled by {significant(factor)} to fit {count} held-out measurements"


def _allowed(evidence: Evidence) -> Iterator[str]:
    """What a method takes exact conditions to be known to."""
    if evidence.allowance is not None:
        yield f"exact conditions are taken to hold to {significant(evidence.allowance)} only"


def _mostly_prior(evidence: Evidence) -> Iterator[str]:
    """The unknowns of which the data say little."""
    for name, share in evidence.from_prior.items():
        if share > MOSTLY:
            yield f"what is said of {name} is mostly its prior (its standard deviation is {significant(share)} of the prior's)"


def _rests_on_the_network(names: Sequence[str], times: Mapping[str, float]) -> str:
    who, largest = ", ".join(names), max(times[name] for name in names)
    return (
        f"what is said of {who} rests on the smooth fields that a network prefers: with a prior {significant(LOOSER)} times "
        f"as wide on its weights {'they are' if len(names) > 1 else 'it is'} {significant(largest)} times as uncertain"
    )


def _starts(evidence: Evidence) -> Iterator[str]:
    """That further starts from other guesses of the unknowns have found nothing else, or that there were none."""
    if (modes := evidence.modes) is None or modes.others:
        return
    if not modes.starts:
        yield "no work was left to look whether other values of the unknowns explain the measurements as well"
    elif modes.same == modes.starts:
        yield f"the same unknowns from {_starts_in_words(modes.starts)}"
    else:
        yield f"the same unknowns from {modes.same} of {_starts_in_words(modes.starts)}, nothing as good from the others"


def _starts_in_words(number: int) -> str:
    return f"{number} further start{'s' if number > 1 else ''}"


def _others(modes: Modes, found: Mapping[str, float]) -> Iterator[str]:
    """The other explanations, and that the band knows nothing of them."""
    for other in modes.others:
        yield (
            f"the measurements are explained as well by {_values(other.unknowns)} "
            f"(found from {other.starts} of {_starts_in_words(modes.starts)})"
        )
    yield f"this band knows of {_values(found)} only"


def _values(unknowns: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {significant(value, 3)}" for name, value in unknowns.items())


def _held_out(evidence: Evidence) -> tuple[str, str] | None:
    """How many held-out measurements lie in the band with its noise, and whether chance explains their distances."""
    if evidence.held_out is None:
        return None
    percentile, scores = evidence.held_out.percentile, evidence.held_out.scores
    if percentile < HARDLY:
        typical = float(np.mean(scores**2)) ** 0.5
        return TOO_WIDE, f"held-out measurements miss by {significant(typical)} of what band and noise allow"
    inside, number = int(np.sum(scores <= quantile(LEVEL))), len(scores)
    word = TOO_NARROW if percentile > 1 - RARE else TRUSTWORTHY
    return word, f"{inside} of {number} held-out measurements are in the {LEVEL:.0%} band, noise included"


def _beside_the_truth(evidence: Evidence, word: str) -> str:
    """How the band holds the exact solution of the first field, where there is one, and whether the verdict was wrong."""
    seen, truth = evidence.evaluation, evidence.evaluation.truth
    if truth is None or not np.all(np.isfinite(seen.prediction.std)):
        return ""
    mean, std = seen.prediction.mean[:, 0], seen.prediction.std[:, 0]
    covered, size = coverage(mean, at_least_rounding(mean, std, truth[:, 0]), truth[:, 0]), float(np.ptp(truth[:, 0]))
    typical = float(np.sqrt(np.mean((truth[:, 0] - mean) ** 2) / max(float(np.mean(std**2)), 1e-300)))
    fields = seen.problem.fields
    subject = "the truth" if len(fields) == 1 else f"the true {fields[0]}"
    said = f"{subject} is in the {LEVEL:.0%} band at {covered:.0%} of the points"
    if covered < POOR:
        return f"{said}, so this verdict is wrong" if word == TRUSTWORTHY else said
    if typical < IDLE and np.mean(std) > MATTERS * size:
        return f"{said}, and the error is {significant(typical)} of its standard deviation"
    return said


def _reference(evidence: Evidence) -> tuple[str, str] | None:
    """What the method looks for, linearised around the same network."""
    if evidence.reference is None:
        return None
    own, other = (float(np.sqrt(np.mean(std[:, 0] ** 2))) for std in (evidence.evaluation.prediction.std, evidence.reference))
    ratio = own / max(other, 1e-300)
    word = TOO_NARROW if ratio < NARROW else TOO_WIDE if ratio > WIDE else TRUSTWORTHY
    whose = "the linearised posterior" if evidence.allowance is None else "its own posterior, linearised"
    return word, f"its spread is {significant(ratio)} times that of {whose}"


@dataclass(frozen=True)
class Overall:
    """The verdicts of several seeds: the commonest, how often each came (nothing for one seed), and the reasons for it."""

    verdict: Verdict
    counts: str
    reasons: str

    def __str__(self) -> str:
        return f"{self.verdict.word}{self.counts}. {self.reasons}"


def overall(verdicts: Sequence[Mapping[str, Any]], seeds: Sequence[int]) -> Overall:
    """What the verdicts (as plain data) of some seeds say together; the reasons are those of the first seed with its word."""
    words = [verdict["word"] for verdict in verdicts]
    word = max(dict.fromkeys(words), key=words.count)
    first = words.index(word)
    verdict = Verdict.of(verdicts[first])
    if len(words) == 1:
        return Overall(verdict, "", verdict.reasons)
    others = "".join(f", {other} in {words.count(other)}" for other in dict.fromkeys(words) if other != word)
    counts = f" in {words.count(word)} of {len(words)} seeds{others}"
    return Overall(verdict, counts, f"Seed {seeds[first]}: {verdict.reasons}")
