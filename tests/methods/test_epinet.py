"""The epinet: derivatives through features and prior, what is frozen, and how z enters."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.jet import Jet, lower_closure
from epinn.derivatives.network import trainable
from epinn.methods.epinet import EpinetMethod
from epinn.methods.epinet import paper as module
from epinn.methods.epinet.paper import EpinetSampler, FrozenBaseObjective, epinet_features
from epinn.problem.channel import residuals
from epinn.problems import burgers, heat1d_inverse, poisson1d
from epinn.solve.config import Base, create_solutions

pytestmark = pytest.mark.usefixtures("quick_compile")

ORDERS = {"u_x": (1, 0), "u_t": (0, 1), "u_xx": (2, 0), "u_xt": (1, 1), "u_tt": (0, 2)}


def whole_network(activation="tanh", **base):
    """An untrained E-PINN in (x, t), at one index, with a prior large enough to be seen."""
    problem = burgers()
    keys = jax.random.split(jax.random.key(0), 1)
    solution = create_solutions(Base(hidden=(16, 16), activation=activation, **base), [problem], keys)
    epinet = module.create(EpinetMethod(objective="paper", hidden=(8, 8), alpha=1.0).shape, solution, keys, 2, 1)
    one = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, EpinetSampler(solution, epinet))
    return one.solution(one.index(jax.random.key(1))).network


def finite_difference(network, x, order, step=2e-4):
    """Central differences of second order, along one coordinate after the other."""
    if not any(order):
        return network(x)
    axis = next(i for i, n in enumerate(order) if n)
    rest = tuple(n - (i == axis) for i, n in enumerate(order))
    shift = step * jnp.eye(len(order))[axis]
    ahead, behind = (finite_difference(network, x + sign * shift, rest, step) for sign in (1, -1))
    return (ahead - behind) / (2 * step)


def errors(network):
    """Relative error of every derivative of the whole E-PINN against finite differences, at a few points."""
    orders = lower_closure(ORDERS.values())
    points = jnp.asarray(list(itertools.product((-0.7, 0.1, 0.8), (0.2, 0.9))))
    found = {}
    for name, order in ORDERS.items():
        exact = jnp.stack([network(Jet.variable(x, orders))[order] for x in points])
        approximate = jnp.stack([finite_difference(network, x, order) for x in points])
        found[name] = float(jnp.max(jnp.abs(exact - approximate)) / jnp.max(jnp.abs(approximate)))
    return found


@pytest.mark.parametrize(
    "activation", ["tanh", *(pytest.param(name, marks=pytest.mark.slow) for name in ("sin", "silu", "gelu"))]
)
def test_all_derivatives_of_the_whole_epinn_agree_with_finite_differences(x64, activation):
    assert max(errors(whole_network(activation)).values()) < 1e-5


@pytest.mark.slow
def test_derivatives_agree_with_fourier_features_and_scaled_inputs_and_outputs(x64):
    network = whole_network(fourier=4, fourier_scale=0.3, scale_inputs=True, output_scale=2.0)
    assert max(errors(network).values()) < 1e-5


@pytest.mark.slow
def test_detached_features_would_be_noticed(x64, monkeypatch):
    """The trap: features whose derivatives are cut off. The check above must fail for them."""

    def detached(base, x):
        if not isinstance(x, Jet):
            return epinet_features(base, x)
        whole = epinet_features(base, x)
        coordinates = len(x.orders[0])
        kept = jnp.arange(whole.stack.shape[-1]) < coordinates  # x keeps its derivatives, h(x) loses them
        return Jet(whole.stack.at[1:].multiply(kept), whole.orders)

    monkeypatch.setattr(module, "epinet_features", detached)
    found = errors(whole_network())
    assert min(found["u_x"], found["u_xx"], found["u_t"]) > 1e-2


@pytest.mark.slow
def test_a_detached_prior_would_be_noticed(x64, monkeypatch):
    original = module.Epinet.__call__

    def detached(self, features, z):
        if not isinstance(features, Jet):
            return original(self, features, z)
        prior = self.prior.content(features, z)
        return self.learnable(features, z) + Jet(prior.stack.at[1:].set(0.0), prior.orders) * self.alpha

    monkeypatch.setattr(module.Epinet, "__call__", detached)
    assert errors(whole_network())["u_xx"] > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: poisson1d(0.1), lambda: heat1d_inverse(0.1, collocation=20, sensors=5)])
def test_what_is_computed_once_for_the_frozen_base_gives_the_residuals_of_the_whole(x64, make):
    problem, key = make(), jax.random.key(3)
    keys = jax.random.split(key, 1)
    solution = create_solutions(Base(hidden=(8, 8)), [problem], keys)
    shape = EpinetMethod(objective="paper", hidden=(6,), alpha=0.5).shape
    epinet = module.create(shape, solution, keys, problem.domain.dimension, len(problem.fields))
    sampler = jax.tree.map(lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, EpinetSampler(solution, epinet))
    parameters, rest = trainable(sampler.epinet)
    objective, channels = FrozenBaseObjective(sampler.base, rest, 2), problem.channels(0)
    rows = objective.residuals(parameters, channels, objective.prepare(channels), key)
    for i, index_key in enumerate(jax.random.split(key, 2)):
        expected = residuals(channels, sampler.solution(sampler.index(index_key)))
        for row, want in zip(rows, expected, strict=True):
            np.testing.assert_allclose(row[i], want, rtol=1e-10, atol=1e-12)


def test_the_closed_form_of_a_calibrated_band_is_what_its_draws_have():
    """Also far below what single precision can tell from the field itself."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 2)), equation=lambda u: u.xx + 1.0, boundary=epinn.Dirichlet(3000.0), fields=("u",)
    )
    pinn = epinn.fit(problem, key=0, base=Base(hidden=(8, 8), epochs=50, newton=20, restarts=0))
    x = np.linspace(0, 2, 7)
    for settings in ({}, {"own_error": False}):
        band = epinn.attach(pinn, problem, "epinet", key=1, settings=settings)
        found = band.predict(x)
        drawn = band.evaluate(lambda s: s.variation(s.units.inside(jnp.asarray(x)[:, None]))[:, 0], draws=4000)
        assert found.draws == 0
        assert drawn.draws == 4000
        np.testing.assert_allclose(found.std, drawn.std, rtol=0.06, atol=1e-2 * np.max(drawn.std))
        np.testing.assert_allclose(found.mean - 3000, drawn.mean, atol=0.1 * np.max(found.std) + 1e-5)


