"""The options that several commands share, declared once."""

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

LARGEST_SEED = 2**32 - 1  # JAX makes a key of a 32-bit seed without double precision


def _folder(given: str | Path) -> Path:
    text = str(given)
    if not text.strip():
        raise typer.BadParameter("a folder needs a name, as in --out runs/mine.")
    return Path(text)


def _cluster(address: str | None) -> str | None:
    """An address that looks like one, seen to before anything is loaded."""
    if address is None:
        return None
    from ..cluster.address import check

    # several processes may share a GPU, so none takes all of its memory; JAX reads this when it starts
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    return check(address)


Problem = Annotated[
    str, typer.Argument(help="A shipped problem (see `epinn problems`), path/to/file.toml, or path/to/file.py:name.")
]
Seeds = Annotated[int, typer.Option(min=1, help="How many seeds to run together.")]
Preset = Annotated[
    str, typer.Option(help="fast; accurate, to double precision where it can; or paper, for the paper's settings.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the records as JSON on standard output, and nothing else there.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        callback=_cluster,
        metavar="ADDRESS",
        help="Spread the work over processes or machines: local, local:4, slurm:20, or the address of a Dask scheduler.",
    ),
]
Folder = Annotated[Path, typer.Argument(parser=_folder, metavar="FOLDER", help="A run folder.")]
OUT = typer.Option(parser=_folder, metavar="FOLDER", help="Folder for the results; by default a new one under runs/.")


@dataclass(frozen=True)
class Request:
    """What `run`, `compare`, `attach` and `calibrate` are all asked for: one field, one option."""

    method: Annotated[str, typer.Option("--method", "--methods", help="The method, or several separated by commas.")] = "epinet"
    noise: Annotated[
        float | None, typer.Option(help="Noise level: sd of the data as a fraction of max |u|; 0 is physics only.")
    ] = None
    sigma: Annotated[
        list[str] | None,
        typer.Option("--sigma", metavar="KIND=VALUE", help="Noise that is added to conditions and known: equation=0.1."),
    ] = None
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="The first seed.")] = 0
    preset: Preset = "fast"
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting, as in base.epochs=5000.")
    ] = None
    correct: Annotated[
        bool, typer.Option("--correct", help="Add to the network what it is wrong by, where that can be found: base.stages=2.")
    ] = False
    out: Annotated[Path | None, OUT] = None
    json: Json = False

    def seeds(self, number: int) -> tuple[int, ...]:
        """That many seeds from the first."""
        return tuple(range(self.seed, self.seed + number))


def shared_options(**defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose first parameter is a `Request` gets an option for each of its fields; `defaults` are its own."""

    def extend(command: Callable[..., None]) -> Callable[..., None]:
        usual = replace(Request(), **defaults)
        _, *own = inspect.signature(command).parameters.values()
        shared = [
            inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=getattr(usual, f.name), annotation=f.type)
            for f in fields(Request)
        ]

        @functools.wraps(command)
        def called(**given: Any) -> None:
            request = Request(**{option.name: given.pop(option.name) for option in shared})
            command(request, **given)

        # typer reads options from the signature and their types from the annotations
        every = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*own, *shared)]
        called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]  # functions may have one
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
        return called

    return extend
