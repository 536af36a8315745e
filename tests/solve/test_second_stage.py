"""Further stages of a fit, against exact solutions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import needs_double
from epinn.derivatives.staged import first_stage, last_stage
from epinn.errors import InputError
from epinn.solve.first_stage import first_stages

pytestmark = pytest.mark.usefixtures("quick_compile")

BRIEF = {"hidden": (16, 16), "epochs": 400, "newton": 0, "restarts": 0}
GRID = np.linspace(0, 200, 101)
EXACT = 300 + 40 * np.sin(GRID / 40) + GRID / 10  # in double precision


def rod(**options):
    """Temperatures in kelvin along a rod of 200 mm that loses heat by radiation; the source makes the solution known."""

    def temperature(x):
        return 300 + 40 * jnp.sin(x / 40) + x / 10

    return epinn.Problem(
        domain=epinn.Box(x=(0, 200)),
        equation=lambda T, x: T.xx + jnp.sin(x / 40) / 40 - 1e-12 * (T**4 - temperature(x) ** 4),
        fields=("T",),
        boundary=epinn.Dirichlet(temperature, **options),
        exact=lambda p: temperature(p.x),
    )


def error(pinn):
    return np.sqrt(np.mean((np.asarray(pinn(GRID))[:, 0] - EXACT) ** 2)) / np.std(EXACT)


@pytest.fixture(scope="module", params=[True, False], ids=["hard", "soft"])
def both(request):
    """A network that was hardly trained, and the same with a second stage."""
    problem = rod(hard=request.param)
    return problem, *(epinn.fit(problem, key=0, base=epinn.Base(**BRIEF, stages=stages)) for stages in (1, 2))


@pytest.mark.slow
def test_a_stage_removes_nearly_all_of_the_error(both):
    _, one, two = both
    assert error(one) > 1e-4
    assert error(two) < 2e-6
    assert not two.warnings
    assert "and a stage of" in repr(two)


@pytest.mark.slow
def test_the_band_knows_what_is_left(both):
    _, _, two = both
    band = epinn.attach(two)
    found = band.predict(GRID)
    assert found.mean.dtype == np.float64
    rounded = 3e-7 * np.std(EXACT)  # what is given at the ends, and has no band
    assert np.mean(np.abs(found.mean - EXACT) <= 2 * found.std + rounded) > 0.9
    assert np.max(found.std) < 1e-4 * np.std(EXACT)
    assert band.verdict.word == "trustworthy"
    assert "the last stage of the network left" in str(band.verdict)


@pytest.mark.slow
def test_a_network_is_corrected_when_a_band_is_attached(both):
    _, one, _ = both
    band = epinn.attach(one, correct=True)
    assert np.sqrt(np.mean((band.predict(GRID).mean - EXACT) ** 2)) < 2e-6 * np.std(EXACT)


def test_a_network_beside_noise_is_not_corrected():
    problem = epinn.Problem(
        epinn.Box(x=(0, 1)), lambda u: u.xx - 1, boundary=epinn.Dirichlet(0.0), data=epinn.Data([0.5], [0.1], sigma=0.1)
    )
    pinn = epinn.fit(problem, base=epinn.Base(hidden=(4,), epochs=1, newton=0, restarts=0, stages=2))
    assert last_stage(pinn.solution.network) is None
    with pytest.warns(epinn.EpinnWarning, match="not corrected: that needs conditions that hold exactly"):
        epinn.attach(pinn, method="dropout", correct=True)


@pytest.mark.slow
def test_a_stage_is_stored(both, tmp_path):
    problem, _, two = both
    band = epinn.attach(two)
    band.save(tmp_path / "band")
    again = epinn.load(tmp_path / "band", problem)
    np.testing.assert_array_equal(again.predict(GRID).mean, band.predict(GRID).mean)


@pytest.mark.slow
def test_methods_that_move_weights_see_the_first_stage(both):
    _, one, two = both
    (first,) = first_stages([two])
    assert first_stages([two])[0] is first  # it was not trained before, and is trained once
    assert last_stage(two.solution.network) is not None
    assert last_stage(first.solution.network) is None
    assert needs_double(two.solution)
    assert not needs_double(first.solution)
    assert error(two) < error(first) < 10 * error(one)


def test_a_network_that_has_one_stage_is_its_first():
    network = epinn.Base(hidden=(4,)).network(rod(), jax.random.key(0))
    assert first_stage(network) is network


def test_a_fit_is_near_enough_after_some_steps():
    """By default there is a second stage, and Gauss-Newton need not do what it does."""
    pinn = epinn.fit(rod(), key=0, base=epinn.Base(hidden=(16, 16), epochs=200))
    assert "and a stage of" in repr(pinn)
    assert error(pinn) < 2e-6
    assert epinn.Base(newton=0).further_stages == 0
    assert epinn.Base(newton=0, stages=2).further_stages == 1


@pytest.mark.slow
def test_a_stage_is_periodic_where_its_network_is():
    """What is by construction has no residual that would show it."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 3), t=(0, 1)),
        equation=lambda u: u.t + 1.5 * u.x,
        boundary=epinn.Periodic("x"),
        initial=epinn.Initial(lambda x: jnp.sin(2 * np.pi * x / 3)),
    )
    pinn = epinn.fit(problem, key=0, base=epinn.Base(hidden=(16, 16), epochs=200))
    assert last_stage(pinn.solution.network) is not None
    t = np.linspace(0, 1, 9)
    left, right = (np.asarray(pinn(np.stack([np.full(9, x), t], axis=1))) for x in (0.0, 3.0))
    np.testing.assert_allclose(left, right, atol=1e-6)


