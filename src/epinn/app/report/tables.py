"""Tables of records, as `metrics.json` has them: metrics by method, what was used for each condition, spreads, settings."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...judge.wording import COLUMNS, median_and_range, plus_minus, setting, significant
from ...methods.mcmc.diagnostics import MIXED
from ...posterior.gaussian import LEVEL
from .page import Cell, Table

POOR = LEVEL - 0.05  # a coverage below this is marked
MORE = {
    "time_uq_s": "band alone (s)",
    "nll": "NLL",
    "crps": "CRPS",
    "acceptance": "acceptance",
    "rhat": "R-hat",
    "ess": "ESS",
    "ess_tail": "tail ESS",
}
EXPLANATION = (
    f"Sharpness: mean width of the ±2σ band. Coverage: share of the points where the truth is in the {LEVEL:.0%} band; ✗ marks "
    f"values below {POOR:.2f}. RMSE: error of the mean. Interval score: width plus a penalty for what lies outside; lower is "
    "better."
)
SEVERAL = "Over several seeds: median (lowest to highest). "
USED = "What was used for each condition"
PARTS = "Uncertainty of one more measurement: that of the field (epistemic) and its noise (aleatoric)"

Json = Mapping[str, Any]
Row = dict[str, Cell]  # by column
NOTHING = Cell("-", mark="muted")


def table_of(title: str, rows: Iterable[Row], note: str = "") -> Table:
    """A table without the columns that have nothing in them."""
    rows = list(rows)
    columns = {name: [row.get(name, NOTHING) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)}
    full = {name: cells for name, cells in columns.items() if set(cells) != {NOTHING}}
    return Table(title, tuple(full), tuple(zip(*full.values(), strict=True)), note)


def by_field(records: Sequence[Json]) -> dict[str, list[Json]]:
    """The records with the metrics of each field, by its name; under "" as they are if there is only one field."""
    names = list(records[0].get("fields", {})) if records else []
    found: dict[str, list[Json]] = {n: [{**record, **record["fields"][n]} for record in records] for n in names}
    for name in names[1:]:  # what was inferred belongs to all fields: it is told with the first
        found[name] = [{**record, "unknowns": {}} for record in found[name]]
    return found or {"": list(records)}


def metrics_row(method: str, values: Json, unknowns: Iterable[str], field: str = "", *, more: bool = False) -> Row:
    """Numbers, or medians with their ranges, under their titles; with `more`, scores and diagnostics of chains too."""
    titles = COLUMNS | MORE if more else COLUMNS
    numbers = {title: number_cell(name, values.get(name)) for name, title in titles.items()}
    named = {"field": Cell(field)} if field else {}
    return {"method": Cell(method)} | named | {name: unknown_cell(values, name) for name in unknowns} | numbers


def seed_row(record: Json, field: str = "") -> Row:
    """All numbers of one method and seed."""
    found = {f"{name}_{part}": value for name, row in record.get("unknowns", {}).items() for part, value in row.items()}
    values = {**record["diagnostics"], **record, **found}
    return metrics_row(record["method"], values, record.get("unknowns", {}), field, more=True)


def number_cell(name: str, found: Any) -> Cell:
    """A metric, or its median with its range."""
    if found is None:
        return NOTHING
    spread = found if isinstance(found, Mapping) else {"median": found, "min": found, "max": found}
    bad = (name == "coverage" and spread["median"] < POOR) or (name == "rhat" and spread["median"] >= MIXED)
    return Cell(median_and_range(name, spread), spread["median"], "bad" if bad else "")


def unknown_cell(values: Json, name: str) -> Cell:
    """A mean with its standard deviation, or the medians of both."""
    found = (values.get(f"{name}_{part}") for part in ("mean", "std"))
    mean, std = (value["median"] if isinstance(value, Mapping) else value for value in found)
    return NOTHING if mean is None or std is None else Cell(plus_minus(mean, std), mean)


def conditions_table(records: Sequence[Json]) -> Table:
    """What each method used for each condition: once, unless seeds differ."""
    rows: dict[tuple[str, ...], Row] = {}
    for record in records:
        for channel in record["channels"]:
            sigma = channel["sigma"]
            row = {"method": Cell(record["method"]), "condition": Cell(channel["channel"])}
            row |= {"rows": Cell(str(channel["rows"]), channel["rows"])}
            row |= {"σ": Cell(significant(sigma, 3), sigma) if sigma else NOTHING}
            row |= {"where σ is from": Cell(channel["origin"]), "used": Cell(channel.get("used", "-"))}
            rows[tuple(cell.text for cell in row.values())] = row
    return table_of(USED, rows.values())


def spreads_table(records: Sequence[Json]) -> Table:
    """Mean standard deviations of every field, epistemic and aleatoric apart."""
    return table_of(PARTS, (row for record in records for row in _spreads(record)))


def _spreads(record: Json) -> Iterator[Row]:
    seed = {"seed": Cell(str(record["seed"]), record["seed"])} if "seed" in record else {}
    for name, spread in record.get("spread", {}).items():
        noise = record["noise_sd"].get(name)
        total = None if noise is None or spread is None else math.hypot(spread, noise)
        parts = {"epistemic sd": spread, "aleatoric sd": noise, "together": total}
        row = {"method": Cell(record["method"]), **seed, "field": Cell(name)}
        yield row | {title: NOTHING if sd is None else Cell(significant(sd), sd) for title, sd in parts.items()}


def settings_table(settings: Json) -> Table:
    """Every setting with its value."""
    return table_of("", ({"setting": Cell(name), "value": Cell(setting(value))} for name, value in settings.items()))