def attach_paper(pinn, problem, key=0, **settings):
    return epinn.attach(pinn, problem, EpinetMethod(objective="paper", **settings), key=key)


@pytest.fixture(scope="module")
def trained():
    problem = poisson1d(0.1, collocation=20, sensors=8)
    pinn = epinn.fit(problem, base=Base(hidden=(8, 8), epochs=100, newton=0, restarts=0))
    return pinn, problem


@pytest.mark.slow
def test_base_and_prior_stay_frozen_while_the_learnable_part_moves(trained):
    pinn, problem = trained
    first, later = (attach_paper(pinn, problem, epochs=n, hidden=(6, 6), key=1).sampler for n in (1, 60))
    assert eqx.tree_equal(first.base, pinn.solution)
    assert eqx.tree_equal(later.base, pinn.solution)
    assert eqx.tree_equal(first.epinet.prior, later.epinet.prior)
    assert not eqx.tree_equal(first.epinet.learnable, later.epinet.learnable)


@pytest.mark.slow
def test_the_base_can_be_trained_on_together_with_the_epinet(trained):
    pinn, problem = trained
    sampler = attach_paper(pinn, problem, epochs=20, hidden=(6, 6), train_base=True).sampler
    assert not eqx.tree_equal(sampler.base, pinn.solution)


@pytest.mark.slow
def test_gauss_newton_steps_fit_the_same_indices_better_and_leave_the_base_alone(trained):
    _, problem = trained
    pinn = epinn.fit(problem, base=Base(hidden=(16, 16), epochs=500, newton=60, restarts=0))
    bands = [attach_paper(pinn, problem, epochs=1, hidden=(16, 16), newton=n, newton_indices=4, key=1) for n in (1, 30)]
    assert eqx.tree_equal(bands[1].sampler.base, pinn.solution)

    def whitened(losses):
        return sum(losses[c.name] / float(c.sigma[0]) ** 2 * len(c.points) for c in pinn.channels)

    few, many = (whitened(band.diagnostics["losses"]) for band in bands)
    assert many < 0.5 * few


def test_gauss_newton_with_a_base_that_moves_is_refused(rejects):
    with rejects("epinet.newton", "train_base"):
        EpinetMethod(objective="paper", newton=5, train_base=True)


@pytest.mark.slow
def test_z_is_projected_on_the_outputs_so_that_zero_means_no_correction(trained):
    pinn, problem = trained
    band = attach_paper(pinn, problem, epochs=1, hidden=(6, 6))
    at_zero = band.sampler.solution(jnp.zeros(8))
    x = problem.domain.grid(11)
    np.testing.assert_allclose(at_zero(x), pinn.solution(x), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("initialisation", ["xavier", "he", "orthogonal"])
def test_the_prior_can_be_initialised_by_name_and_alpha_scales_it(trained, initialisation):
    pinn, problem = trained
    widths = [
        attach_paper(pinn, problem, epochs=0, hidden=(6, 6), prior_initialisation=initialisation, alpha=alpha)
        .evaluate(lambda s: s.network.epinet.alpha * s.network.epinet.prior.content.mlp.weights[0].sum(), draws=2)
        .mean
        for alpha in (0.5, 1.0)
    ]
    np.testing.assert_allclose(2 * widths[0], widths[1], rtol=1e-5)


@pytest.mark.slow
def test_unknown_parameters_get_a_spread_of_their_own():
    times = np.linspace(0, 1, 9)
    problem = epinn.Problem(
        domain=epinn.Box(t=(0, 1)),
        equation=lambda u, c: u.t + c * u,
        initial=1.0,
        data=epinn.Data(times, np.exp(-2 * times), sigma=0.05),
        unknowns={"c": epinn.Unknown(1.0, positive=True, exact=2.0)},
        points=epinn.Points(collocation=16),
    )
    pinn = epinn.fit(problem, base=Base(hidden=(8, 8), epochs=1500, learning_rate=1e-2, newton=0, restarts=0))
    c = attach_paper(pinn, problem, epochs=300, hidden=(8, 8)).unknowns(draws=500)["c"]
    assert abs(c.mean - 2.0) < 0.3
    assert 0 < c.std < 0.5


def test_the_base_of_an_epinet_is_named(rejects):
    assert epinn.methods.METHODS["epinet"]().traits.base_sees_data
    assert not epinn.methods.METHODS["epinet"](base="physics").traits.base_sees_data
    with rejects("physik", "physics"):
        epinn.methods.METHODS["epinet"](base="physik")
