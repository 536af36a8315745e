"""Files with networks: read as data, or not at all."""

import pickle
import sys
from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import save_file

import epinn
from epinn.derivatives.network import MLP
from epinn.interop import adopt
from epinn.interop.files.read import read

RANDOM = np.random.default_rng(0)
SIZES = (1, 4, 3, 1)
LAYERS = [tuple(RANDOM.normal(size=shape).astype(np.float32) for shape in ((b, a), (b,))) for a, b in pairwise(SIZES)]
STATE = {f"net.{2 * i}.{name}": a for i, (w, b) in enumerate(LAYERS) for name, a in (("weight", w), ("bias", b))}
ARCHITECTURE = "1x4x3x1:tanh"
POINTS = np.linspace(-1, 1, 5).astype(np.float32)


def by_hand(x):
    (a, p), (b, q), (c, r) = LAYERS
    return np.tanh(np.tanh(x[:, None] @ a.T + p) @ b.T + q) @ c.T + r


@pytest.fixture
def problem():
    return epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=lambda u: u.xx, points=epinn.Points(8))


@pytest.fixture
def weights(tmp_path):
    save_file(STATE, tmp_path / "weights.safetensors")
    return tmp_path / "weights.safetensors"


@pytest.mark.slow
def test_weights_and_an_architecture_are_one_of_our_networks(weights, problem):
    pinn = adopt(weights, problem, architecture=ARCHITECTURE)
    assert isinstance(pinn.solution.network, MLP)
    assert np.asarray(pinn(POINTS)) == pytest.approx(by_hand(POINTS), abs=1e-5)
    assert epinn.attach(str(weights), problem, "dropout", architecture=ARCHITECTURE).predict(POINTS, draws=4).std.shape == (5,)


def test_layers_come_in_the_order_of_their_numbers(tmp_path):
    many = {f"layers.{i}.weight": np.full((2, 2), i, np.float32) for i in range(12)}
    save_file(many, tmp_path / "many.safetensors")
    network = read(tmp_path / "many.safetensors", "x".join(["2"] * 13))
    assert [float(weight[0, 0]) for weight in network.weights] == list(range(12))
    assert not any(bias.any() for bias in network.biases)


@pytest.mark.slow
def test_kernels_of_flax_lie_the_other_way(tmp_path, problem):
    flax = {f"Dense_{i}.{name}": a for i, (w, b) in enumerate(LAYERS) for name, a in (("kernel", w.T.copy()), ("bias", b))}
    save_file(flax, tmp_path / "flax.safetensors")
    assert np.asarray(adopt(tmp_path / "flax.safetensors", problem, architecture=ARCHITECTURE)(POINTS)) == pytest.approx(
        by_hand(POINTS), abs=1e-5
    )


def test_double_precision_is_not_lost_in_silence(tmp_path, problem):
    save_file({name: array.astype(np.float64) for name, array in STATE.items()}, tmp_path / "double.safetensors")
    warnings = adopt(tmp_path / "double.safetensors", problem, architecture=ARCHITECTURE).warnings
    assert any("double precision" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("architecture", "words"),
    [
        (None, ("architecture", "1x4x3x1")),
        ("1x4x4x1", ("1x4x4x1", "net.0.weight")),
        ("1x4x1", ("1x4x1",)),
        ("1x4x3x1:relu6", ("activation", "relu6")),
        ("a network", ("architecture",)),
        ("4", ("architecture",)),
        (3, ("architecture", "3")),
    ],
)
def test_an_architecture_that_does_not_fit_is_refused(weights, rejects, architecture, words):
    with rejects(*words):
        read(weights, architecture)


def test_tensors_that_belong_to_no_dense_layer_are_refused(tmp_path, rejects):
    save_file(STATE | {"scale": np.ones((), np.float32)}, tmp_path / "more.safetensors")
    with rejects("scale"):
        read(tmp_path / "more.safetensors", ARCHITECTURE)


def test_positive_fields_are_refused(weights, rejects):
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=lambda u: u.xx, positive="u")
    with rejects("positive"):
        adopt(weights, problem, architecture=ARCHITECTURE)


def test_missing_and_damaged_files(tmp_path, rejects):
    with rejects("file"):
        read(tmp_path / "nothing.safetensors")
    (tmp_path / "damaged.safetensors").write_bytes(b"not a file")
    with rejects("safetensors"):
        read(tmp_path / "damaged.safetensors", ARCHITECTURE)


