"""Models of other PINN libraries: the module inside is found, and computes what the library computes."""

import io
import json
import sys
import tarfile
import types
import warnings
import zipfile

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from agreement import disagreement, points_in  # noqa: E402
from torch import nn  # noqa: E402
from torch_networks import stack  # noqa: E402

from epinn.interop.torch import graph as torch_graph  # noqa: E402
from epinn.interop.torch.frameworks import torch_module_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("quick_compile")


def agrees(module, dimension=2):
    converted = torch_graph.convert(module, dimension)
    return max(disagreement(converted, points_in(np.float64, dimension))) < 1e-10


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_plain_modules_and_what_wraps_them():
    module = stack(nn.Tanh)
    assert torch_module_of(module) == (module, "PyTorch")
    assert torch_module_of(nn.DataParallel(module)) == (module, "PyTorch")
    assert torch_module_of(torch.compile(module, backend="eager")) == (module, "PyTorch")
    assert torch_module_of(lambda x: x) is None


class Apart(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = stack(nn.Tanh)

    def forward(self, x, t):
        return self.body(torch.cat([x, t], dim=1)) * torch.exp(-t)


@pytest.mark.parametrize(("coordinates", "columns"), [(("x", "t"), [0, 1]), (("t", "x"), [1, 0]), (("r", "z"), [0, 1])])
def test_networks_that_take_one_column_each(coordinates, columns):
    network, points = Apart(), points_in(np.float32)
    module, source = torch_module_of(network, coordinates)
    assert source == "PyTorch"
    assert agrees(module)
    apart = [torch.tensor(points[:, i : i + 1]) for i in columns]
    assert np.allclose(torch_graph.convert(module, 2).reference(points), network(*apart).detach().numpy(), atol=1e-6)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_torchscript_is_refused(rejects):
    with rejects("TorchScript"):
        torch_module_of(torch.jit.script(stack(nn.Tanh)))


def quietly(name):
    """A library that warns while it is imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is not installed")


@pytest.fixture(scope="module")
def dde():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DDE_BACKEND", "pytorch")
        return quietly("deepxde")


def deepxde_model(dde, network):
    geometry = dde.geometry.Rectangle([-1, -1], [1, 1])
    condition = dde.icbc.DirichletBC(geometry, lambda x: 0, lambda _, on_boundary: on_boundary)
    data = dde.data.PDE(geometry, lambda x, y: y, condition, num_domain=5, num_boundary=4)
    return dde.Model(data, network)


@pytest.mark.parametrize("activation", ["tanh", "sin", "swish", "relu"])
def test_deepxde_with_transforms(dde, activation):
    network = dde.nn.FNN([3, 16, 16, 1], activation, "Glorot normal")
    network.apply_feature_transform(lambda x: torch.cat([x, torch.sin(np.pi * x[:, :1])], dim=1))
    network.apply_output_transform(lambda x, y: (1 - x[:, 0:1] ** 2) * y + x[:, 1:2])
    model = deepxde_model(dde, network)
    module, source = torch_module_of(model)
    assert source == "DeepXDE"
    assert agrees(module)
    points = points_in(np.float32)
    model.compile("adam", lr=1e-3)
    assert np.allclose(torch_graph.convert(module, 2).reference(points), model.predict(points), atol=1e-6)


def test_deepxde_several_fields_and_layers(dde):
    assert agrees(torch_module_of(dde.nn.PFNN([2, [8, 8], [8, 8], 2], "tanh", "Glorot uniform"))[0])


def test_deepxde_of_another_backend_is_refused(rejects):
    model = type("Model", (), {"__module__": "deepxde.model", "net": object()})()
    with rejects("DeepXDE", "PyTorch"):
        torch_module_of(model)


class HardMLP(nn.Module):
    """As in PINA's tutorials: columns by name, and a factor that vanishes on the boundary."""

    def __init__(self):
        super().__init__()
        self.layers = stack(nn.Tanh)

    def forward(self, points):
        x, t = points.extract(["x"]), points.extract("t")
        assert points.extract(["t", "x"]).extract(["x"]).labels == ["x"]
        return self.layers(points) * (1 - x**2) + torch.sin(torch.pi * x) * torch.exp(-t)


@pytest.fixture(scope="module")
def pina():
    return quietly("pina")


def pina_solver(model):
    domain, problem, solver = (quietly(f"pina.{name}") for name in ("domain", "problem", "solver"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")

        class Problem(problem.TimeDependentProblem, problem.SpatialProblem):
            output_variables = ["u"]  # noqa: RUF012
            spatial_domain = domain.CartesianDomain({"x": [-1, 1]})
            temporal_domain = domain.CartesianDomain({"t": [0, 1]})
            domains: dict = {}  # noqa: RUF012
            conditions: dict = {}  # noqa: RUF012

        return solver.PINN(problem=Problem(), model=model)


@pytest.mark.parametrize("kind", ["by name", "plain"])
@pytest.mark.parametrize("order", [None, ("x", "t"), ("t", "x")])
def test_pina_solvers(pina, kind, order):
    solver = pina_solver(HardMLP() if kind == "by name" else stack(nn.Tanh))
    labels = list(solver.problem.input_variables)
    module, source = torch_module_of(solver, order)
    assert source == "PINA"
    assert agrees(module)
    points = points_in(np.float32)
    named = pina.LabelTensor(torch.tensor(points), list(order or labels)).extract(labels)
    with torch.no_grad():
        theirs = solver(named).as_subclass(torch.Tensor).numpy()
    assert np.allclose(torch_graph.convert(module, 2).reference(points), theirs, atol=1e-6)
    assert not hasattr(torch.Tensor, "extract")


def test_pina_models_alone(pina, rejects):
    model = quietly("pina.model").FeedForward(input_dimensions=2, output_dimensions=1, inner_size=8, n_layers=2, func=nn.Tanh)
    assert torch_module_of(model) == (model, "PINA")
    assert agrees(model)
    assert agrees(torch_module_of(HardMLP(), ("x", "t"))[0])
    with rejects("x.extract", "solver"):
        torch_module_of(HardMLP())
    with rejects("x, y"):
        torch_module_of(pina_solver(HardMLP()), ("x", "y"))


def test_pina_without_pina(monkeypatch, rejects):
    """The same with stand-ins, so that it is tested where PINA is not installed."""
    monkeypatch.setitem(sys.modules, "pina", types.ModuleType("pina"))
    kind = type("PINN", (nn.Module,), {"__module__": "pina.solver", "problem": None, "model": None})
    solver = kind()
    solver.problem = types.SimpleNamespace(input_variables=["x", "t"])
    with rejects("several models"):
        torch_module_of(solver)
    kind.model = property(lambda self: model)
    model = HardMLP()
    assert agrees(torch_module_of(solver)[0])


class Layer(nn.Module):
    """PhysicsNeMo's layer, by its description: the activation sees `activation_par` times the linear part."""

    def __init__(self, inputs, outputs, activation=None, slope=None, kind="plain"):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.activation, self.activation_par, self.kind = activation, slope, kind
        if kind == "norm":
            self.linear.weight_g = nn.Parameter(torch.rand(outputs, 1) + 0.5)
        if kind == "factors":
            self.linear.g = nn.Parameter(torch.rand(outputs, 1) + 0.5)
            self.linear.v = nn.Parameter(self.linear.weight.detach().clone())
            self.linear.weight = None

    def forward(self, x):
        part = self.linear
        if self.kind == "norm":
            weight = part.weight_g * part.weight / torch.linalg.norm(part.weight, dim=1, keepdim=True)
        else:
            weight = part.g * part.v if self.kind == "factors" else part.weight
        x = nn.functional.linear(x, weight, part.bias)
        x = x if self.activation_par is None else self.activation_par * x
        return x if self.activation is None else self.activation(x)


class StandIn(nn.Module):
    def __init__(self, kind, skips, adaptive):
        super().__init__()
        slope = nn.Parameter(torch.tensor([1.4])) if adaptive else None
        sizes = [2, 8, 8, 8, 8]
        self.layers = nn.ModuleList(Layer(a, 8, nn.functional.silu, slope, kind) for a in sizes[:-1])
        self.final_layer, self.skips = Layer(8, 2), skips

    def forward(self, x):
        kept = None
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if self.skips and i in (0, 2):
                new = x if kept is None else x + kept
                kept, x = x, new
        return self.final_layer(x)


def saved(path, network, arguments, name="FullyConnected", legacy=False):
    weights = io.BytesIO()
    torch.save(network.state_dict(), weights)
    described = {"__name__": name, "__module__": "physicsnemo.models.mlp.fully_connected", "__args__": arguments}
    content = {"model.pt": weights.getvalue(), "args.json": json.dumps(described).encode(), "metadata.json": b"{}"}
    if legacy:
        with tarfile.open(path, "w") as archive:
            for member, data in content.items():
                entry = tarfile.TarInfo(member)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
        return
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in content.items():
            archive.writestr(member, data)


@pytest.mark.parametrize(
    ("kind", "skips", "adaptive", "legacy"),
    [
        ("plain", False, False, False),
        ("plain", True, True, True),
        ("norm", False, False, False),
        ("factors", True, False, False),
    ],
)
def test_physicsnemo_files(tmp_path, kind, skips, adaptive, legacy):
    """The file and its network are made by hand, as PhysicsNeMo describes them: installing it takes gigabytes."""
    from epinn.interop.torch.physicsnemo_file import read

    network, path = StandIn(kind, skips, adaptive), tmp_path / "network.mdlus"
    arguments = {"in_features": 2, "layer_size": 8, "out_features": 2, "num_layers": 4, "activation_fn": "silu"}
    arguments |= {"skip_connections": skips, "adaptive_activations": adaptive}
    saved(path, network, arguments, legacy=legacy)
    module, points = read(path), torch.tensor(points_in(np.float32))
    assert torch.allclose(module(points), network(points), atol=1e-6)
    assert agrees(module)


def test_physicsnemo_files_that_cannot_be_read(tmp_path, rejects):
    from epinn.interop.torch.physicsnemo_file import read

    path, network = tmp_path / "network.mdlus", StandIn("plain", False, False)
    saved(path, network, {"num_layers": 4}, name="FourierNet")
    with rejects("FourierNet", "FullyConnected"):
        read(path)
    saved(path, network, {"num_layers": 5})
    with rejects("layers.4.linear.weight"):
        read(path)
    saved(path, network, {"num_layers": 4, "activation_fn": "stan"})
    with rejects("stan"):
        read(path)
    path.write_bytes(b"nothing")
    with rejects("network.mdlus"):
        read(path)


class Planted:
    def __reduce__(self):
        return exec, ("import builtins; builtins.planted = True",)


def test_physicsnemo_files_execute_nothing(tmp_path, rejects):
    import builtins

    from epinn.interop.torch.physicsnemo_file import read

    path = tmp_path / "network.mdlus"
    network = types.SimpleNamespace(state_dict=lambda: {"weight": Planted()})
    saved(path, network, {})
    with rejects("network.mdlus"):
        read(path)
    assert not hasattr(builtins, "planted")
