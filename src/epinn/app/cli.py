"""The command line: parse, validate, call, write. The mathematics is elsewhere, and is imported only when needed."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from .. import __version__
from ..errors import EpinnError, InputError
from .vocabulary import for_command_line

if TYPE_CHECKING:
    from .origin import Origin
    from .paper.reproduce import Reproduction
    from .plan import Plan
    from .published import Published
    from .store.run_folder import RunFolder

app = typer.Typer(
    name="epinn",
    help="Honest error bars on physics-informed neural networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Problem = Annotated[str, typer.Argument(help="A shipped problem (see `epinn problems`) or path/to/file.py:name.")]
Noise = Annotated[float | None, typer.Option(help="Noise level: sd of the data as a fraction of max |u|; 0 is physics only.")]
Seeds = Annotated[int, typer.Option(min=1, help="How many seeds to run together.")]
Seed = Annotated[int, typer.Option(min=0, help="The first seed.")]
Preset = Annotated[str, typer.Option(help="fast, or paper for the paper's settings.")]
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting, as in base.epochs=5000.")]
Sigma = Annotated[
    list[str] | None,
    typer.Option("--sigma", metavar="KIND=VALUE", help="Noise that is added to conditions and known: equation=0.1."),
]
Out = Annotated[Path | None, typer.Option(help="Folder for the results; by default a new one under runs/.")]
Json = Annotated[bool, typer.Option("--json", help="Print the records as JSON on standard output, and nothing else there.")]
Methods = Annotated[str, typer.Option(help="Methods to compare, separated by commas.")]


@app.callback(invoke_without_command=True)
def _main(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
def problems() -> None:
    """List the shipped problems."""
    from ..problems import SHIPPED

    _list((name, _first_line(factory.__doc__)) for name, factory in SHIPPED.items())


@app.command()
def methods() -> None:
    """List the methods."""
    from ..methods import METHODS

    _list((name, method.summary) for name, method in METHODS.items())


@app.command()
def settings(preset: Preset = "fast", problem: Annotated[str, typer.Option(help="For this problem.")] = "") -> None:
    """List all settings that --set can change, with their values."""
    from ..judge.wording import setting
    from .presets import preset as settings_of

    _list((name, setting(value)) for name, value in settings_of(preset, problem).flat().items())


@app.command()
def run(
    problem: Problem,
    method: Annotated[str, typer.Option(help="The method (see `epinn methods`).")] = "epinet",
    noise: Noise = None,
    sigma: Sigma = None,
    seeds: Seeds = 1,
    seed: Seed = 0,
    preset: Preset = "fast",
    set_: Set = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Solve a problem, attach a band, and write a folder with metrics, posterior and figures."""
    _experiment(_plan(problem, method, noise, range(seed, seed + seeds), preset, set_, sigma), preset, out, json)


