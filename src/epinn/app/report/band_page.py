"""The page of one band: what `band.report("page.html")` writes. It needs no run folder."""

from collections.abc import Mapping

from ... import __version__
from ...judge.evaluation import Evaluation
from ...judge.verdict import Verdict
from ...judge.wording import notes, plus_minus
from ...problem.domain import Box
from ...solve.pinn import Pinn
from .page import HOW_TO_LOOK, Line, Page, Picture, Section, View
from .pictures import figures, rank_of, title_of
from .pictures.convergence import how_trained
from .pictures.panels import as_png
from .tables import EXPLANATION, Json, by_field, conditions_table, seed_row, settings_table, spreads_table, table_of
from .view import view_of


def band_page(
    record: Json,
    evaluation: Evaluation,
    *,
    pinn: Pinn | None = None,
    settings: Mapping[str, object] | None = None,
    facts: Mapping[str, str] | None = None,
) -> Page:
    """One band in words, tables and pictures.

    `record` is what `judge.record.record_of` says of it, `evaluation` the posterior on the grid. `pinn` (what the band
    is around), `settings` (of the method, by name) and `facts` (how it was made, such as {"Seed": "0"}) are added where given.
    """
    verdict, problem = Verdict.of(record["verdict"]), evaluation.problem
    rows = (seed_row(some[0], field) for field, some in by_field([record]).items())
    sections = [
        Section(
            "Results",
            tables=(table_of("", rows, EXPLANATION),),
            view=View(view_of([evaluation]), HOW_TO_LOOK),
            pictures=tuple(_pictures(evaluation, pinn)),
        ),
        Section("Noise", tables=(conditions_table([record]), spreads_table([record]))),
    ]
    if settings:
        sections.append(Section("Settings", (), (settings_table(settings),), folded=True))
    return Page(
        title=problem.name or _describe(evaluation),
        subtitle=evaluation.label,
        summary=(_verdict(evaluation, verdict), *(Line(text) for _, text in notes([{**record, "seed": 0}], verdict.why))),
        sections=tuple(sections),
        facts={"Problem": _describe(evaluation), **_network(record), **(facts or {}), "Versions": f"epinn {__version__}"},
    )


def _verdict(evaluation: Evaluation, verdict: Verdict) -> Line:
    sought = [f"{name} = {plus_minus(float(u.mean), float(u.std))}" for name, u in evaluation.unknowns.items()]
    found = [f"{', '.join(sought)}."] if sought else []
    return Line(" ".join([*found, verdict.reasons]), evaluation.label, verdict.word, verdict.tone)


def _network(record: Json) -> dict[str, str]:
    """What was trained; files of earlier versions do not say."""
    return {"Network": record["network"]} if "network" in record else {}


def _describe(evaluation: Evaluation) -> str:
    """Fields and domain: `u, v on x from 0 to 1, t from 0 to 2`."""
    problem, domain = evaluation.problem, evaluation.problem.domain
    if not isinstance(domain, Box):
        return f"{', '.join(problem.fields)} in {domain}"
    sides = zip(domain.coordinates, domain.lower, domain.upper, strict=True)
    return f"{', '.join(problem.fields)} for " + ", ".join(f"{name} from {low:g} to {high:g}" for name, low, high in sides)


def _pictures(evaluation: Evaluation, pinn: Pinn | None) -> list[Picture]:
    made = figures([evaluation]) | how_trained(pinn)
    return [Picture(title_of(name), as_png(made[name])) for name in sorted(made, key=rank_of)]
