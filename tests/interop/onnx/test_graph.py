"""ONNX models: the same function in JAX as by ONNX' own evaluator."""

import io
import re
import warnings
from contextlib import redirect_stderr, redirect_stdout

import jax
import jax.numpy as jnp
import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from agreement import disagreement, points_in, rounding, values  # noqa: E402

from epinn.interop.onnx import graph as onnx_graph  # noqa: E402

pytestmark = pytest.mark.usefixtures("quick_compile")


def model(body, opset=21, weights="", kind="double", rows="N"):
    """From x (points, 2) to y, in ONNX' own notation."""
    text = (
        f'<ir_version: 10, opset_import: ["" : {opset}]> network ({kind}[{rows}, 2] x) => ({kind}[{rows}, M] y) '
        f"<{kind}[2, 3] W = {{0.3, -0.2, 1.1, 0.7, 0.4, -0.9}}, {kind}[3] b = {{0.1, -0.3, 0.2}}{weights}> "
        f"{{ h = MatMul (x, W) {body} }}"
    )
    return parsed(text)


def parsed(text):
    return onnx.parser.parse_model(re.sub(r"(Constant <[^>]*>)", r"\1 ()", text))


def unary(name, **attributes):
    given = ", ".join(f"{key}={value}" for key, value in attributes.items())
    return f"y = {name}{f' <{given}>' if given else ''} (h)"


