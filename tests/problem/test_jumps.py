"""Where equations jump, found before anything is solved."""

import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.problem.scales import Scales

pytestmark = pytest.mark.usefixtures("quick_compile")

DATA = epinn.Data(np.linspace(100, 900, 9), np.linspace(49, 46, 9), sigma=0.1)


def breaks(equation, fields=("u",), unknowns=None, data=(), **box):
    problem = epinn.Problem(
        domain=epinn.Box(**box),
        equation=equation,
        fields=fields,
        unknowns=unknowns or {},
        data=data,
        boundary=epinn.Dirichlet(1.0),
    )
    return Scales.of(problem).breaks


def conductivity(x):
    return jnp.where(x < 417.3, 10.0, 1.2)


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        (lambda u, x: (u.x * conductivity(x)).x + 1e-3, (417.3,)),
        (lambda u, p: conductivity(p.x) * u.xx + 1e-3, (417.3,)),
        (lambda u, x: u.xx + jnp.where((x > 250) & (x < 600), 1e-3, 0.0), (250.0, 600.0)),
        (lambda u, x: u.xx + 1e-3 * jnp.sin(x / 20), None),  # varies fast, and does not jump
        (lambda u, x: u.xx + 1e-3 * jnp.tanh((x - 300) / 0.1), None),  # nor does a thin layer
        (lambda u, x: u.xx + 1e-3 * jnp.sign(jnp.sin(x / 10)), None),  # too often
        (lambda u, x: u.xx + jnp.abs(u) * u / (1 + x**2), None),
        (lambda u: u.xx + jnp.where(u > 1.1, 1e-3, 0.0), None),  # jumps with the field, wherever that is
    ],
)
def test_places_along_one_coordinate(equation, expected):
    assert breaks(equation, x=(0, 1000)) == ({} if expected is None else {"x": expected})


def test_unknowns_of_two_zones_may_have_the_same_guess():
    guess = epinn.Unknown(5.0, positive=True)
    found = breaks(
        lambda h, x, K1, K2: (h.x * jnp.where(x < 400, K1, K2)).x + 1e-3,
        fields=("h",),
        unknowns={"K1": guess, "K2": guess},
        data=DATA,
        x=(0, 1000),
    )
    assert found == {"x": (400.0,)}


def test_straight_edges_in_two_dimensions_are_found_and_curved_ones_are_not():
    def layered(inside):
        k = lambda x, y: jnp.where(inside(x, y), 8.0, 1.0)  # noqa: E731
        return lambda u, x, y: (u.x * k(x, y)).x + (u.y * k(x, y)).y + 1.0

    straight = breaks(layered(lambda x, y: (abs(x - 0.5) < 0.2) & (abs(y - 0.4) < 0.15)), x=(0, 1), y=(0, 1))
    assert straight == {"x": (0.3, 0.7), "y": (0.25, 0.55)}
    assert breaks(layered(lambda x, y: (x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.09), x=(0, 1), y=(0, 1)) == {}
    assert breaks(layered(lambda x, y: x + y < 0.8), x=(0, 1), y=(0, 1)) == {}


def test_a_source_alone_is_left_to_one_network_in_two_dimensions():
    assert breaks(lambda u, x: u.xx + u.yy + jnp.where(x < 0.4, 50.0, 0.0), x=(0, 1), y=(0, 1)) == {}


def test_units_do_not_matter():
    found = breaks(lambda u, x: u.xx + 1e9 * jnp.where(x < 1e6 + 2e-4, 1.0, 3.0), x=(1e6, 1e6 + 1e-3))
    assert found["x"] == pytest.approx((1e6 + 2e-4,), abs=2e-9)


def test_a_break_of_the_user_stays_the_only_one():
    assert breaks(lambda u, x: u.xx + jnp.where(x < 0.3, 1.0, 3.0), x=(0, 0.5, 1)) == {}


@pytest.mark.slow
def test_a_source_that_jumps_is_solved_and_told(tmp_path):
    """A quantity with a kink in its slope: u'' = -1 in the left part, 0 in the right."""
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 4)), equation=lambda u, x: u.xx + jnp.where(x < 1.5, 1.0, 0.0), boundary=epinn.Dirichlet(0.0)
    )
    band = epinn.attach(epinn.fit(problem), method="laplace")
    for said in ("2 zones, each 1-23-23-23-1, tanh", "which meet at x = 1.5"):
        assert said in repr(band.pinn)
    x, slope = np.linspace(0, 4, 101), 1.5 * (4 - 0.75) / 4
    exact = np.where(x < 1.5, slope * x - x**2 / 2, slope * x - 1.5 * (x - 0.75))
    np.testing.assert_allclose(band.predict(x).mean, exact, atol=2e-4)
    assert np.max(band.predict(x).std) < 1e-3  # either end holds the estimate of the error
    band.save(tmp_path / "band")
    assert np.array_equal(epinn.load(tmp_path / "band", problem).predict(x).mean, band.predict(x).mean)
