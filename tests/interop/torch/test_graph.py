"""Networks of PyTorch: the same function in JAX, or a sentence that says why not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from agreement import by_jax, disagreement, points_in, rounding  # noqa: E402
from torch import nn  # noqa: E402
from torch_networks import NETWORKS, stack  # noqa: E402

from epinn.interop.torch import graph as torch_graph  # noqa: E402

pytestmark = pytest.mark.usefixtures("quick_compile")


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_keep_their_values_and_derivatives(name):
    """In double precision to 1e-10; in single precision to 1e-6, or as near as rounding allows."""
    torch.manual_seed(0)
    network = NETWORKS[name]()
    converted = torch_graph.convert(network, 2)
    assert max(disagreement(converted, points_in(np.float64))) < 1e-10
    single = points_in(np.float32)
    allowed = [max(1e-6, 4 * lost) for lost in rounding(converted, single)]
    assert all(e < most for e, most in zip(disagreement(converted, single), allowed, strict=True))
    assert all(value.dtype == np.float32 for value in converted.parameters.values())


def test_double_precision_stays():
    network = stack(nn.Tanh).double()
    converted = torch_graph.convert(network, 2)
    assert {value.dtype for value in converted.parameters.values()} == {np.dtype(np.float64)}
    assert converted.reference(points_in(np.float32)).dtype == np.float64
    assert max(disagreement(converted, points_in(np.float64))) < 1e-10


def test_double_precision_is_not_cut_in_silence(rejects):
    converted = torch_graph.convert(stack(nn.Tanh).double(), 2)
    with rejects("jax_enable_x64"):
        converted.function(converted.parameters, np.zeros(2))


def test_third_derivatives_and_gradients():
    converted = torch_graph.convert(stack(nn.Softplus), 2)
    x = jnp.asarray([0.3, -0.2])

    def along(t):
        return converted.function(converted.parameters, x + t * jnp.asarray([1.0, 0.0]))[0]

    third = jax.jvp(lambda t: jax.jvp(lambda s: jax.jvp(along, (s,), (1.0,))[1], (t,), (1.0,))[1], (0.0,), (1.0,))[1]
    assert np.isfinite(third)
    gradient = jax.grad(lambda p: converted.function(p, x)[0])(converted.parameters)
    assert jax.tree.map(np.shape, gradient) == jax.tree.map(np.shape, converted.parameters)


def test_softplus_far_out_is_finite():
    converted = torch_graph.convert(nn.Sequential(nn.Linear(2, 4), nn.Softplus(), nn.Linear(4, 1)), 2)
    far = 1e4 * points_in(np.float32)
    assert all(np.all(np.isfinite(part)) for part in by_jax(converted, far))
    assert disagreement(converted, far)[0] < 1e-5


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_module_that_cannot_be_copied_answers_in_its_own_precision():
    network = stack(nn.Tanh)
    nn.utils.weight_norm(network[2])
    converted = torch_graph.convert(network, 2)
    assert {"2.weight_g", "2.weight_v"} <= set(converted.parameters)
    network(torch.rand(3, 2))
    assert converted.reference(points_in(np.float64)).dtype == np.float32
    assert max(disagreement(converted, points_in(np.float32))) < 2e-6


def test_buffers_and_frozen_parameters_are_constants():
    network = NETWORKS["Fourier features"]()
    network.body[0].weight.requires_grad_(False)
    converted = torch_graph.convert(network, 2)
    assert set(converted.constants) == {"frequencies", "body.0.weight"}
    assert "body.0.bias" in converted.parameters
    all_frozen = torch_graph.convert(stack(nn.Tanh).requires_grad_(False), 2)
    assert len(all_frozen.parameters) == 6


def test_tied_weights_are_one_parameter():
    names = torch_graph.convert(NETWORKS["scaled experts"](), 2).parameters
    assert len([name for name in names if name.startswith(("choice", "again"))]) == 2


def test_the_module_is_left_as_it_was():
    network = NETWORKS["batch norm"]()
    network[1].eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    converted = torch_graph.convert(network, 2)
    converted.reference(points_in(np.float32))
    converted.derivatives(points_in(np.float32))
    assert [part.training for part in network] == [True, False, True, True]
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert all(parameter.grad is None for parameter in network.parameters())


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, 4), nn.Linear(4, 1)


class Branch(Layers):
    def forward(self, x):
        h = self.first(x)
        if h.sum() > 0:
            h = -h
        return self.last(h)


class Number(Layers):
    def forward(self, x):
        return self.last(self.first(x) * x.mean().item())


class Mask(Layers):
    def forward(self, x):
        h = self.first(x)
        return self.last(torch.cat([h[h[:, 0] > 0], h[h[:, 0] <= 0]]))


class Counting(Layers):
    def forward(self, x):
        return self.last(self.first(x) * (2 if x.shape[0] > 5 else 1))


class Unknown(Layers):
    def forward(self, x):
        h = torch.special.bessel_j0(self.first(x))
        return self.last(torch.special.i0e(h))


class Random(Layers):
    def forward(self, x):
        return self.last(nn.functional.dropout(self.first(x)))


class Two(Layers):
    def forward(self, x):
        return self.first(x), self.last(self.first(x))


class Scalar(Layers):
    def forward(self, x):
        return self.last(self.first(x)).sum()


class Slope(Layers):
    def forward(self, x):
        with torch.enable_grad():
            x = x.requires_grad_()
            return torch.autograd.grad(self.last(torch.tanh(self.first(x))).sum(), x, create_graph=True)[0]


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (Branch, ("branches on values", "test_graph.py", "torch.where")),
        (Number, ("numbers", "test_graph.py", "JAX function")),
        (Mask, ("x[mask]", "where")),
        (Counting, ("points",)),
        (Random, ("dropout", "training")),
        (Two, ("2", "column")),
        (Scalar, ("fields",)),
        (Slope, ("differentiates", "JAX function")),
    ],
)
def test_what_is_no_function_is_refused(network, words, rejects, capfd):
    with rejects(*words):
        torch_graph.convert(network(), 2)
    assert capfd.readouterr() == ("", "")


def test_every_missing_operator_is_named_with_its_line(rejects):
    line = Unknown.forward.__code__.co_firstlineno
    words = ("aten.special_bessel_j0", "aten.special_i0e", f"test_graph.py:{line + 1}", f"test_graph.py:{line + 2}")
    with rejects(*words, "rules", "JAX function"):
        torch_graph.convert(Unknown(), 2)


def test_a_rule_of_ones_own():
    rules = {"aten.special_i0e": jax.scipy.special.i0e, "aten.special_bessel_j0.default": jnp.sinc}
    network = Unknown()
    converted = torch_graph.convert(network, 2, rules)
    weights = {name: value.detach().numpy() for name, value in network.state_dict().items()}
    hidden = jnp.sinc(weights["first.weight"] @ np.ones(2) + weights["first.bias"])
    expected = weights["last.weight"] @ jax.scipy.special.i0e(hidden) + weights["last.bias"]
    assert np.allclose(converted.function(converted.parameters, jnp.ones(2)), expected, rtol=1e-5)


def test_a_rule_that_fails_is_named(rejects):
    with rejects("aten.tanh", "layer 1"):
        torch_graph.convert(stack(nn.Tanh), 2, {"aten.tanh": lambda x: x.no_such_thing})


def test_other_precisions_and_inputs_are_refused(rejects):
    with rejects("float16", "module.float"):
        torch_graph.convert(stack(nn.Tanh).half(), 2)
    with rejects("(n, 3)"):
        torch_graph.convert(stack(nn.Tanh), 3)


def test_without_torch_the_message_says_what_to_install(rejects, monkeypatch):
    from epinn.interop.torch.source import import_torch

    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with rejects("pip install 'epinn[torch]'"):
        import_torch()


@pytest.mark.parametrize(
    ("layers", "matters"),
    [((nn.Dropout(0.5),), True), ((nn.BatchNorm1d(4),), True), ((nn.Dropout(0.0), nn.LayerNorm(4)), False)],
)
def test_training_mode_is_said_where_it_matters(layers, matters):
    network = nn.Sequential(nn.Linear(2, 4), *layers, nn.Linear(4, 1))
    before = {name: value.clone() for name, value in network.state_dict().items()}
    notes = torch_graph.convert(network, 2).notes
    assert len(notes) == int(matters)
    assert all("training mode" in note and "model.eval()" in note for note in notes)
    assert torch_graph.convert(network.eval(), 2).notes == ()
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