SMOOTH = ["Tanh", "Sigmoid", "Softplus", "Sin", "Cos", "Tan", "Exp", "Erf", "Sinh", "Cosh", "Atan", "Asinh", "Neg", "Softsign"]
KINKED = ["Relu", "Abs", "Sign", "Floor", "Elu", "Selu", "Celu", "LeakyRelu", "HardSigmoid", "HardSwish", "Mish", "Identity"]
BODIES = {
    **{name: (21, unary(name)) for name in SMOOTH + KINKED},
    "Gelu": (21, unary("Gelu")),
    "Gelu, tanh": (21, unary("Gelu", approximate='"tanh"')),
    "Elu, alpha": (21, unary("Elu", alpha=0.7)),
    "Gemm": (21, "y = Gemm <alpha=0.5, beta=2.0> (x, W, b)"),
    "Gemm, transposed": (21, "t = Transpose <perm=[1, 0]> (W) y = Gemm <transB=1> (x, t, b)"),
    "arithmetic": (21, "a = Add (h, b) s = Sub (a, h) m = Mul (s, h) c = Constant <value_float=2.5> k = CastLike (c, m) "
                       "y = Div (m, k)"),
    "Pow": (21, "c = Constant <value_int=3> y = Pow (h, c)"),
    "Sqrt, Reciprocal, Log": (21, "e = Exp (h) l = Log (e) s = Sqrt (e) r = Reciprocal (s) y = Sum (r, l, e)"),
    "Max, Min, Mean": (21, "a = Max (h, b) c = Min (h, b) y = Mean (a, c, h)"),
    "Where": (21, "c = Greater (h, b) y = Where (c, h, b)"),
    "Concat, Split": (21, "c = Concat <axis=-1> (h, x) s = Constant <value_ints=[2, 3]> p, y = Split <axis=1> (c, s)"),
    "Split, number": (21, "c = Concat <axis=-1> (h, x) p, y = Split <axis=1, num_outputs=2> (c)"),
    "Split, old": (11, "c = Concat <axis=-1> (h, x) p, y = Split <axis=1, split=[2, 3]> (c)"),
    "Slice": (21, "s = Constant <value_ints=[0]> e = Constant <value_ints=[9223372036854775807]> a = Constant <value_ints=[1]> "
                  "k = Constant <value_ints=[2]> y = Slice (h, s, e, a, k)"),
    "Slice, backwards": (21, "s = Constant <value_ints=[-1]> e = Constant <value_ints=[-9223372036854775807]> "
                             "a = Constant <value_ints=[1]> k = Constant <value_ints=[-1]> y = Slice (h, s, e, a, k)"),
    "Slice, old": (9, "y = Slice <starts=[1], ends=[3], axes=[1]> (h)"),
    "Gather": (21, "i = Constant <value_ints=[2, 0]> y = Gather <axis=1> (h, i)"),
    "Clip": (21, "c = Constant <value_float=0.2> k = CastLike (c, h) y = Clip (h, , k)"),
    "Clip, old": (9, "y = Clip <min=-0.2, max=0.3> (h)"),
    "sizes": (21, "s = Shape (h) i = Constant <value_int=0> n = Gather (s, i) j = Constant <value_ints=[0]> "
                  "u = Unsqueeze (n, j) k = Constant <value_ints=[3, 1]> t = Concat <axis=0> (u, k) r = Reshape (h, t) "
                  "a = Constant <value_ints=[2]> y = Squeeze (r, a)"),
    "Reshape, zero": (21, "s = Constant <value_ints=[0, -1, 1]> r = Reshape (h, s) y = Flatten (r)"),
    "Unsqueeze, old": (11, "u = Unsqueeze <axes=[2]> (h) t = Transpose <perm=[0, 2, 1]> (u) y = Squeeze <axes=[1]> (t)"),
    "Expand, Tile": (21, "s = Constant <value_ints=[1, 3]> e = Expand (h, s) k = Constant <value_ints=[1, 2]> y = Tile (e, k)"),
    "ReduceMean": (21, "a = Constant <value_ints=[1]> y = ReduceMean (h, a)"),
    "ReduceMean, old": (13, "y = ReduceMean <axes=[1]> (h)"),
    "ReduceSum, L2": (21, "a = Constant <value_ints=[-1]> s = ReduceSum (h, a) n = ReduceL2 (h, a) y = Add (s, n)"),
    "ReduceLogSumExp, Max": (21, "a = Constant <value_ints=[1]> s = ReduceLogSumExp (h, a) m = ReduceMax (h, a) "
                                 "y = Mul (s, m)"),
    "Softmax": (21, "s = Softmax (h) l = LogSoftmax <axis=1> (h) y = Sub (s, l)"),
    "LayerNormalization": (21, "y = LayerNormalization (h, b)"),
    "BatchNormalization": (21, "v = Exp (b) y = BatchNormalization (h, b, b, b, v)"),
    "Einsum": (21, 'y = Einsum <equation="ni,ij->nj"> (x, W)'),
    "Pad": (21, "p = Constant <value_ints=[0, 1, 0, 0]> y = Pad (h, p)"),
    "Cast": (21, "i = Cast <to=7> (h) y = Cast <to=11> (i)"),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_operators(name):
    opset, body = BODIES[name]
    converted = onnx_graph.convert(model(body, opset))
    assert disagreement(converted, points_in(np.float64))[0] < 1e-12


def test_parameters_are_the_stored_arrays():
    converted = onnx_graph.convert(model("k = Mul (h, c) y = Add (k, b)", weights=", double c = {2.0}"))
    assert set(converted.parameters) == {"W", "b"}
    assert set(converted.constants) == {"c"}
    assert converted.derivatives is None
    with jax.enable_x64(True):
        gradient = jax.grad(lambda p: converted.function(p, jnp.ones(2)).sum())(converted.parameters)
    assert np.allclose(gradient["W"], 2.0)


def test_single_precision_and_single_points():
    """A model for one point at a time is a function of one point."""
    converted = onnx_graph.convert(model("y = Tanh (h)", kind="float", rows="1"))
    assert converted.reference(points_in(np.float32)).shape == (11, 3)
    assert disagreement(converted, points_in(np.float32))[0] < 1e-6


def test_double_precision_is_not_cut_in_silence(rejects):
    converted = onnx_graph.convert(model("y = Tanh (h)"))
    with rejects("jax_enable_x64"):
        converted.function(converted.parameters, np.zeros(2))


def test_every_missing_operator_is_named(rejects):
    body = "[first] a = Det (h) [second] n = NonZero (h) y = Add (h, b)"
    with rejects("Det (first)", "NonZero (second)", "rules", "JAX function"):
        onnx_graph.convert(model(body))


def test_a_rule_of_ones_own():
    converted = onnx_graph.convert(model("y = Hardmax <axis=1> (h)"), rules={"Hardmax": lambda x, axis: jnp.sinc(x)})
    weights = converted.parameters["W"]
    with jax.enable_x64(True):
        assert np.allclose(converted.function(converted.parameters, jnp.ones(2)), np.sinc(np.ones(2) @ weights))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(double[N, 2] x, double[N, 2] z) => (double[N, 2] y) { y = Add (x, z) }", ("2 inputs",)),
        ("(double[N] x) => (double[N] y) { y = Tanh (x) }", ("coordinates",)),
        ("(float16[N, 2] x) => (float16[N, 2] y) { y = Tanh (x) }", ("float16",)),
        (
            "(double[6, 2] x) => (double[6, 2] y) { s = Constant <value_ints=[3, 4]> r = Reshape (x, s) "
            "k = Constant <value_ints=[6, 2]> y = Reshape (r, k) }",
            ("Reshape",),
        ),
    ],
)
def test_models_that_are_no_functions_of_a_point_are_refused(text, words, rejects):
    with rejects(*words):
        onnx_graph.convert(parsed(f'<ir_version: 10, opset_import: ["" : 21]> network {text}'))


