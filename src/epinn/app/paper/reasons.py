"""Why a published value lies outside our range: what we know, said where it applies. The evidence is in docs/paper.md."""

from dataclasses import dataclass

from .tables import Comparison

FACTOR = 1.3  # a value within this factor of our nearest seed is called near
STUCK = 0.05  # acceptance


@dataclass(frozen=True)
class Reason:
    """A few words, and the sentences behind them."""

    short: str
    text: str


NEAR = Reason("near our range", f"Within a factor of {FACTOR:g} of our nearest seed: a few seeds do not show the whole spread.")
STUCK_CHAIN = Reason(
    "chains stuck",
    "From a random start the printed step size is too large: almost no proposal is accepted. The printed result must come "
    "from a start that the paper does not give.",
)
UNMIXED_CHAIN = Reason(
    "chains not mixed", "R-hat is far above 1: what such a chain shows is where it started, and it differs from seed to seed."
)
DROPOUT = Reason(
    "dropout variant",
    "Not settled. Masks act on the trained PINN at prediction, so the band has the size of its hidden weights, and how the "
    "paper's network was initialised is not said. Active in training, as its text has it, dropout flattens the solution.",
)
POSITIVE = Reason(
    "κ is positive",
    "Our κ is positive by construction, which turns the symmetric noise of dropout's masks into a bias upwards.",
)
HEAD = Reason("κ's head", "Not settled: the band of κ depends on how its part of the network is built, which is not said.")
BLIND_BASE = Reason(
    "base without data",
    "Our base has not seen the noisy data and keeps its accuracy. docs/paper.md has a base that has seen them.",
)
FLOOR = Reason(
    "floor of training",
    "The band shrinks with training as published, but not as far: one z per step at a constant rate leaves a floor.",
)
UNKNOWN = Reason("not explained", "We found no reason.")
MISSING = Reason("no value", "We have no value to compare.")


def reason(one: Comparison, metric: str) -> Reason:
    """Why a value lies outside."""
    found = one.ours.get(metric)
    if not found:
        return MISSING
    if one.row.method == "hmc":
        return STUCK_CHAIN if one.diagnostics.get("acceptance", {}).get("median", 0.0) < STUCK else UNMIXED_CHAIN
    if _distance(one.row.values[metric], found["min"], found["max"]) <= FACTOR:
        return NEAR
    if one.row.method == "dropout":
        return POSITIVE if metric.startswith("kappa") else DROPOUT
    if metric == "kappa_std":
        return HEAD
    if one.row.table == "burgers-noise":
        return BLIND_BASE
    return FLOOR if one.row.setting.get("epinet.epochs", 0) > 10_000 else UNKNOWN


def _distance(value: float, low: float, high: float) -> float:
    """How far a value is from a range of positive numbers, as a factor."""
    if value <= 0 or low <= 0:
        return float("inf")
    return low / value if value < low else value / high
