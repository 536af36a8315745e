"""How numbers and warnings are put into words, wherever they are shown: terminal, page, figures."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

COLUMNS = {
    "sharpness": "sharpness",
    "coverage": "coverage",
    "rmse": "RMSE",
    "interval_score": "interval score",
    "time_s": "time (s)",
}
PAPER_COLUMNS = {"sharpness": "sharpness", "coverage": "coverage", "rmse": "RMSE", "kappa_mean": "κ", "kappa_std": "κ std"}
DECIMALS = {"sharpness": 2, "coverage": 2, "rmse": 4, "interval_score": 3, "time_s": 1}


def in_range(spread: Mapping[str, float] | None, decimals: int) -> str:
    """Median (min to max)."""
    if spread is None:
        return "-"
    middle = f"{spread['median']:.{decimals}f}"
    if spread["min"] == spread["max"]:
        return middle
    return f"{middle} ({spread['min']:.{decimals}f} to {spread['max']:.{decimals}f})"


def two_digits(value: float) -> str:
    """A number in two digits, without a power of ten where it is near one."""
    return f"{value:.0f}" if 10 <= abs(value) < 1e5 else f"{value:#.2g}".rstrip(".")


def setting(value: object) -> str:
    """The value of a setting."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return "(its own default)" if value is None else str(value)


def plus_minus(mean: float, std: float) -> str:
    """Two digits of the spread, and the mean to the same decimal; a common power of ten if it is far from one."""
    size = max(abs(mean), abs(std))
    power = math.floor(math.log10(size)) if 0 < size < math.inf else 0
    if not -3 <= power <= 4:
        return f"({plus_minus(mean / 10**power, std / 10**power)})e{power}"
    decimals = max(1 - math.floor(math.log10(std)), 0) if 0 < std < math.inf else 9
    return f"{mean:.{decimals}f} ± {std:.{decimals}f}" if decimals < 9 else f"{mean:.4g} ± {std:.2g}"


def notes(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every kind of warning once, with the seeds that have it; two are of a kind if they begin alike."""
    kinds: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for record in records:
        for text in record["warnings"]:
            kinds.setdefault((record["method"], text.split("(")[0]), []).append((record["seed"], text))
    seeds = len({record["seed"] for record in records})
    if seeds == 1:
        return [f"{method}: {found[0][1]}" for (method, _), found in kinds.items()]
    return [
        f"{method}, {len(found)} of {seeds} seeds, such as seed {found[0][0]}: {found[0][1]}"
        for (method, _), found in kinds.items()
    ]
