"""What was found by looking whether other values of the unknowns explain the measurements as well."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Explanation:
    """Other values of the unknowns, in the units of the problem, with which the measurements are explained about as well."""

    unknowns: Mapping[str, float]
    starts: int  # that ended there
    worse_by: float  # in log likelihood, beside the fit itself


@dataclass(frozen=True)
class Modes:
    """How many further starts a fit was followed by, how many of them ended where it had, and what others found."""

    starts: int = 0
    same: int = 0
    others: tuple[Explanation, ...] = ()

    def plain(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "others": [dataclasses.asdict(other) for other in self.others]}

    @classmethod
    def read(cls, plain: Mapping[str, Any] | None) -> "Modes | None":
        """What `plain` described; None where nothing was looked for, as in files of older versions."""
        if plain is None:
            return None
        others = tuple(Explanation(dict(o["unknowns"]), int(o["starts"]), float(o["worse_by"])) for o in plain["others"])
        return cls(int(plain["starts"]), int(plain["same"]), others)