@pytest.mark.slow
def test_windows_meet_where_they_end():
    """Ten periods in windows: what they miss of each other would be an error that no residual shows."""
    problem = epinn.Problem(
        domain=epinn.Box(t=(0, 20)),
        equation=lambda u: u.tt + np.pi**2 * u,
        initial=[epinn.Initial(1.0), epinn.Initial(0.0, order=1)],
    )
    pinn = epinn.fit(problem, key=0)
    assert "windows" in pinn.network_in_words
    t = np.linspace(0, 20, 401)
    assert np.sqrt(np.mean((np.asarray(pinn(t))[:, 0] - np.cos(np.pi * t)) ** 2)) < 3e-6


@pytest.mark.slow
def test_roundings_that_an_equation_amplifies_are_in_the_band():
    """Heat backwards in time: the third harmonic of a rounding grows ten million times."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1), t=(0, 0.2)),
        equation=lambda u: u.t + u.xx,
        boundary=epinn.Dirichlet(0.0),
        initial=epinn.Initial(lambda x: jnp.sin(np.pi * x)),
    )
    pinn = epinn.fit(problem, key=0)
    stage = last_stage(pinn.solution.network)
    points = np.stack(np.meshgrid(np.linspace(0, 1, 41), np.linspace(0, 0.2, 21)), -1).reshape(-1, 2)
    exact = np.exp(np.pi**2 * points[:, 1]) * np.sin(np.pi * points[:, 0])
    error = np.sqrt(np.mean((np.asarray(pinn(points))[:, 0] - exact) ** 2))
    assert stage is None or error < 3 * float(stage.remains[0] * pinn.solution.units.scale[0])


@pytest.mark.slow
def test_what_units_cannot_say_is_left_as_it_was():
    """A front of which a network that has learned nothing shows nothing."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(-1, 1)), equation=lambda u: 1e-3 * u.xx - u * u.x, boundary=epinn.Dirichlet(lambda x: -x)
    )
    pinn = epinn.fit(problem, key=0, base=epinn.Base(hidden=(4,), epochs=1, newton=0, restarts=0, stages=2))
    assert last_stage(pinn.solution.network) is None


def test_there_are_not_many_stages():
    with pytest.raises(InputError, match="between 1 and 5"):
        epinn.Base(stages=0)
