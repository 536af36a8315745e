"""Training: it converges, it is reproducible, seeds are independent, and it stops when it must."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.problem.channel import residuals
from epinn.progress import Progress
from epinn.solve.optimise.adam import SCHEDULES, Descent, Weights

pytestmark = pytest.mark.usefixtures("quick_compile")

TINY = epinn.Base(hidden=(8, 8), epochs=400, learning_rate=1e-2, newton=0, restarts=0)


def decay(**changes):
    """u' = -u from u(0) = 1."""
    defaults = {
        "domain": epinn.Box(t=(0, 1)),
        "equation": decay_equation,
        "initial": epinn.Initial(1.0),
        "exact": lambda t: jnp.exp(-t),
        "points": epinn.Points(collocation=16),
    }
    return epinn.Problem(**defaults | changes)


def decay_equation(u):
    return u.t + u


def decay_with(rate):
    return lambda u: u.t + rate * u


def error(pinn):
    grid = np.linspace(0, 1, 50)
    return float(jnp.sqrt(jnp.mean((pinn(grid)[:, 0] - jnp.exp(-grid)) ** 2)))


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_adam_solves_an_ordinary_differential_equation(schedule):
    assert error(epinn.fit(decay(), base=dataclasses.replace(TINY, schedule=schedule))) < 0.06


@pytest.mark.slow
def test_lbfgs_alone_and_as_polish_reaches_what_adam_does_not():
    adam = epinn.fit(decay(), base=TINY)
    polished = epinn.fit(decay(), base=dataclasses.replace(TINY, polish=60))
    alone = epinn.fit(decay(), base=dataclasses.replace(TINY, optimizer="lbfgs", epochs=100))
    assert error(polished) < 0.3 * error(adam)
    assert error(alone) < 1e-3


@pytest.mark.slow
def test_self_adaptive_weights_solve_it_too():
    pinn = epinn.fit(decay(), base=TINY, weights=Weights(mode="self-adaptive"))
    assert error(pinn) < 0.02


@pytest.mark.slow
def test_resampling_trains_on_new_points_every_k_steps():
    latin = decay(points=epinn.Points(collocation=4, sampling="latin", resample=10))
    fixed = decay(points=epinn.Points(collocation=4, sampling="latin"))
    base = dataclasses.replace(TINY, epochs=600)
    resampled, still = epinn.fit(latin, base=base), epinn.fit(fixed, base=base)
    assert error(resampled) < 0.02
    assert not np.allclose(resampled(np.ones(1)), still(np.ones(1)), rtol=1e-6)


def test_an_uneven_number_of_epochs_is_taken_exactly():
    problem = decay(points=epinn.Points(collocation=4, sampling="latin", resample=7))
    pinn = epinn.fit(problem, base=dataclasses.replace(TINY, epochs=103))
    assert pinn.steps[-1] == 103


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    first, again, other = (epinn.fit(decay(), key=key, base=TINY) for key in (3, 3, 4))
    grid = np.linspace(0, 1, 7)
    assert np.array_equal(first(grid), again(grid))
    assert not np.array_equal(first(grid), other(grid))


@pytest.mark.slow
def test_a_seed_trained_among_others_is_the_seed_trained_alone():
    base = dataclasses.replace(TINY, epochs=50)
    together = epinn.fit_seeds([decay()] * 3, keys=[0, 1, 2], base=base)
    alone = epinn.fit(decay(), key=1, base=base)
    grid = np.linspace(0, 1, 7)
    np.testing.assert_allclose(together[1](grid), alone(grid), rtol=1e-3, atol=1e-5)


@pytest.mark.slow
def test_problems_of_one_batch_keep_their_own_data():
    times = np.linspace(0, 1, 5)
    problems = [decay(equation=(), initial=(), data=epinn.Data(times, np.full(5, value), sigma=0.1)) for value in (1.0, -2.0)]
    pinns = epinn.fit_seeds(problems, keys=[0, 1], base=TINY)
    np.testing.assert_allclose([float(pinn(np.full(1, 0.5))[0, 0]) for pinn in pinns], [1.0, -2.0], atol=0.05)


def test_progress_hears_the_losses_by_channel_and_the_end():
    heard = []

    class Ear(Progress):
        def __call__(self, stage, step, total, values):
            heard.append((stage, step, total, dict(values)))

    epinn.fit(decay(), base=dataclasses.replace(TINY, hard=False), progress=Ear())
    assert heard[0][1] == 0
    assert heard[-1][1] == heard[-1][2] == TINY.epochs
    assert set(heard[-1][3]) == {"equation", "initial"}


