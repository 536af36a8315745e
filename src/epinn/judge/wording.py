"""How numbers and warnings are put into words, the same wherever they are shown: terminal, page, figures, verdicts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

COLUMNS = {
    "sharpness": "sharpness",
    "coverage": "coverage",
    "rmse": "RMSE",
    "interval_score": "interval score",
    "time_s": "time (s)",
}
PAPER_COLUMNS = {"sharpness": "sharpness", "coverage": "coverage", "rmse": "RMSE", "kappa_mean": "κ", "kappa_std": "κ std"}
DIGITS = 3  # of the metrics in tables
FRACTIONS = ("coverage", "acceptance")  # between 0 and 1: two decimals
TIMES = ("time_s", "time_uq_s")  # vary from run to run: two digits
BREAKS = (": ", "; ", ". ")  # where the advice of a warning begins


def significant(value: float, digits: int = 2) -> str:
    """A number in significant digits: 0.0034, 1.2, 340; with a power of ten below 1e-4 and from 1e5 on."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if 10**digits <= abs(value) < 1e5:
        return f"{value:.0f}"
    return f"{value:.{digits - 1}e}" if abs(value) >= 1e5 else f"{value:#.{digits}g}".rstrip(".")


def fixed(value: float, decimals: int) -> str:
    """A number with as many decimals as its neighbours in a table; in significant digits if it would read as zero."""
    text = f"{value:.{decimals}f}"
    return significant(value, 1) if value != 0 and float(text) == 0 else text


def metric(name: str, value: float, digits: int = DIGITS) -> str:
    """The value of a metric or diagnostic, as tables and figures show it."""
    if name in FRACTIONS:
        return fixed(value, 2)
    if name == "rhat":
        return f"{value:.3f}" if value < 10 else significant(value)  # chains count as mixed by its third digit
    if name in TIMES:
        return significant(value)
    return f"{value:.0f}" if name in ("ess", "ess_tail") else significant(value, digits)


def median_and_range(name: str, spread: Mapping[str, float] | None) -> str:
    """`median (min to max)` of a metric over seeds."""
    return "-" if spread is None else _median_and_range({end: metric(name, value) for end, value in spread.items()})


def fixed_range(spread: Mapping[str, float] | None, decimals: int) -> str:
    """`median (min to max)` with as many decimals as the published value that stands beside it."""
    return "-" if spread is None else _median_and_range({end: fixed(value, decimals) for end, value in spread.items()})


def _median_and_range(texts: Mapping[str, str]) -> str:
    middle, low, high = (texts[end] for end in ("median", "min", "max"))
    return middle if low == high else f"{middle} ({low} to {high})"


def plus_minus(mean: float, std: float) -> str:
    """Two digits of the spread, and the mean to the same decimal; a common power of ten if it is far from one."""
    size = max(abs(mean), abs(std))
    power = math.floor(math.log10(size)) if 0 < size < math.inf else 0
    if not -3 <= power <= 4:
        return f"({plus_minus(mean / 10**power, std / 10**power)})e{power}"
    decimals = max(1 - math.floor(math.log10(std)), 0) if 0 < std < math.inf else 9
    return f"{mean:.{decimals}f} ± {std:.{decimals}f}" if decimals < 9 else f"{mean:.4g} ± {std:.2g}"


def setting(value: object) -> str:
    """The value of a setting."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return "(its own default)" if value is None else str(value)


def split_advice(warning: str) -> tuple[str, str]:
    """What a warning says, and what it advises: "the bound still rises", "try more vi.steps."."""
    found = [(at, mark) for mark in BREAKS if (at := warning.find(mark)) >= 0]
    if not found:
        return warning.rstrip("."), ""
    at, mark = min(found)
    return warning[:at], warning[at + len(mark) :]


def notes(records: Sequence[Mapping[str, Any]], told: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Every kind of warning once, as (whose it is, text); two are of a kind if they begin alike.

    A warning that begins like one of `told` is left out: the verdict has said it already.
    """
    kinds: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for record in records:
        for text in record["warnings"]:
            kinds.setdefault((record["method"], _kind(text)), []).append((record["seed"], text))
    seeds, said = len({record["seed"] for record in records}), {_kind(text) for text in told}
    return [
        (method if seeds == 1 else f"{method}, {len(found)} of {seeds} seeds, such as seed {found[0][0]}", found[0][1])
        for (method, kind), found in kinds.items()
        if kind not in said
    ]


def _kind(warning: str) -> str:
    """A warning without its numbers, which differ from seed to seed."""
    return split_advice(warning)[0].split("(")[0].strip()