def test_files(tmp_path, rejects):
    path = tmp_path / "network.onnx"
    onnx.save(model("y = Tanh (h)"), path)
    assert disagreement(onnx_graph.convert(path), points_in(np.float64))[0] < 1e-12
    path.write_bytes(b"no network at all")
    with rejects("network.onnx", "ONNX"):
        onnx_graph.convert(path)
    with rejects("nowhere.onnx"):
        onnx_graph.convert("nowhere.onnx")


def test_without_onnx_the_message_says_what_to_install(rejects, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with rejects("pip install 'epinn[onnx]'"):
        onnx_graph.convert("network.onnx")


EXPORTED = [
    "tanh",
    "gelu",
    "softplus",
    "Fourier features",
    "gated",
    "hard constraint",
    "in place, chunk",
    "layer norm",
    "periodic",
]


@pytest.mark.parametrize("name", EXPORTED)
def test_what_pytorch_exports(name, tmp_path):
    torch = pytest.importorskip("torch")
    from torch_networks import NETWORKS

    torch.manual_seed(0)
    network = NETWORKS[name]().eval()
    path, example = tmp_path / "network.onnx", torch.rand(7, 2)
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network, (example,), str(path), dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "n"}}, opset_version=17
        )
    converted, points = onnx_graph.convert(path), points_in(np.float32)
    assert disagreement(converted, points)[0] < max(1e-6, 4 * rounding(converted, points)[0])
    with torch.no_grad():
        expected = network(torch.tensor(points)).numpy()
    assert np.allclose(values(converted, points), expected, atol=2e-6 * np.max(np.abs(expected)))


HEAVY = {
    "ConstantOfShape": "s = Constant <value_ints=[100000, 100000]> z = ConstantOfShape (s) y = Add (h, z)",
    "Range": "a = Constant <value_float=0.0> q = Constant <value_float=1e12> c = Constant <value_float=1.0> "
    "r = Range (a, q, c) y = Add (h, r)",
    "Concat": "a0 = Concat <axis=1> (h, h) "
    + " ".join(f"a{i + 1} = Concat <axis=1> (a{i}, a{i})" for i in range(30))
    + " y = ReduceSum (a30)",
}


@pytest.mark.parametrize("name", HEAVY)
def test_a_model_that_would_fill_the_memory_is_refused(name, rejects):
    with rejects(name, "more than"):
        onnx_graph.convert(model(HEAVY[name]))


def test_a_damaged_model_is_refused_in_one_line(rejects):
    damaged = model("y = Tanh (h)")
    damaged.graph.node[1].input[0] = "nothing"
    with rejects("damaged", "nothing"):
        onnx_graph.convert(damaged)
