"""Gauss-Newton: its matrix, its steps in both spaces and without a matrix, and what it reaches."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import MLP, trainable
from epinn.solve.optimise import gauss_newton as newton
from epinn.solve.optimise.objective import PinnObjective
from epinn.solve.optimise.whitened import Prior, System
from epinn.solve.seeds import stack, unraveller, unstack

pytestmark = pytest.mark.usefixtures("quick_compile")

START = epinn.Base(hidden=(8, 8), epochs=200, learning_rate=1e-2, newton=0, restarts=0)


def decay_equation(u):
    return u.t + u


def decay(**changes):
    """u' = -u from u(0) = 1."""
    defaults = {
        "domain": epinn.Box(t=(0, 1)),
        "equation": decay_equation,
        "initial": epinn.Initial(1.0),
        "points": epinn.Points(collocation=16),
    }
    return epinn.Problem(**defaults | changes)


def everything():
    """Periodic sides, a field that should be constant, an unknown parameter, several rows per point, values at the points."""
    x = np.random.default_rng(0).uniform(size=(5, 2))
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1), t=(0, 1)),
        fields=("u", "k"),
        positive="k",
        unknowns={"a": epinn.Unknown(0.3, positive=True)},
        equation=lambda u, k, a: (u.t - k * u.xx + a * u**2, u.x * a),
        boundary=epinn.Periodic("x", field="u"),
        data=epinn.Data(x, np.sin(x[:, 0]), sigma=0.1, field="u"),
        extra=epinn.Constant("k"),
        points=epinn.Points(collocation=7, boundary=3),
    )


def system(problem, hidden=(5,), spread=None):
    network = MLP.create(problem.domain.dimension, hidden, len(problem.fields), key=jax.random.key(0))
    parameters, rest = trainable(problem.solution(network))
    like = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), parameters)
    vector = jax.flatten_util.ravel_pytree(parameters)[0]
    filled = lambda value: jax.tree.map(lambda leaf: jnp.full_like(leaf, value), parameters)  # noqa: E731
    prior = None if spread is None else Prior(filled(0.3), filled(spread))
    vector = vector if spread is None else vector / spread
    return System(PinnObjective(rest), problem.channels(0), jax.random.key(0), prior, like), vector


@pytest.mark.slow
def test_the_loss_is_the_sum_of_squares_in_units_of_noise_and_prior(x64):
    made, vector = system(everything(), spread=2.0)
    found = made.objective.residuals(unraveller(made.like)(2 * vector), made.channels, None, made.key)
    whitened = np.concatenate([(row / c.sigma[:, None]).ravel() for c, row in zip(made.channels, found, strict=True)])
    assert made.loss(vector) == pytest.approx(np.sum(whitened**2) + np.sum((2 * vector - 0.3) ** 2) / 4)


@pytest.mark.slow
def test_loss_weights_have_no_part_in_it(x64):
    plain, heavy = (epinn.Initial(1.0, sigma=0.1, weight=w) for w in (None, 4.0))
    one, four = (system(decay(equation=(), initial=c)) for c in (plain, heavy))
    assert four[0].loss(four[1]) == pytest.approx(float(one[0].loss(one[1])))


@pytest.mark.slow
def test_the_jacobian_is_that_of_the_rows(x64):
    made, vector = system(everything())
    both = jax.jit(lambda v: (made.jacobian(v), jax.jacfwd(made.rows)(v)))
    np.testing.assert_allclose(*both(vector), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [None, 0.2])
@pytest.mark.parametrize("hidden", [(3,), (20,)])  # fewer parameters than rows, and more
def test_a_step_solves_the_damped_normal_equations(x64, hidden, spread, monkeypatch):
    monkeypatch.setattr(newton, "CG_TOLERANCE", 1e-10)
    monkeypatch.setattr(newton, "CG_STEPS", 1000)
    made, vector = system(everything(), hidden, spread)
    jacobian, rows = np.asarray(made.jacobian(vector)), np.asarray(made.rows(vector))
    assert (jacobian.shape[0] > jacobian.shape[1]) == (hidden == (3,))
    ridge = 0 if spread is None else 1
    matrix = jacobian.T @ jacobian + (10 + ridge) * np.eye(vector.size)
    side = jacobian.T @ rows + ridge * (vector - 0.3 / (spread or 1))
    for solve, rtol in ((newton._dense, 1e-9), (newton._free, 1e-4)):
        step = jax.jit(solve(made, vector)[1])(jnp.asarray(10.0))[0]
        np.testing.assert_allclose(step, -np.linalg.solve(matrix, side), rtol=rtol, atol=1e-6)


