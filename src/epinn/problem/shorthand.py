"""What a user may write in short, in full: conditions from functions and numbers, their names, and unknowns from numbers."""

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..arguments import is_number, number
from ..errors import InputError, shown
from .boundary import Dirichlet
from .condition import Condition
from .conditions import Equation, Initial

WIDE_LOGARITHM = 3.0  # standard deviation of a logarithm of which nothing is known: a factor of 20 either way

Slot = Literal["equation", "boundary", "initial", "data", "extra"]

EXAMPLES: dict[Slot, str] = {
    "equation": "a function",
    "boundary": "Dirichlet(0.0)",
    "initial": "Initial(...)",
    "data": "Data(x, u)",
    "extra": "a condition",
}


@dataclass(frozen=True)
class Normal:
    """What is known of an unknown parameter beforehand: its most likely value, and the standard deviation around it."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        if not (is_number(self.mean) and is_number(self.sd) and self.sd > 0):
            raise InputError(
                f"a prior needs a finite mean and a positive sd, unlike Normal({shown(self.mean)}, {shown(self.sd)})."
            )


@dataclass(frozen=True)
class Unknown:
    """A parameter to be inferred.

    The search starts at `guess`, which says nothing else. `prior` is what is known beforehand, `Normal(15, 20)`; without one,
    anything is taken to be possible that is not absurd beside what the equations say. With `positive`, the logarithm is what is
    inferred, and the prior the log-normal one with that mean and sd. `exact`, if known, is only used to judge the result.
    """

    guess: float = 1.0
    prior: Normal | None = None
    positive: bool = False
    exact: float | None = None

    def __post_init__(self) -> None:
        for what in ("guess", "exact"):
            if what == "guess" or self.exact is not None:
                number(getattr(self, what), f"the {what} of an unknown")
        if not isinstance(self.positive, bool):
            raise InputError(f"positive= of an unknown must be True or False, not {shown(self.positive)}.")
        if self.positive and self.guess <= 0:
            raise InputError(f"an unknown that is positive needs a positive guess, not {shown(self.guess)}.")
        if self.prior is not None and not isinstance(self.prior, Normal):
            raise InputError(f"the prior of an unknown is epinn.Normal(mean, sd), not {shown(self.prior)}.")
        if self.positive and self.prior is not None and self.prior.mean <= 0:
            raise InputError(f"an unknown that is positive needs a prior with a positive mean, not {shown(self.prior.mean)}.")

    def raw(self, unit: float = 1.0) -> float:
        """Where the inference starts: the guess in parts of a unit, or the logarithm of that."""
        return math.log(self.guess / unit) if self.positive else self.guess / unit

    def raw_prior(self, unit: float = 1.0, wide: float = 1.0) -> tuple[float, float]:
        """Mean and standard deviation of what is inferred; where no prior was stated, the guess and `wide`."""
        if self.prior is None:
            return self.raw(unit), min(wide, WIDE_LOGARITHM) if self.positive else wide
        if not self.positive:
            return self.prior.mean / unit, self.prior.sd / unit
        variance = math.log1p((self.prior.sd / self.prior.mean) ** 2)
        return math.log(self.prior.mean / unit) - variance / 2, math.sqrt(variance)


def as_unknown(name: str, given: Any) -> Unknown:
    """An unknown from what the user wrote for it: itself, or a number to start from."""
    if isinstance(given, Unknown):
        return given
    try:
        return Unknown(float(given))
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"the unknown {name} needs a number to start from, not {shown(given)}.") from None


def as_conditions(given: Any, slot: Slot) -> list[Condition]:
    """Conditions from what the user wrote in a slot: one of them, a list, a dictionary by name, or a short form of one."""
    if given is None:
        return []
    if isinstance(given, Condition):
        return [given]
    if isinstance(given, Mapping):
        return [dataclasses.replace(one, name=str(name)) for name, part in given.items() for one in as_conditions(part, slot)]
    if isinstance(given, list | tuple):
        return [condition for part in given for condition in as_conditions(part, slot)]
    if slot == "equation" and callable(given):
        return [Equation(given)]
    if callable(given) or isinstance(given, int | float):
        if slot == "boundary":
            return [Dirichlet(given)]
        if slot == "initial":
            return [Initial(given)]
    raise InputError(f"{slot} cannot be {shown(given)}; use {EXAMPLES[slot]}.")


def named(conditions: Sequence[Condition], fields: Sequence[str]) -> list[Condition]:
    """The conditions under names that differ.

    A condition keeps the name that the user gave. Without one, "initial" is enough where there is one such condition; of
    several, each says what it is ("initial of u"), and those that are still alike are numbered.
    """
    counts = Counter(condition.label for condition in conditions)
    seen: list[str] = []
    found = []
    for condition in conditions:
        alone = condition.name or counts[condition.label] == 1
        wanted = condition.label if alone else condition.in_full(fields)
        label, n = wanted, 1
        while label in seen:
            n += 1
            label = f"{wanted} {n}"
        seen.append(label)
        found.append(condition if label == condition.label else dataclasses.replace(condition, name=label))
    return found