class Payload:
    """Leaves a mark if a file that holds it is opened."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (open, (str(self.mark), "w"))


# With PyTorch


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def module(torch):
    first, second, last = (torch.nn.Linear(a, b) for a, b in pairwise(SIZES))
    module = torch.nn.Sequential(first, torch.nn.Tanh(), second, torch.nn.Tanh(), last)
    module.load_state_dict({name.removeprefix("net."): torch.tensor(array) for name, array in STATE.items()})
    return module


def test_without_pytorch_it_says_what_to_install(tmp_path, rejects, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "state.pt").write_bytes(b"weights")
    with rejects("pip", "torch"):
        read(tmp_path / "state.pt", ARCHITECTURE)


@pytest.mark.parametrize("wrap", [lambda state: state, lambda state: {"model_state_dict": state, "epoch": 3}])
def test_state_dicts(torch, module, tmp_path, problem, wrap):
    torch.save(wrap(module.state_dict()), tmp_path / "state.pt")
    for architecture in (ARCHITECTURE, module):
        pinn = adopt(tmp_path / "state.pt", problem, architecture=architecture)
        assert np.asarray(pinn(POINTS)) == pytest.approx(by_hand(POINTS), abs=1e-5)


def test_a_module_that_the_weights_do_not_belong_to(torch, module, tmp_path, rejects):
    torch.save(module.state_dict(), tmp_path / "state.pt")
    with rejects("module", "weights"):
        read(tmp_path / "state.pt", torch.nn.Linear(1, 1))


@pytest.mark.slow
def test_named_layers_give_what_goes_into_them(module, problem):
    pinn = adopt(module, problem, features="4")
    (a, p), (b, q), _ = LAYERS
    expected = np.tanh(np.tanh(a @ [0.5] + p) @ b.T + q)
    assert np.asarray(pinn.solution.network.features(jnp.asarray([0.5]))) == pytest.approx(expected, abs=1e-5)
    epinn.attach(pinn, settings={"objective": "paper", "epochs": 2, "hidden": (4,)})


def test_layers_that_are_not_there(module, problem, rejects):
    with rejects("layer", "44"):
        adopt(module, problem, features="44")


@pytest.mark.slow
def test_a_pickled_module_is_opened_with_trust_alone(torch, module, tmp_path, problem, rejects):
    path = tmp_path / "module.pt"
    torch.save(module, path)
    with rejects("trust_file", "state_dict"):
        read(path)
    assert np.asarray(adopt(path, problem, trust_file=True)(POINTS)) == pytest.approx(by_hand(POINTS), abs=1e-5)


def test_nothing_in_a_file_is_run(torch, tmp_path, rejects):
    for name, write in (("torch.pt", torch.save), ("plain.pkl", lambda content, path: path.write_bytes(pickle.dumps(content)))):
        mark = tmp_path / "mark"
        write({"weight": Payload(mark)}, tmp_path / name)
        with rejects(name):
            read(tmp_path / name, ARCHITECTURE)
        assert not mark.exists()


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_torchscript_is_refused(torch, module, tmp_path, rejects):
    torch.jit.save(torch.jit.trace(module, torch.zeros(3, 1)), tmp_path / "script.pt")
    with rejects("TorchScript", "trust_file"):
        read(tmp_path / "script.pt", ARCHITECTURE)


def test_exported_programs_are_opened_with_trust_alone(torch, module, tmp_path, problem, rejects):
    points = {0: torch.export.Dim("points")}
    program = torch.export.export(module, (torch.zeros(3, 1),), dynamic_shapes=(points,))
    torch.export.save(program, tmp_path / "program.pt2")
    with rejects("exported", "trust_file"):
        read(tmp_path / "program.pt2")
    pinn = adopt(tmp_path / "program.pt2", problem, trust_file=True)
    assert np.asarray(pinn(POINTS)) == pytest.approx(by_hand(POINTS), abs=1e-5)
    (tmp_path / "program.pt2").rename(tmp_path / "program.pt")
    with rejects("exported", "trust_file"):
        read(tmp_path / "program.pt")


def test_damaged_files_of_pytorch(torch, tmp_path, rejects):
    (tmp_path / "damaged.pt").write_bytes(b"not a file")
    with rejects("damaged.pt"):
        read(tmp_path / "damaged.pt", ARCHITECTURE)
    torch.save({"loss": 3.0}, tmp_path / "other.pt")
    with rejects("state dict"):
        read(tmp_path / "other.pt", ARCHITECTURE)


@pytest.mark.slow
def test_onnx_files(torch, module, tmp_path, problem):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnx.numpy_helper")
    nodes, given, name = [], [], "x"
    for i, (weight, bias) in enumerate(LAYERS):
        given += [onnx.numpy_helper.from_array(weight, f"w{i}"), onnx.numpy_helper.from_array(bias, f"b{i}")]
        nodes.append(onnx.helper.make_node("Gemm", [name, f"w{i}", f"b{i}"], [f"y{i}"], transB=1))
        name = f"y{i}"
        if i < 2:
            nodes.append(onnx.helper.make_node("Tanh", [name], [f"h{i}"]))
            name = f"h{i}"
    values = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["n", 1]) for n in ("x", name)]
    graph = onnx.helper.make_graph(nodes, "network", values[:1], values[1:], given)
    onnx.save(onnx.helper.make_model(graph), tmp_path / "network.onnx")
    pinn = adopt(tmp_path / "network.onnx", problem)
    assert np.asarray(pinn(POINTS)) == pytest.approx(by_hand(POINTS), abs=1e-5)
    assert pinn.solution.network.features(jnp.zeros(1)).shape == (3,)


def test_rules_of_ones_own_are_for_onnx_files_too(tmp_path, rejects):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnx.numpy_helper")
    nodes = [onnx.helper.make_node("Gemm", ["x", "w"], ["h"]), onnx.helper.make_node("ThresholdedRelu", ["h"], ["y"])]
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", 1]) for name in "xy"]
    weights = [onnx.numpy_helper.from_array(np.full((1, 1), 2.0, np.float32), "w")]
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph(nodes, "n", values[:1], values[1:], weights)), tmp_path / "n.onnx")
    with rejects("ThresholdedRelu", "rules"):
        read(tmp_path / "n.onnx")
    rules = {"ThresholdedRelu": lambda x, alpha=1.0: jnp.where(x > alpha, x, 0.0)}
    converted = read(tmp_path / "n.onnx", rules=rules)
    assert float(converted.function(converted.parameters, jnp.asarray([3.0]))[0]) == pytest.approx(6.0)
