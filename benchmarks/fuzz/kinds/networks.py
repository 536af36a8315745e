"""Files with networks: safetensors, ONNX, PyTorch; changed, in disguise, and made to fill the memory."""

import functools
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import save

import epinn
from epinn.app.plan.origin import Origin
from epinn.interop.adopt import convert, opened
from epinn.interop.files.dense import DenseLayers

from .. import mutate

PROBLEM = epinn.Problem(domain=epinn.Box(x=(0, 1), t=(0, 1)), equation=lambda u: u.t - u.xx, points=epinn.Points(collocation=4))
ARCHITECTURES = (None, "2x4x1:tanh", "2x4x1:sin", "2x4", "2x1000000000x1", "x", "", "2x4x1:nothing", "-1x2", "2x" * 2000 + "1")
ENDINGS = (".safetensors", ".onnx", ".pt", ".pth", ".mdlus", ".pt2", ".bin", ".json", "")
HEAVY = (  # ONNX nodes that ask for more memory or time than there is
    "s = Constant <value_ints=[100000, 100000]> z = ConstantOfShape (s) y = Add (x, z)",
    "s = Constant <value_ints=[40000, 40000]> e = Expand (x, s) y = ReduceSum (e)",
    "s = Constant <value_ints=[30000, 30000]> e = Tile (x, s) y = ReduceSum (e)",
    "a = Constant <value_float=0.0> b = Constant <value_float=1e12> c = Constant <value_float=1.0> "
    "r = Range (a, b, c) y = Add (x, r)",
    "p = Constant <value_ints=[0, 9999999, 0, 9999999]> y = Pad (x, p)",
    "a = Concat <axis=1> (x, x) "
    + " ".join(f"a{i + 1} = Concat <axis=1> (a{i or ''}, a{i or ''})" for i in range(34))
    + " y = ReduceSum (a34)",
    "a = MatMul (x, x) y = Tanh (a)",
    "y = Reshape (x, x)",
    "y = Nothing (x)",
)


def attempt(random: Random, place: Path) -> Callable[[], Any]:
    examples = _examples()
    name = random.choice(list(examples))
    content, ending = examples[name], name.partition(" ")[0]
    if name.endswith("structure"):
        content = _header_changed(content, random)
    elif random.random() < 0.9 and "heavy" not in name and "bomb" not in name:
        content = mutate.content(content, random)
    if random.random() < 0.1:
        ending = random.choice(ENDINGS)
    path = place / f"network{ending}"
    path.write_bytes(content)
    architecture = random.choice(ARCHITECTURES)

    def run() -> None:
        Origin.find(str(path), architecture)
        found = convert(opened(path, architecture), PROBLEM)
        if isinstance(found, DenseLayers):
            found.network()

    return run


@functools.cache
def _examples() -> dict[str, bytes]:
    """Whole files by their ending."""
    weights = {
        "layers.0.weight": np.ones((4, 2), np.float32),
        "layers.0.bias": np.zeros(4, np.float32),
        "layers.1.weight": np.ones((1, 4), np.float32),
        "layers.1.bias": np.zeros(1, np.float32),
    }
    found = {
        ".safetensors": save(weights),
        ".safetensors with another structure": save(weights),
        ".json": json.dumps({"layers": [[1, 2], [3, 4]]}).encode(),
        ".json of many brackets": b"[" * 100_000,
        ".pt pickle": pickle.dumps({"a": print, "b": [1, 2]}),
        ".pt bomb": _bomb(),
        ".mdlus": _bomb(),
    }
    if find_spec("onnx"):
        found |= _onnx()
    if find_spec("torch"):
        import torch

        made = io.BytesIO()
        torch.save({name: torch.tensor(value) for name, value in weights.items()}, made)
        found[".pt"] = made.getvalue()
        made = io.BytesIO()
        torch.save(torch.nn.Linear(2, 1), made)
        found[".pt module"] = made.getvalue()
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr("args.json", json.dumps({"__name__": "FullyConnected", "__args__": {"num_layers": 1}}))
            archive.writestr("model.pt", found[".pt"])
        found[".mdlus whole"] = made.getvalue()
    return found


def _onnx() -> dict[str, bytes]:
    from onnx import parser

    def model(body: str, weights: str = "") -> bytes:
        text = f'<ir_version: 10, opset_import: ["" : 21]> net (float[N, 2] x) => (float[N, M] y) {weights} {{ {body} }}'
        made: bytes = parser.parse_model(text.replace("> r =", "> () r =").replace("] > ", "] > () ")).SerializeToString()
        return made

    layer = "<float[2, 3] W = {0.3, -0.2, 1.1, 0.7, 0.4, -0.9}, float[3] b = {0.1, -0.3, 0.2}>"
    bodies = ["h = MatMul (x, W) a = Add (h, b) y = Tanh (a)", "h = Gemm (x, W, b) s = Sin (h) y = Softplus (s)"]
    found = {f".onnx {i}": model(body, layer) for i, body in enumerate(bodies)}
    return found | {f".onnx heavy {i}": model(_with_brackets(body)) for i, body in enumerate(HEAVY)}


def _with_brackets(body: str) -> str:
    """ONNX' own notation wants brackets behind the attributes of a constant."""
    import re

    return re.sub(r"(Constant <[^>]*>)", r"\1 ()", body)


def _header_changed(content: bytes, random: Random) -> bytes:
    """A safetensors file with other shapes, types or places in its header, and the right length in front of it."""
    size = int.from_bytes(content[:8], "little")
    header = json.dumps(mutate.plain(json.loads(content[8 : 8 + size]), random)).encode()
    return len(header).to_bytes(8, "little") + header + content[8 + size :]


@functools.cache
def _bomb() -> bytes:
    """An archive like PyTorch's, with a gigabyte of zeros as its content."""
    made, block = io.BytesIO(), b"\0" * 2**24
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in ("net/data.pkl", "args.json", "model.pt"):
            with archive.open(name, "w") as part:
                for _ in range(64):
                    part.write(block)
        archive.writestr("net/version", b"3\n")
        archive.writestr("net/byteorder", b"little")
    return made.getvalue()
