"""A network trained elsewhere as one of ours: its values, its check, its precision, the methods on it, its files."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.app.store.trees import load_tree, save_tree
from epinn.derivatives.network import MLP, trainable
from epinn.interop import adopt
from epinn.interop.converted import Converted
from epinn.interop.network.imported import Imported, imported
from epinn.problem.channel import residuals
from epinn.problems import SHIPPED

pytestmark = [pytest.mark.usefixtures("quick_compile"), pytest.mark.slow]


@pytest.fixture(scope="module")
def problem():
    return SHIPPED["poisson1d"](0.1, collocation=12, sensors=6)


@pytest.fixture(scope="module")
def pinn(problem):
    return epinn.fit(problem, base=epinn.Base(hidden=(8, 8), epochs=20, newton=0, restarts=0, dimensionless=False))


def foreign(network, dtype=np.float32):
    """One of our own networks as somebody else would hand it over: a function and its weights."""
    weights = {f"w{i}": np.asarray(w, dtype) for i, w in enumerate(network.weights)}
    weights |= {f"b{i}": np.asarray(b, dtype) for i, b in enumerate(network.biases)}

    def function(p, x):
        for i in range(len(network.weights) - 1):
            x = jnp.tanh(p[f"w{i}"] @ x + p[f"b{i}"])
        last = len(network.weights) - 1
        return p[f"w{last}"] @ x + p[f"b{last}"]

    return function, weights


@pytest.fixture(scope="module")
def adopted(pinn, problem):
    return adopt(foreign(pinn.solution.network), problem)


def converted(function=lambda p, x: p["a"] * jnp.sin(x), dtype=np.float32, **changes):
    """A network of one weight with its own derivatives."""
    a = {"a": np.asarray([2.0], dtype)}
    own = Converted(
        function,
        a,
        lambda x: a["a"] * np.sin(x),
        lambda x: ((a["a"] * np.cos(x))[:, None], (-a["a"] * np.sin(x))[:, None]),
        "a framework",
        {},
    )
    return dataclasses.replace(own, **changes)


# The network


def test_values_features_and_residuals_are_those_of_our_own_network(pinn, adopted, problem):
    points = problem.domain.points(9)
    assert isinstance(adopted.solution.network, Imported)
    assert np.asarray(adopted(points)) == pytest.approx(np.asarray(pinn(points)), abs=1e-6)
    features = [jax.vmap(p.solution.network.features)(points) for p in (pinn, adopted)]
    assert np.asarray(features[1]) == pytest.approx(np.asarray(features[0]), abs=1e-6)
    for mine, its in zip(*(residuals(pinn.channels, p.solution) for p in (pinn, adopted)), strict=True):
        assert np.asarray(its) == pytest.approx(np.asarray(mine), abs=1e-4)


def test_its_weights_are_the_parameters(pinn, adopted):
    count = [sum(leaf.size for leaf in jax.tree.leaves(trainable(p.solution)[0])) for p in (pinn, adopted)]
    assert count[0] == count[1]


def test_the_same_program_is_recognised_whatever_its_weights(pinn, problem, adopted):
    function, weights = foreign(pinn.solution.network)
    again = adopt((function, {name: 2 * value for name, value in weights.items()}), problem)
    assert again.solution.network.programs == adopted.solution.network.programs
    assert hash(again.solution.network.function) == hash(adopted.solution.network.function)
    other = adopt((lambda p, x: 2 * function(p, x), weights), problem)
    assert other.solution.network.function != adopted.solution.network.function


# The check


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_faithful_import_passes(problem, dtype):
    network, _ = imported(converted(dtype=dtype), problem)
    assert float(network(jnp.asarray([0.5]))[0]) == pytest.approx(2 * np.sin(0.5), rel=1e-6)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"reference": lambda x: 2.00001 * np.sin(x)}, ("values", "a framework")),
        ({"derivatives": lambda x: (2.0001 * np.cos(x)[:, None], -2 * np.sin(x)[:, None])}, ("first",)),
        ({"derivatives": lambda x: (2 * np.cos(x)[:, None], -2.0001 * np.sin(x)[:, None])}, ("second",)),
        ({"reference": lambda x: np.full_like(x, np.nan)}, ("values",)),
        ({"function": lambda p, x: p["a"] / (0 * x)}, ("finite",)),
        ({"parameters": {}}, ("weights", "function")),
        ({"function": lambda p, x: jnp.concatenate([x, x])}, ("shape", "coordinates")),
        ({"function": lambda p, x: p["a"] * (x @ jnp.ones((3, 1)))}, ("fit", "coordinates")),
    ],
)
def test_one_that_is_not_is_refused(problem, rejects, wrong, words):
    with rejects(*words):
        imported(converted(**wrong), problem)


def test_double_precision_is_checked_in_double_precision(problem, rejects):
    slightly = converted(dtype=np.float64, reference=lambda x: (2 + 1e-8) * np.sin(x))
    with rejects("values", "1e-10"):
        imported(slightly, problem)


def test_what_the_source_cannot_tell_is_not_checked(problem):
    unknown = np.full((11, 1, 1), np.nan)
    imported(converted(derivatives=lambda x: (2 * np.cos(x)[:, None], unknown)), problem)
    imported(converted(reference=None, derivatives=None), problem)


def test_a_function_without_forward_derivatives_is_refused(problem, rejects):
    only_backwards = jax.custom_vjp(jnp.sin)
    only_backwards.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * jnp.cos(x),))
    with rejects("forwards"):
        imported(converted(lambda p, x: p["a"] * only_backwards(x)), problem)


# Precision


def test_double_weights_become_single_with_a_word(pinn, problem):
    band = epinn.attach(foreign(pinn.solution.network, np.float64), problem, "laplace", settings={"samples": 4})
    assert any("double precision" in warning for warning in band.warnings)


@pytest.mark.usefixtures("x64")
def test_and_stay_double_where_jax_is(pinn):
    problem = SHIPPED["poisson1d"](0.1, collocation=12, sensors=6)
    adopted = adopt(foreign(pinn.solution.network, np.float64), problem)
    assert not any("double" in warning for warning in adopted.warnings)
    assert {leaf.dtype for leaf in jax.tree.leaves(adopted.solution.network.parameters)} == {jnp.dtype("float64")}


# Methods


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("laplace", {"samples": 20}),
        ("epinet", {"index_dim": 12}),
        ("epinet", {"objective": "paper", "epochs": 10, "hidden": (8,)}),
    ],
)
def test_bands_are_those_on_our_own_network(pinn, adopted, problem, method, settings):
    points = problem.domain.points(5)
    ours = dataclasses.replace(pinn, channels=adopted.channels)
    bands = [epinn.attach(p, method=method, settings=settings).predict(points, draws=50) for p in (ours, adopted)]
    assert bands[1].mean == pytest.approx(bands[0].mean, abs=0.05)
    if method == "epinet" and "objective" in settings:
        assert bands[1].std == pytest.approx(bands[0].std, rel=1e-2)


def test_methods_that_keep_the_network_have_its_mean_without_a_word(adopted, problem):
    band = epinn.attach(adopted, method="epinet", settings={"index_dim": 12})
    assert not any("changes the weights" in warning for warning in band.warnings)
    points = problem.domain.points(5)
    middle = band.sampler.solution(jnp.zeros(13))  # 12, and the error that its residuals show
    assert np.asarray(middle(points)) == pytest.approx(np.asarray(adopted(points)), abs=1e-6)


def test_methods_that_move_the_network_say_so(adopted):
    band = epinn.attach(adopted, method="hmc", settings={"leapfrog": 1, "burn_in": 0, "samples": 4, "step_size": 1e-05})
    assert any("changes the weights" in warning for warning in band.warnings)
    trained = epinn.attach(adopted, settings={"objective": "paper", "epochs": 2, "hidden": (4,), "train_base": True})
    assert any("changes the weights" in warning for warning in trained.warnings)


@pytest.mark.parametrize(
    ("method", "settings"), [("dropout", {}), ("dropout", {"during": "training"}), ("hmc", {"start": "xavier"})]
)
def test_methods_that_cannot_use_it_refuse(adopted, rejects, method, settings):
    with rejects(method):
        epinn.attach(adopted, method=method, settings=settings)


def test_a_network_that_does_not_solve_the_problem_is_told_from_one_that_does(problem):
    solved, not_solved = (
        adopt((lambda p, x: p["a"] * jnp.sin(6 * x) ** 3, {"a": np.full(1, a, np.float32)}), SHIPPED["poisson1d"](0.0))
        for a in (1.0, 0.1)
    )
    assert not solved.warnings
    assert "equation" in not_solved.warnings[0]
    assert "trusted" in not_solved.warnings[0]


# Features


def test_features_can_be_a_function_and_need_not_exist(pinn, problem):
    model = foreign(pinn.solution.network)
    given = adopt(model, problem, features=lambda x: jnp.stack([jnp.sin(x[0]), jnp.cos(x[0])]))
    assert given.solution.network.features(jnp.asarray([0.5])).tolist() == pytest.approx([np.sin(0.5), np.cos(0.5)])
    none = adopt((lambda p, x: p["a"] * jnp.sin(x), {"a": np.ones(1, np.float32)}), problem)
    assert none.solution.network.features(jnp.ones(1)).shape == (0,)
    epinn.attach(none, settings={"objective": "paper", "epochs": 2, "hidden": (4,)})


def test_a_named_layer_needs_pytorch(pinn, problem, rejects):
    with rejects("PyTorch", "features"):
        adopt(foreign(pinn.solution.network), problem, features="layers.2")
    with rejects("features"):
        adopt(foreign(pinn.solution.network), problem, features=3)


# Problems


def test_unknowns_start_at_what_is_given_or_at_the_guess(rejects):
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)), equation=lambda u, k: k * u.x - 1, unknowns={"k": epinn.Unknown(2.0, positive=True)}
    )
    model = (lambda p, x: p["a"] * x, {"a": np.ones(1, np.float32)})
    assert float(adopt(model, problem, unknowns={"k": 0.5}).solution.unknowns["k"]) == pytest.approx(0.5)
    assert float(adopt(model, problem).solution.unknowns["k"]) == pytest.approx(2.0)
    assert epinn.attach(model, problem, "laplace", unknowns={"k": 1.0}, settings={"samples": 4}).unknowns(draws=4)["k"].mean > 0
    with rejects("unknown", "k"):
        adopt(model, problem, unknowns={"kk": 1.0})


def test_fields_that_are_positive_keep_their_values(rejects):
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.x - u, positive="u")
    model = (lambda p, x: p["a"] * jnp.exp(x), {"a": np.ones(1, np.float32)})
    points = problem.domain.points(5)
    assert np.asarray(adopt(model, problem)(points)) == pytest.approx(np.exp(points), rel=1e-5)
    with rejects("positive", "u"):
        adopt((lambda p, x: -p["a"] * jnp.exp(x), model[1]), problem)


def test_several_coordinates_and_fields():
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1), t=(0, 2)), fields=("u", "v"), equation=lambda u, v: u.t + v.x)
    weights = {"w": np.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32), "v": np.ones((2, 3), np.float32)}
    model = adopt((lambda p, x: p["v"] @ jnp.tanh(p["w"] @ x), weights), problem)
    assert model(np.asarray([[0.1, 0.2], [0.3, 0.4]])).shape == (2, 2)
    assert model.solution.network.features(jnp.zeros(2)).shape == (3,)


# What is asked


def test_arguments_that_make_no_sense_are_refused(pinn, problem, rejects):
    with rejects("problem", "attach"):
        epinn.attach(foreign(pinn.solution.network))
    with rejects("features", "Pinn"):
        epinn.attach(pinn, features="a")
    with rejects("trust_file", "Pinn"):
        epinn.attach(pinn, trust_file=True)
    with rejects("architecture", "files"):
        adopt(foreign(pinn.solution.network), problem, architecture="1x8x1")
    with rejects("int", "Equinox", "PyTorch"):
        adopt(3, problem)
    with rejects("features", "own"):
        adopt(pinn.solution.network, problem, features=lambda x: x)
    with rejects("shape", "coordinates"):
        adopt(MLP.create(1, (3,), 2, key=jax.random.key(0)), problem)


# Files


@pytest.mark.parametrize("method", ["laplace", "epinet"])
def test_a_posterior_is_stored_without_the_function_and_read_with_it(adopted, tmp_path, rejects, method):
    band = epinn.attach(adopted, method=method, settings={"samples": 5} if method == "laplace" else {"index_dim": 5})
    path = tmp_path / "posterior.safetensors"
    save_tree(band.sampler, path)
    again = dataclasses.replace(band.posterior, sampler=load_tree(path, adopted.solution.network.programs))
    points = adopted.problem.domain.points(5)
    assert np.array_equal(again.predict(points, draws=10).std, band.predict(points, draws=10).std)
    with rejects("elsewhere"):
        load_tree(path)
