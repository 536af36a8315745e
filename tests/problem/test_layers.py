"""Layers at walls: where an equation may make some, how thin, and where points go."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.problem.scales import Scales

pytestmark = pytest.mark.usefixtures("quick_compile")


def walls(equation, length=2.0, **more):
    """The layers of a problem along one coordinate."""
    fields = more.pop("fields", ("u",))
    boundary = more.pop("boundary", [epinn.Dirichlet(0.0, field=name) for name in fields])
    problem = epinn.Problem(epinn.Box(x=(0, length)), equation, boundary=boundary, fields=fields, **more)
    return Scales.of(problem).layers


@pytest.mark.parametrize("length", [2.0, 2e-3, 2e4])
def test_a_stream_with_little_diffusion_has_them_at_both_walls_in_any_unit(length):
    found = walls(lambda u: u.x - 1e-3 * (length / 2) * u.xx - 1 / length, length)
    assert [layer.at for layer in found] == [(0.0,), (length,)]
    assert [layer.sign for layer in found] == [1.0, -1.0]
    assert all(layer.width == pytest.approx(1e-3, rel=1e-4) for layer in found)


def test_a_fast_reaction_makes_them_as_wide_as_the_root():
    assert walls(lambda u: 1e-4 * u.xx - u + 1)[0].width == pytest.approx(1e-2, rel=1e-4)


def test_a_field_that_another_one_carries_has_them_too():
    together = walls(lambda u, b: [u.xx + 50 * b.x + 1, b.xx + 50 * u.x], fields=("u", "b"))
    apart = walls([lambda u, b: u.xx + 50 * b.x + 1, lambda u, b: b.xx + 50 * u.x], fields=("u", "b"))
    assert together == apart
    assert 0.3 / 50 < together[0].width < 3 / 50


def test_equations_with_nothing_in_common_make_none():
    assert walls(lambda u, v, w: [u.xx - u + v + 1, v.xx - 2 * v + u + w, w.xx - w + v], fields=("u", "v", "w")) == ()


@pytest.mark.parametrize(
    "equation",
    [
        lambda u: u.xx + 1,
        lambda u: u.x - 0.1 * u.xx,
        lambda u: 1e-4 * u.xx + u,  # waves
        lambda u: u.x - 1,
        lambda u, x: u.xx + u.x / x + 1,  # around an axis
        lambda u, x: x * u.xx + u.x + x,
        lambda u, x: (x**2 * u.x).x + x**2,
        lambda u, x: u.xx + u.x / x - u / x**2,
    ],
)
def test_where_none_are_to_be_expected_there_are_none(equation):
    assert walls(equation) == ()


def test_there_may_be_some_at_the_other_wall_of_a_pipe():
    found = walls(lambda u, x: 1e-4 * (u.xx + u.x / x) - u + 1)
    assert [layer.width for layer in found] == [pytest.approx(1e-2, rel=0.05)] * 2


def test_there_are_none_in_time_along_a_circle_or_beside_corners():
    steady = {"equation": lambda u: u.x - 1e-4 * u.xx - 1e-4 * u.yy, "domain": epinn.Box(x=(0, 2), y=(0, 2))}
    in_time = {
        "equation": lambda u: u.t + u.x - 1e-3 * u.xx,
        "domain": epinn.Box(x=(0, 2), t=(0, 1)),
        "initial": epinn.Initial(0.0),
    }
    cases = [
        (epinn.Problem(**steady, boundary=epinn.Dirichlet(0.0)), 4),
        (epinn.Problem(**steady, boundary=[epinn.Periodic("y"), epinn.Dirichlet(0.0, on="x")]), 2),
        (epinn.Problem(**steady, boundary=[epinn.Dirichlet(0.0, on="x"), epinn.Dirichlet(1.0, on="y")]), 0),
        (epinn.Problem(**in_time, boundary=epinn.Dirichlet(0.0)), 0),
    ]
    assert [len(Scales.of(problem).layers) for problem, _ in cases] == [number for _, number in cases]
    across = Scales.of(cases[0][0]).layers
    assert across[0].width == pytest.approx(1e-4, rel=1e-3)  # where the stream ends
    assert across[2].width == pytest.approx(1e-2, rel=1e-3)  # and along it


def test_points_come_close_and_those_on_the_wall_stay():
    layer = walls(lambda u: u.x - 1e-3 * u.xx)[1]
    points = jnp.linspace(0, 2, 1001)[:, None]
    moved = np.asarray(layer.outside(points))[:, 0]
    assert np.all(np.diff(moved) > 0)
    assert moved[0] == 0
    assert moved[-1] == pytest.approx(2)
    distances = 2 - moved
    for low, high in [(1e-3, 1e-2), (1e-2, 1e-1)]:
        assert 50 < np.sum((distances > low) & (distances < high)) < 200
    grown = np.asarray(layer.growth(jnp.asarray(moved)[:, None]))
    assert grown[-1] == pytest.approx(1e3, rel=1e-3)
    assert grown[0] < 1


def test_terms_of_a_reaction_do_not_grow_at_a_wall():
    layer = walls(lambda u: 1e-4 * u.xx - u + 1)[0]
    np.testing.assert_array_equal(layer.growth(jnp.asarray([[0.0], [1.0]])), 0.0)


def test_among_measurements_there_are_none():
    assert walls(lambda u: u.x - 1e-3 * u.xx, data=epinn.Data([1.0], [0.5], sigma=0.1)) == ()


def test_a_network_that_is_shown_them_sees_each_decade_alike():
    problem = epinn.Problem(epinn.Box(x=(0, 2)), lambda u: u.x - 1e-4 * u.xx, boundary=epinn.Dirichlet(0.0))
    shown = Scales.of(problem).with_directions().directions
    with jax.enable_x64(True):
        near, far = np.asarray([shown(jnp.asarray([-1 + d])) for d in (1e-3, 1e-2, 1e-1, 2.0)]).T
    assert near[-1] == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(np.diff(near[:3]), np.log(10) / np.arcsinh(2e4), rtol=0.01)
    assert far[0] == pytest.approx(1.0, rel=1e-3)
