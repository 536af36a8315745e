"""Where the zones of a broken domain meet: what is asked there, and that the right solution satisfies it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import Opaque
from epinn.problem.channel import residuals

pytestmark = pytest.mark.usefixtures("quick_compile")

LEFT, RIGHT, MEET = 3.0, 0.5, 40.0  # conductivities, and where they meet on the way from 0 to 100


def bar(equation, **more):
    return epinn.Problem(domain=epinn.Box(x=(0, MEET, 100)), equation=equation, boundary=epinn.Dirichlet(0.0), **more)


def names(problem):
    return [channel.name for channel in problem.channels(0)]


def conductivity(x):
    return jnp.where(x < MEET, LEFT, RIGHT)


def test_a_flux_is_continuous_where_a_coefficient_jumps():
    problem = bar(lambda u, x: (u.x * conductivity(x)).x)
    assert names(problem)[2:] == ["joint at x=40", "flux of equation at x=40"]


def test_without_a_flux_the_slope_is_continuous():
    joint = bar(lambda u, x: u.xx - jnp.where(x < MEET, 1.0, 0.0)).channels(0)[2]
    assert joint.name == "joint at x=40"
    assert joint.target.shape[1] == 2  # value and slope


def test_a_field_that_is_nowhere_differentiated_may_jump():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, MEET, 100)),
        fields=("u", "k"),
        equation=lambda u, k: (k * u.x).x,
        boundary=epinn.Dirichlet(0.0, field="u"),
    )
    joint = next(c for c in problem.channels(0) if c.name == "joint at x=40")
    assert joint.target.shape[1] == 1  # u alone


def test_a_beam_has_continuous_deflection_slope_moment_and_shear():
    beam = epinn.Problem(
        domain=epinn.Box(x=(0, MEET, 100)), fields="w", equation=lambda w, x: (w.xx * conductivity(x)).xx - 1.0
    )
    found = [c for c in beam.channels(0) if "x=40" in c.name]
    assert [c.target.shape[1] for c in found] == [2, 1, 1]


def test_the_solution_of_a_two_zone_problem_satisfies_all_of_it(x64):
    """u falls from 1 to 0 with one flux through both zones."""
    resistance = MEET / LEFT + (100 - MEET) / RIGHT

    def exact(x):
        return 1 - (jnp.minimum(x, MEET) / LEFT + (jnp.maximum(x, MEET) - MEET) / RIGHT) / resistance

    problem = epinn.Problem(
        domain=epinn.Box(x=(0, MEET, 100)),
        equation=lambda u, x: (u.x * conductivity(x)).x,
        boundary=[epinn.Dirichlet(1.0, on="x=0"), epinn.Dirichlet(0.0, on="x=100")],
    )
    channels = problem.channels(0)
    left = residuals(channels, problem.solution(Opaque(lambda x: exact(x[0])[None])))
    for channel, rows in zip(channels, left, strict=True):
        np.testing.assert_allclose(rows, 0, atol=1e-4, err_msg=channel.name)


def test_points_keep_clear_of_breaks():
    points = np.asarray(bar(lambda u: u.xx).channels(0)[0].points)
    assert np.abs(points - MEET).min() > 1e-4
    assert len(points) == 2 * 128  # so many in each zone


def test_a_number_of_points_that_was_said_is_that_of_all_zones():
    assert len(bar(lambda u: u.xx).with_points(collocation=50).channels(0)[0].points) == 50


def test_a_network_in_pieces_takes_the_piece_that_a_point_is_in():
    problem = epinn.Problem(domain=epinn.Box(x=(0, 1, 2), y=(0, 1)), equation=lambda u: u.xx + u.yy)
    network = epinn.Base(hidden=(4,)).network(problem, jax.random.key(0))
    one_of = lambda k: jax.tree.map(lambda leaf: leaf[k], network.networks)  # noqa: E731
    np.testing.assert_allclose(network(jnp.asarray([-0.5, 0.2])), one_of(0)(jnp.asarray([0.0, 0.2])), rtol=1e-6)
    np.testing.assert_allclose(network(jnp.asarray([0.25, 0.2])), one_of(1)(jnp.asarray([-0.5, 0.2])), rtol=1e-6)


@pytest.mark.slow
def test_a_kink_is_found():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, MEET, 100)),
        equation=lambda u, x: (u.x * conductivity(x)).x + 0.01,
        boundary=[epinn.Dirichlet(20.0, on="x=0"), epinn.Dirichlet(10.0, on="x=100")],
    )
    pinn = epinn.fit(problem, key=0)

    def fall(x, n):
        return (np.minimum(x, MEET) ** n / LEFT + (np.maximum(x, MEET) ** n - MEET**n) / RIGHT) / n

    x = np.linspace(0, 100, 201)
    inflow = (10 - 0.01 * fall(100, 2)) / fall(100, 1)
    exact = 20 - inflow * fall(x, 1) - 0.01 * fall(x, 2)
    assert not pinn.warnings
    np.testing.assert_allclose(np.asarray(pinn(x))[:, 0], exact, atol=0.01)