@pytest.mark.slow
def test_a_loss_that_becomes_nan_names_channel_and_step_and_keeps_good_weights():
    broken = decay(equation=lambda u: jnp.sqrt(u - 0.5) + u.t)  # the root fails once u sinks below one half
    (pinn,) = epinn.fit_seeds([broken], keys=[0], base=dataclasses.replace(TINY, epochs=2000, dimensionless=False))
    assert "'equation'" in pinn.failure
    assert "at step" in pinn.failure
    assert "\n" not in pinn.failure
    assert all(bool(jnp.all(jnp.isfinite(leaf))) for leaf in jax.tree.leaves(eqx.filter(pinn.solution, eqx.is_array)))
    with pytest.raises(epinn.Diverged, match="learning rate"):
        epinn.fit(broken, base=dataclasses.replace(TINY, epochs=2000, dimensionless=False))


@pytest.mark.slow
def test_the_weights_that_are_kept_have_a_finite_loss():
    broken = decay(equation=lambda u: jnp.log(u + 2.0) + 5.0)
    (pinn,) = epinn.fit_seeds([broken], keys=[0], base=dataclasses.replace(TINY, learning_rate=0.5, dimensionless=False))
    assert pinn.failure
    assert all(bool(jnp.all(jnp.isfinite(row))) for row in residuals(pinn.channels, pinn.solution))


@pytest.mark.slow
def test_a_gradient_that_is_nan_stops_training_before_it_spoils_the_weights():
    kink = decay(equation=lambda u: jnp.sqrt(jnp.abs(u - u)), initial=())
    (pinn,) = epinn.fit_seeds([kink], keys=[0], base=TINY)
    assert pinn.failure
    assert all(bool(jnp.all(jnp.isfinite(leaf))) for leaf in jax.tree.leaves(eqx.filter(pinn.solution, eqx.is_array)))


@pytest.mark.slow
def test_equations_that_differ_between_seeds_are_not_trained_together():
    problems = [decay(equation=decay_with(rate)) for rate in (1.0, 2.0)]
    with pytest.raises(epinn.InputError, match="differs between seeds"):
        epinn.fit_seeds(problems, keys=[0, 1], base=TINY)
    same = [decay(equation=decay_with(rate)) for rate in (1.0, 1.0)]
    assert len(epinn.fit_seeds(same, keys=[0, 1], base=dataclasses.replace(TINY, epochs=2))) == 2


@pytest.mark.slow
def test_resampling_moves_points_and_leaves_each_seed_its_own_targets():
    points = epinn.Points(collocation=4, sampling="uniform", resample=10)
    problems = [decay(equation=lambda u: u.t, initial=epinn.Initial(value), points=points) for value in (1.0, -2.0)]
    pinns = epinn.fit_seeds(problems, keys=[0, 1], base=TINY)
    np.testing.assert_allclose([float(pinn(np.full(1, 0.5))[0, 0]) for pinn in pinns], [1.0, -2.0], atol=0.1)


@pytest.mark.slow
def test_an_exploding_loss_is_stopped():
    wild = decay(equation=lambda u: u.t - u**5)
    (pinn,) = epinn.fit_seeds([wild], keys=[0], base=dataclasses.replace(TINY, learning_rate=50.0, epochs=300))
    assert "exploded" in pinn.failure or "NaN" in pinn.failure


def test_one_diverging_seed_does_not_stop_the_others():
    times = np.linspace(0, 1, 5)
    problems = [
        decay(equation=(), initial=(), data=epinn.Data(times, np.full(5, value), sigma=0.1, operator=root))
        for value in (1.0, -9.0)
    ]
    good, bad = epinn.fit_seeds(problems, keys=[0, 0], base=dataclasses.replace(TINY, epochs=500))
    assert good.failure is None
    assert "data" in bad.failure
    assert good.losses[-1, 0] < 1e-2


def root(u):
    return jnp.sqrt(u + 2.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Descent(10, schedule="cosin"), "cosine"),
        (lambda: Descent(10, optimizer="sgd"), "adam"),
        (lambda: Descent(10, learning_rate=0.0), "positive"),
        (lambda: epinn.fit(decay(), base=TINY, weights=Weights(mode="adaptive")), "self-adaptive"),
        (lambda: epinn.fit(decay(), base=dataclasses.replace(TINY, activation="tanhh")), "tanh"),
        (lambda: epinn.fit(decay(), base=dataclasses.replace(TINY, initialisation="xavir")), "xavier"),
        (
            lambda: epinn.fit(
                decay(points=epinn.Points(8, sampling="latin", resample=5)), base=TINY, weights=Weights(mode="self-adaptive")
            ),
            "resample=0",
        ),
        (lambda: decay(points=epinn.Points(8, sampling="grid", resample=5)), "grid"),
    ],
)
def test_settings_that_make_no_sense_say_what_would(make, message):
    with pytest.raises(epinn.InputError, match=message):
        make()
