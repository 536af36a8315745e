"""`epinn attach`."""

from typing import Annotated

import typer

from .experiment import plan_of, start
from .options import Request, Seeds, shared_options


@shared_options()
def attach(
    request: Request,
    model: Annotated[
        str, typer.Argument(help="An .onnx, .safetensors or state-dict file, or path/to/file.py:variable for a live object.")
    ],
    problem: Annotated[
        str, typer.Option(help="What the network solves: a shipped problem, path/to/file.toml, or path/to/file.py:name.")
    ],
    features: Annotated[str | None, typer.Option(help="The layer (PyTorch) whose input an epinet of the paper's sees.")] = None,
    architecture: Annotated[
        str | None, typer.Option(help="Of a file with weights alone: 2x32x32x1:tanh, or path/to/file.py:variable for a module.")
    ] = None,
    unknowns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Unknown parameters that belong to the network: beta=1.6, or beta=1.6,gamma=2."
        ),
    ] = None,
    trust_file: Annotated[
        bool, typer.Option("--trust-file", help="Open a file that can run any code on this machine when it is opened.")
    ] = False,
    seeds: Seeds = 1,
) -> None:
    """Give a network that was trained elsewhere a band, and write the folder that `run` writes."""
    from ..plan.origin import Origin
    from ..plan.settings import numbers

    pairs = [pair for text in unknowns or [] for pair in text.split(",") if pair.strip()]
    values = numbers(pairs, "--unknowns", "beta=1.6")
    origin = Origin.find(model, architecture, features, trust_file, values)
    start(plan_of(request, problem, seeds, origin=origin), request)
