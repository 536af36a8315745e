"""Solutions without training: in windows of time, with the error that they state, and trained when somebody needs it."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import epinn
from epinn.derivatives.composed import Pieces
from epinn.derivatives.staged import first_stage, is_untrained, last_stage
from epinn.solve.windows import windows_of

PERIODS = 12


@pytest.fixture(scope="module")
def swinging():
    """A pendulum of small swings in millimetres over many periods: too many for one window."""
    problem = epinn.Problem(
        domain=epinn.Box(t=(0, 2 * np.pi * PERIODS)),
        equation=lambda u: u.tt + u,
        initial=[epinn.Initial(30.0), epinn.Initial(0.0, order=1)],
    )
    return epinn.fit(problem, key=0)


@pytest.mark.slow
def test_many_periods_are_solved_without_training(swinging):
    times = np.linspace(0, 2 * np.pi * PERIODS, 500)
    error = np.sqrt(np.mean((np.asarray(swinging(times))[:, 0] - 30 * np.cos(times)) ** 2))
    assert is_untrained(swinging.solution.network)
    assert not swinging.warnings
    assert error < 1e-4 * 30
    stated = float(last_stage(swinging.solution.network).remains[0] * swinging.solution.units.scale[0])
    assert error < 2 * stated


@pytest.mark.slow
def test_its_band_holds_the_truth(swinging):
    times = np.linspace(0, 2 * np.pi * PERIODS, 200)
    band = epinn.attach(swinging, key=1)
    mean, std = band.predict(times)
    assert np.mean(np.abs(mean - 30 * np.cos(times)) <= 1.96 * std + 1e-6 * 30) > 0.8
    assert band.verdict.word == "trustworthy"


@pytest.mark.slow
def test_what_grows_from_next_to_nothing_is_followed():
    """Ten thousandfold growth: a window that begins a little wrong ends very wrong, and is not called solved."""
    problem = epinn.Problem(
        domain=epinn.Box(t=(0, 24)), equation=lambda N: N.t - 0.9 * N * (1 - N / 1e9), fields=("N",), initial=epinn.Initial(1e5)
    )
    pinn = epinn.fit(problem, key=0)
    times = np.linspace(0, 24, 200)
    exact = 1e9 / (1 + (1e9 / 1e5 - 1) * np.exp(-0.9 * times))
    np.testing.assert_allclose(np.asarray(pinn(times))[:, 0], exact, atol=1e-4 * 1e9)
    network = first_stage(pinn.solution.network)
    assert isinstance(network, Pieces)
    assert len(windows_of(pinn.solution)["t"]) > 0


@pytest.mark.slow
def test_a_fuel_that_ignites_and_is_burned_at_once_is_followed():
    """Nothing happens for 15 ms, all of it in 0.05 ms, and nothing more: a window is as short as that, and then long again."""
    factor, activation, heat = 1e8, 1.2e4, 900.0

    def rates(_, state):
        burned = factor * state[1] * np.exp(-activation / state[0])
        return [heat * burned, -burned]

    problem = epinn.Problem(
        domain=epinn.Box(t=(0, 0.06)),
        equation={
            "heat": lambda T, c: T.t - heat * factor * c * jnp.exp(-activation / T),
            "fuel": lambda T, c: c.t + factor * c * jnp.exp(-activation / T),
        },
        initial=[epinn.Initial(700.0, field="T"), epinn.Initial(1.0, field="c")],
        fields=("T", "c"),
    )
    pinn = epinn.fit(problem, key=0)
    assert is_untrained(pinn.solution.network)
    times = np.linspace(0, 0.06, 301)
    exact = solve_ivp(rates, (0, 0.06), [700.0, 1.0], t_eval=times, method="Radau", rtol=1e-10, atol=1e-12).y.T
    assert np.max(np.abs(np.asarray(pinn(times)) - exact) / [900.0, 1.0]) < 1e-5
    lengths = np.diff([0.0, *windows_of(pinn.solution)["t"], 0.06])
    assert min(lengths) < 0.01 * 0.06
    assert lengths[-1] > 10 * min(lengths)


def test_a_front_too_steep_for_random_units_is_left_to_a_network():
    problem = epinn.Problem(
        domain=epinn.Box(x=(-1, 1)), equation=lambda u: 2e-3 * u.xx - u * u.x, boundary=epinn.Dirichlet(lambda x: -jnp.sign(x))
    )
    pinn = epinn.fit(problem, key=0, base=epinn.Base(hidden=(4,), epochs=1, newton=1, restarts=0))
    assert not is_untrained(pinn.solution.network)


def heated(time, since=0.0):
    """A steel rod of 50 mm that is suddenly heated by 180 K at one end, and the first minutes of it exactly."""
    diffusivity, length = 12e-6, 0.05
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, length), t=(0, time)),
        fields=("T",),
        equation=lambda T: T.t - diffusivity * T.xx,
        boundary=[
            epinn.Dirichlet(lambda t: jnp.where(t < since, 293.0, 473.0), on="x=0")
            if since
            else epinn.Dirichlet(473.0, on="x=0"),
            epinn.Dirichlet(293.0, on="x=max"),
        ],
        initial=epinn.Initial(293.0),
    )
    waves = np.arange(1, 400)[:, None] * np.pi / length

    def exact(x, t):
        rest = -2 / (waves * length) * np.sin(waves * x) * np.exp(-(waves**2) * diffusivity * np.maximum(t - since, 0.0))
        return np.where(t < since, 293.0, 293 + 180 * (1 - x / length + np.sum(rest, axis=0)))

    return problem, exact


@pytest.fixture(scope="module")
def minute():
    """A band on its first minute."""
    return epinn.attach(epinn.fit(heated(60.0)[0], key=0), method="laplace", key=1)


def check_heated(band, exact, since=0.0):
    random, (_, time) = np.random.default_rng(0), band.pinn.problem.domain.upper
    x, t = random.uniform(0, 0.05, 2000), time * random.uniform(0.001, 1, 2000) ** 2
    mean, std = band.predict(np.stack([x, t], axis=1))
    seen = (t > since + 0.5) | (t < since)  # right after it, so many waves are too few for the exact solution
    error = (np.asarray(mean) - exact(x, t))[seen]
    assert np.sqrt(np.mean(error**2)) < 1e-4 * 180
    assert np.mean(np.abs(error) <= 1.96 * np.asarray(std)[seen]) > 0.8
    assert band.verdict.word == "trustworthy"


@pytest.mark.slow
def test_what_is_suddenly_heated_is_solved_up_to_the_corner(minute):
    check_heated(minute, heated(60.0)[1])
    assert not windows_of(minute.pinn.solution)


@pytest.mark.slow
def test_a_long_time_after_it_is_solved_in_windows():
    problem, exact = heated(3000.0)
    band = epinn.attach(epinn.fit(problem, key=0), key=1)
    check_heated(band, exact)
    assert windows_of(band.pinn.solution)


@pytest.mark.slow
def test_so_is_what_is_heated_in_the_middle_of_time():
    """Half of all time nothing happens. Then a window ends, and the next one begins with a corner."""
    problem, exact = heated(60.0, since=25.0)
    band = epinn.attach(epinn.fit(problem, key=0), key=1)
    check_heated(band, exact, since=25.0)
    assert 25.0 in windows_of(band.pinn.solution)["t"]


@pytest.mark.slow
def test_a_solution_with_directions_is_kept_in_files(minute, tmp_path):
    minute.save(tmp_path / "rod.epinn")
    points = np.stack([np.linspace(0, 0.05, 20), np.linspace(0, 60, 20)], axis=1)
    (mean, std), (again, spread) = (
        band.predict(points) for band in (minute, epinn.load(tmp_path / "rod.epinn", heated(60.0)[0]))
    )
    np.testing.assert_allclose(again, mean)
    np.testing.assert_allclose(spread, std)


@pytest.mark.slow
@pytest.mark.parametrize("peclet", [100, 1000])
def test_a_stream_with_little_diffusion_is_solved_up_to_its_layer(peclet):
    """Air of 350 K that is cooled to 300 K at the end of 20 mm. Trained, a network missed it by 30 K at a thousand."""
    length, steep = 20.0, peclet
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, length)),
        equation=lambda T: T.x - length / steep * T.xx,
        fields="T",
        boundary=[epinn.Dirichlet(350.0, on="x=min"), epinn.Dirichlet(300.0, on="x=max")],
    )
    band = epinn.attach(epinn.fit(problem, key=0), key=1)
    x = np.linspace(0, length, 2001)
    mean, std = band.predict(x)
    error = np.asarray(mean) - (350 - 50 * np.exp((x - length) * steep / length))
    assert "2 walls" in repr(band.pinn)
    assert np.max(np.abs(error)) < 1e-4 * 50
    assert np.mean(np.abs(error) <= 1.96 * np.asarray(std) + 1e-7 * 350) > 0.9
    assert band.verdict.word == "trustworthy"
