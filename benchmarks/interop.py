"""Networks trained elsewhere: how far each is from its source, and how fast it is beside our own network of the same shape.

Agreement is the largest difference from the source framework's own value, first and unmixed second derivatives, relative to
the largest number, at points and a batch size that the conversion has not seen. In double precision the module itself is in
double precision. The speed is that of the value and both second derivatives at 1000 points, compiled, in single precision;
above 1 the imported network is the faster. ONNX has no derivatives of its own: those of the module it was exported from count.
Libraries that are not installed are left out.
"""

import machine

machine.use_one_core()

import argparse
import contextlib
import dataclasses
import io
import json
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

os.environ["DDE_BACKEND"] = "pytorch"
sys.path.append(str(Path(__file__).parent.parent / "tests" / "support"))

import jax
import jax.numpy as jnp
import numpy as np
import torch
from agreement import disagreement, points_in
from torch_networks import NETWORKS, Sine, stack

from epinn.derivatives.jet import Jet, lower_closure, opaque
from epinn.derivatives.network import MLP
from epinn.interop.converted import Converted
from epinn.interop.onnx import graph as onnx_graph
from epinn.interop.torch import graph as torch_graph
from epinn.interop.torch.frameworks import torch_module_of

WIDTH, DEPTH, POINTS = 64, 4, 1000
ORDERS = lower_closure([(2, 0), (0, 2)])
ONNX_KINDS = ("tanh", "gelu", "softplus", "Fourier features", "residual", "gated", "hard constraint", "layer norm", "periodic")


@dataclasses.dataclass(frozen=True)
class Case:
    """A kind of network from some library, by its module; `activation` names that of our own network of the same shape."""

    source: str
    kind: str
    model: Callable
    activation: str | None = None
    convert: Callable = lambda model: torch_graph.convert(torch_module_of(model)[0], 2)


def exported(model: torch.nn.Module) -> Converted:
    """By way of an ONNX file, with the module's own values and derivatives to compare with."""
    module = model.eval()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        example = torch.rand(7, 2, dtype=next(module.parameters()).dtype)
        options = {"input_names": ["x"], "dynamic_axes": {"x": {0: "n"}}, "opset_version": 17, "dynamo": False}
        torch.onnx.export(module, (example,), str(path), **options)
        converted = onnx_graph.convert(path)
    by_torch = torch_graph.convert(module, 2)
    return dataclasses.replace(converted, reference=by_torch.reference, derivatives=by_torch.derivatives)


def shaped(activation: Callable) -> torch.nn.Module:
    return stack(activation, width=WIDTH, depth=DEPTH)


def cases() -> list[Case]:
    nn = torch.nn
    plain = {"tanh": nn.Tanh, "silu": nn.SiLU, "gelu": nn.GELU}
    found = [Case("PyTorch", kind, lambda kind=kind: shaped(plain[kind]), kind) for kind in plain]
    found += [Case("PyTorch", "SIREN", lambda: shaped(Sine), "sin")]
    found += [Case("PyTorch", kind, make) for kind, make in NETWORKS.items() if kind not in (*plain, "SIREN")]
    found += [*deepxde_cases(), *pina_cases(), *physicsnemo_cases()]
    with contextlib.suppress(ImportError):
        import onnx  # noqa: F401

        found += [Case("ONNX", "tanh", lambda: shaped(nn.Tanh), "tanh", exported)]
        found += [Case("ONNX", kind, NETWORKS[kind], None, exported) for kind in ONNX_KINDS[1:]]
    return found


def deepxde_cases() -> list[Case]:
    try:
        import deepxde
    except ImportError:
        return []

    def network(inputs: int = 2) -> torch.nn.Module:
        return deepxde.nn.FNN([inputs, *[WIDTH] * DEPTH, 1], "tanh", "Glorot normal")

    def transformed() -> torch.nn.Module:
        made = network(3)
        made.apply_feature_transform(lambda x: torch.cat([x, torch.sin(np.pi * x[:, :1])], dim=1))
        made.apply_output_transform(lambda x, y: (1 - x[:, 0:1] ** 2) * y + x[:, 1:2])
        return made

    return [Case("DeepXDE", "tanh", network, "tanh"), Case("DeepXDE", "input and output transforms", transformed)]


def pina_cases() -> list[Case]:
    try:
        from pina.model import FeedForward
    except ImportError:
        return []
    return [Case("PINA", "tanh", lambda: FeedForward(2, 1, inner_size=WIDTH, n_layers=DEPTH, func=torch.nn.Tanh), "tanh")]


def physicsnemo_cases() -> list[Case]:
    try:
        from physicsnemo.models.mlp.fully_connected import FullyConnected
    except ImportError:
        return []
    return [Case("PhysicsNeMo", "silu", lambda: FullyConnected(2, WIDTH, 1, DEPTH), "silu")]


def measured(case: Case, rounds: int) -> dict:
    found: dict = {"source": case.source, "kind": case.kind}
    for dtype, kind in ((np.float32, torch.float32), (np.float64, torch.float64)):
        torch.manual_seed(0)
        converted = case.convert(case.model().to(kind))
        found[np.dtype(dtype).name] = disagreement(converted, points_in(dtype))
        if case.activation and dtype is np.float32:
            found["speed"] = speed(converted, case.activation, rounds)
    return found


def speed(converted: Converted, activation: str, rounds: int) -> float:
    """How much faster than our own network of the same shape: the median over rounds in which the two take turns."""
    ours = MLP.create(2, [WIDTH] * DEPTH, 1, key=jax.random.key(0), activation=activation)
    theirs = {name: jnp.asarray(value) for name, value in converted.parameters.items()}
    x = jnp.asarray(points_in(np.float32, count=POINTS))
    runs = [
        compiled(lambda network, jet: network(jet), ours, x),
        compiled(lambda parameters, jet: opaque(lambda point: converted.function(parameters, point), jet), theirs, x),
    ]
    return statistics.median(own / imported for own, imported in ([run() for run in runs] for _ in range(rounds)))


def compiled(network: Callable, parameters: object, x: jax.Array) -> Callable[[], float]:
    program = jax.jit(lambda parameters, x: network(parameters, Jet.variable(x, ORDERS)).stack)
    jax.block_until_ready(program(parameters, x))

    def seconds() -> float:
        started = time.perf_counter()
        for _ in range(10):
            jax.block_until_ready(program(parameters, x))
        return (time.perf_counter() - started) / 10

    return seconds


def table(rows: list[dict]) -> str:
    lines = [
        "| source | network | float32: u | u' | u'' | float64: u | u' | u'' | speed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        numbers = [f"{error:.0e}" for error in (*row["float32"], *row["float64"])]
        pace = f"{row['speed']:.2f}" if "speed" in row else "–"
        lines.append(f"| {row['source']} | {row['kind']} | {' | '.join(numbers)} | {pace} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for case in cases():
        print(f"{case.source}, {case.kind}", file=sys.stderr)
        with contextlib.redirect_stdout(io.StringIO()):
            rows.append(measured(case, options.rounds))
    print(table(rows))
    if options.out:
        found = {"machine": machine.describe(), "points": POINTS, "hidden": [WIDTH] * DEPTH, "rows": rows}
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