@app.command()
def compare(
    problem: Problem,
    methods: Methods = "epinet,dropout,hmc",
    noise: Noise = None,
    sigma: Sigma = None,
    seeds: Seeds = 1,
    seed: Seed = 0,
    preset: Preset = "fast",
    set_: Set = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Run several methods on the same base PINN: a table with one row per method, and the figure."""
    _experiment(_plan(problem, methods, noise, range(seed, seed + seeds), preset, set_, sigma), preset, out, json)


@app.command()
def attach(
    model: Annotated[
        str, typer.Argument(help="An .onnx, .safetensors or state-dict file, or path/to/file.py:variable for a live object.")
    ],
    problem: Annotated[str, typer.Option(help="What the network solves: a shipped problem, or path/to/file.py:name.")],
    method: Annotated[str, typer.Option(help="The method, or several separated by commas.")] = "epinet",
    features: Annotated[str | None, typer.Option(help="The layer (PyTorch) whose input an epinet of the paper's sees.")] = None,
    architecture: Annotated[
        str | None, typer.Option(help="Of a file with weights alone: 2x32x32x1:tanh, or path/to/file.py:variable for a module.")
    ] = None,
    trust_file: Annotated[
        bool, typer.Option("--trust-file", help="Open a file that can run any code on this machine when it is opened.")
    ] = False,
    noise: Noise = None,
    seed: Seed = 0,
    preset: Preset = "fast",
    set_: Set = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Give a network that was trained elsewhere a band, and write the folder that `run` writes."""
    from .origin import Origin

    origin = Origin.find(model, architecture, features, trust_file)
    _experiment(_plan(problem, method, noise, range(seed, seed + 1), preset, set_, origin=origin), preset, out, json)


def main() -> None:
    """The entry point: a mistake is one line on standard error and exit code 2; other failures exit with 1."""
    try:
        app(standalone_mode=False)
    except typer.Exit as request:
        sys.exit(request.exit_code)
    except InputError as error:
        _fail(for_command_line(str(error)), 2)
    except EpinnError as error:
        _fail(for_command_line(str(error)), 1)
    except KeyboardInterrupt:
        _fail("interrupted.", 130)
    except typer.Abort:
        _fail("aborted.", 1)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(str(error))
            sys.exit(2)
        if hasattr(error, "format_message"):  # a usage error of the argument parser
            _fail(error.format_message().replace("\n", " "), 2)
        raise


def _fail(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"epinn: {message}\n")
    sys.exit(code)


def _plan(
    problem: str,
    methods: str,
    noise: float | None,
    seeds: range,
    preset: str,
    assignments: list[str] | None,
    sigmas: list[str] | None = None,
    origin: "Origin | None" = None,
    at_once: int | None = None,
) -> "Plan":
    """What the arguments ask for, checked; `at_once` of the seeds run together, all by default."""
    from .plan import Plan
    from .presets import preset as settings_of
    from .settings import numbers, parse
    from .source import find

    source = find(problem)
    plan = Plan(
        source=source,
        methods=_method_names(methods),
        noises=(source.default_noise() if noise is None else noise,),
        seeds=tuple(seeds),
        settings=settings_of(preset, problem).changed(parse(assignments or [])),
        disturb=numbers(sigmas or []),
        origin=origin,
    )
    _match_precision(plan)
    plan.check(at_once)
    return plan


def _match_precision(plan: "Plan") -> None:
    """A network in double precision stays in double precision."""
    if plan.origin is not None and plan.origin.is_double(plan.problems()[0]):
        import jax

        jax.config.update("jax_enable_x64", True)


def _experiment(plan: "Plan", preset: str, out: Path | None, as_json: bool) -> None:
    from .store.run_folder import RunFolder

    names = (plan.source.name, *([plan.origin.name] if plan.origin else []), *plan.methods)
    _execute(plan, RunFolder.create(out, plan.describe(preset), "-".join(names)), as_json)


@app.command()
def reproduce(
    tables: Annotated[
        list[str] | None, typer.Argument(metavar="[TABLE]...", help="Tables of the paper; all by default.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Name the tables, and how many rows they have.")] = False,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds per row.")] = 10,
    out: Annotated[Path, typer.Option(help="Folder for the results; rows that are in it are not computed again.")] = Path(
        "runs/paper"
    ),
    json: Json = False,
) -> None:
    """Compute the tables and figures of the E-PINN paper over several seeds, beside the published values."""
    from .published import rows
    from .published import tables as known

    chosen = tuple(dict.fromkeys(tables or known()))
    wanted = [row for table in chosen for row in rows(table)]
    if list_:
        _list((table, f"{len(rows(table))} rows") for table in chosen)
        return
    from .paper.reproduce import Reproduction

    _reproduce(Reproduction.create(out, chosen, seeds), wanted, seeds, json)


@app.command()
def calibrate(
    problem: Problem,
    method: Annotated[str, typer.Option(help="The method, or several separated by commas.")] = "epinet",
    noise: Noise = None,
    redraws: Annotated[int, typer.Option(min=2, help="How often the experiment is repeated.")] = 100,
    sigma: Sigma = None,
    seed: Seed = 0,
    preset: Preset = "fast",
    set_: Set = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results; redraws that are in it are not repeated.")] = None,
    json: Json = False,
) -> None:
    """Repeat an experiment with new noise and initialisations: how often does the band hold the truth?"""
    from .repetition import at_once

    plan = _plan(problem, method, noise, range(seed, seed + redraws), preset, set_, sigma, at_once=at_once())
    _calibrate(plan, out or Path("runs") / f"calibrate-{plan.source.name}-{'-'.join(plan.methods)}", preset, json)


def _calibrate(plan: "Plan", folder: Path, preset: str, as_json: bool) -> None:
    import json

    from ..judge.calibration import summarise
    from .console import Bar, reliability_table
    from .plain import finite
    from .repetition import calibrate
    from .report.pictures.calibration import picture
    from .store.files import write_json

    _keep_compiled_programs()
    with Bar(quiet=as_json) as bar:
        found = summarise(calibrate(plan, folder, bar))
    rows = [one.plain() for one in found]
    write_json(folder / "calibration.json", {**plan.describe(preset), "methods": rows})
    picture(found, plan.problems()[0].domain).savefig(folder / "calibration.png")
    if as_json:
        typer.echo(json.dumps(finite(rows)))
        return
    reliability_table(rows)
    typer.echo(f"written: {folder}")


@app.command()
def resume(folder: Annotated[Path, typer.Argument(help="A run folder.")], json: Json = False) -> None:
    """Go on with a run that was interrupted: what is finished is not computed again."""
    from .paper.reproduce import KIND, Reproduction
    from .plan import Plan
    from .published import rows
    from .store.run_folder import RunFolder

    existing = RunFolder.open(folder)
    description = existing.read_json("run.json")
    if description.get("kind") == KIND:
        description = Reproduction.open(folder).description
        tables, seeds = description["tables"], description["seeds"]
        wanted = [row for table in tables for row in rows(table)]
        return _reproduce(Reproduction.create(folder, tables, seeds), wanted, seeds, json)
    try:
        plan = Plan.from_description(description)
    except LookupError as error:
        raise InputError(f"{folder / 'run.json'} does not describe a whole run: it has no {error}.") from None
    _match_precision(plan)
    _execute(plan, existing, json)


def _reproduce(folder: "Reproduction", wanted: "list[Published]", seeds: int, as_json: bool) -> None:
    """Compute what is missing, write, and show."""
    import json

    from .console import Rows, print_reproduction
    from .paper.publish import publish
    from .plain import finite

    _keep_compiled_programs()
    try:
        with Rows(quiet=as_json) as bar:
            folder.run(wanted, range(seeds), bar, bar.tell)
    except KeyboardInterrupt:
        hint = f"Go on with: epinn resume {folder.path}. To see what is there: epinn report {folder.path}"
        _fail(f"interrupted; what was finished is in {folder.path}. {hint}", 130)
    names = {row.name for row in wanted}
    found = [one for one in publish(folder) if one.row.name in names]
    if as_json:
        typer.echo(json.dumps(finite([one.record() for one in found]), indent=2))
    else:
        print_reproduction(found, folder.path)


@app.command()
def report(folder: Annotated[Path, typer.Argument(help="A folder of `epinn run`, `compare` or `reproduce`.")]) -> None:
    """Write the report page of a folder anew, from what is in it."""
    from .paper.publish import publish
    from .paper.reproduce import KIND, Reproduction
    from .report.run_page import write_report
    from .store.run_folder import RunFolder

    existing = RunFolder.open(folder)
    if existing.read_json("run.json").get("kind") == KIND:
        publish(Reproduction.open(folder))
    else:
        write_report(existing)
    typer.echo(str(folder / "report.html"))


def _execute(plan: "Plan", folder: "RunFolder", as_json: bool) -> None:
    """Compute, write, and show."""
    import json

    from .console import Bar, print_summary
    from .plain import finite
    from .run import execute

    _keep_compiled_programs()
    try:
        with Bar(quiet=as_json) as bar:
            records = execute(plan, folder, bar)
    except KeyboardInterrupt:
        _fail(f"interrupted; what was finished is in {folder.path}. Go on with: epinn resume {folder.path}", 130)
    if as_json:
        typer.echo(json.dumps(finite(records), indent=2))
    else:
        print_summary(records, plan, folder.path)


def _method_names(text: str) -> tuple[str, ...]:
    from ..methods import configured

    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise InputError("name at least one method, as in --methods epinet,hmc.")
    for name in names:
        configured(name)
    return names


def _keep_compiled_programs() -> None:
    """Compiled programs are kept between runs in the user's cache folder, so that only the first run waits for them."""
    import jax

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epinn" / "compiled"
    jax.config.update("jax_compilation_cache_dir", str(cache))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


def _list(rows: Iterable[tuple[str, str]]) -> None:
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        typer.echo(f"{name:<{width}}  {text}")


def _first_line(text: str | None) -> str:
    return (text or "").strip().splitlines()[0]


if __name__ == "__main__":
    main()