@pytest.mark.slow
def test_a_bent_step_follows_the_residuals_to_second_order(x64, monkeypatch):
    """With r(v + s d + s^2 a) the residual that linearisation promises, (1 - s) r, is met to s^2 where rows are independent."""
    monkeypatch.setattr(newton, "BENT", np.inf)
    monkeypatch.setattr(newton, "AHEAD", 1e-4)  # where the curvature is that of the residuals here
    made, vector = system(everything(), (20,), None)
    rows, damping = made.rows(vector), jnp.asarray(1e-6)
    straight, bent = jax.jit(newton._dense(made, vector)[1])(damping)
    bend = bent - straight
    assert float(jnp.linalg.norm(bend)) > 0
    off = []
    for s in (0.002, 0.001):
        promised = (1 - s) * rows
        off.append([float(jnp.linalg.norm(made.rows(vector + s * straight + s * s * b) - promised)) for b in (0 * bend, bend)])
    assert off[0][0] / off[1][0] == pytest.approx(4, rel=0.3)  # the straight step is off by s^2,
    assert off[0][1] / off[1][1] == pytest.approx(8, rel=0.4)  # the bent one by s^3


@pytest.mark.slow
def test_a_linear_model_is_fitted_exactly_and_then_it_stops():
    x = np.linspace(-1, 1, 9)
    y = 0.7 * x - 0.4 + 0.1 * np.random.default_rng(0).normal(size=9)
    problem = epinn.Problem(domain=epinn.Box(x=(-1, 1)), equation=(), data=epinn.Data(x, y, sigma=0.1))
    start = epinn.fit(problem, base=epinn.Base(hidden=(), epochs=0, newton=0))
    parameters, rest = trainable(stack([start.solution]))
    keys = jax.random.split(jax.random.key(0), 1)
    outcome = newton.gauss_newton(PinnObjective(rest), parameters, stack([start.channels]), keys=keys, steps=5000)
    (solution,) = unstack(eqx.combine(outcome.parameters, rest), 1)
    np.testing.assert_allclose(solution(jnp.asarray(x[:, None]))[:, 0], np.polyval(np.polyfit(x, y, 1), x), atol=1e-5)
    assert outcome.steps[-1] < 500


def error(pinn):
    t = np.linspace(0, 1, 50)
    return float(np.sqrt(np.mean((np.asarray(pinn(t)[:, 0]) - np.exp(-t)) ** 2)))


@pytest.fixture(scope="module")
def fitted():
    return epinn.fit(decay(), base=dataclasses.replace(START, newton=60))


def test_it_reaches_what_adam_does_not(fitted):
    assert error(epinn.fit(decay(), base=START)) > 1e-3
    assert error(fitted) < 1e-4


@pytest.mark.slow
def test_without_a_matrix_it_gets_there_too(monkeypatch):
    monkeypatch.setattr("epinn.solve.optimise.smaller_space.DENSE", 0)
    assert error(epinn.fit(decay(), base=dataclasses.replace(START, newton=61))) < 1e-4


def test_the_solution_keeps_its_precision(fitted):
    assert {leaf.dtype for leaf in jax.tree.leaves(trainable(fitted.solution)[0])} == {np.dtype(np.float32)}
    assert jnp.zeros(()).dtype == np.float32


def test_an_unknown_parameter_is_found():
    t = np.linspace(0.1, 1, 8)
    problem = decay(
        equation=lambda u, k: u.t + k * u,
        unknowns={"k": epinn.Unknown(0.5, positive=True)},
        data=epinn.Data(t, np.exp(-2.0 * t), sigma=0.01),
    )
    pinn = epinn.fit(problem, base=dataclasses.replace(START, newton=80))
    assert float(pinn.solution.unknowns["k"]) == pytest.approx(2.0, abs=5e-3)


@pytest.mark.slow
def test_seeds_go_down_on_their_own(fitted):
    base = dataclasses.replace(START, newton=60)
    both = epinn.fit_seeds([decay()] * 2, keys=[0, 1], base=base)
    np.testing.assert_allclose(both[0]([[0.3]]), fitted([[0.3]]), rtol=1e-5)
    assert error(both[1]) < 1e-4


def test_work_is_limited():
    problem = decay()
    unlimited, limited = (newton_steps(problem, work) for work in (1e15, 3e5))
    assert 1 <= limited < unlimited


def newton_steps(problem, work):
    """How many Gauss-Newton steps were announced."""
    announced = []

    class Listener(epinn.Progress):
        def __call__(self, stage, step, total, values):
            if stage.startswith("newton"):
                announced.append(total)

    epinn.fit(problem, base=dataclasses.replace(START, epochs=1, newton=9, newton_work=work, stages=1), progress=Listener())
    return announced[-1]
