"""Operators as people write them: what they record, what they compute, and what they refuse."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erf

from epinn.derivatives.jet import Jet, opaque
from epinn.derivatives.network import Opaque
from epinn.derivatives.operator import Names, Operator, at_points
from epinn.derivatives.quantity import Quantity
from epinn.errors import InputError

pytestmark = pytest.mark.usefixtures("quick_compile")

NAMES = Names(fields=("u",), coordinates=("x", "t"), unknowns=("nu",))
LINE = Names(fields=("u",), coordinates=("x",))
X, T, NU = 0.6, 0.3, 0.25


def wave(x):
    """u = sin(2 x) exp(t)."""
    return jnp.array([jnp.sin(2 * x[0]) * jnp.exp(x[1])])


U, U_X, U_XX = np.sin(2 * X) * np.exp(T), 2 * np.cos(2 * X) * np.exp(T), -4 * np.sin(2 * X) * np.exp(T)
U_T, U_XT = U, U_X


def apply(function, names=NAMES, fields=wave, point=(X, T), given=None):
    operator = Operator(function, names, tuple(given or ()))

    @jax.jit
    def evaluate(x):
        return operator(opaque(fields, Jet.variable(x, operator.orders)), x, {"nu": jnp.array(NU)}, given or {})

    return evaluate(np.array(point[: len(names.coordinates)], jnp.zeros(()).dtype))


@pytest.mark.parametrize(
    ("function", "orders"),
    [
        (lambda u: u, {(0, 0)}),
        (lambda u: u.x, {(0, 0), (1, 0)}),
        (lambda u: u.t - u.xx, {(0, 0), (0, 1), (1, 0), (2, 0)}),
        (lambda u: u.xt, {(0, 0), (0, 1), (1, 0), (1, 1)}),
        (lambda u: u.tx, {(0, 0), (0, 1), (1, 0), (1, 1)}),
        (lambda u: u.diff("t", "x"), {(0, 0), (0, 1), (1, 0), (1, 1)}),
        (lambda u: u.diff("x", "x", "x"), {(0, 0), (1, 0), (2, 0), (3, 0)}),
        (lambda x, t: x + t, {(0, 0)}),
    ],
)
def test_the_operator_records_what_it_asks_for_and_no_more(function, orders):
    assert set(Operator(function, NAMES).orders) == orders


@pytest.mark.slow
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda u, nu: u.t + u * u.x - nu * u.xx, U_T + U * U_X - NU * U_XX),
        (lambda u: u.xt, U_XT),
        (lambda u: u.diff("x", "t"), U_XT),
        (lambda u: u.diff("t", "x"), U_XT),
        (lambda u: u.diff(), U),
        (lambda u: u, U),
        (lambda u: -u, -U),
        (lambda u: abs(-u), abs(U)),
        (lambda u: u + 1, U + 1),
        (lambda u: 1 + u, U + 1),
        (lambda u: u - 1, U - 1),
        (lambda u: 1 - u, 1 - U),
        (lambda u: u - 293**4, U - 293.0**4),
        (lambda u: 10**12 * u, 1e12 * U),
        (lambda u: u - u.x, U - U_X),
        (lambda u: u.x - u, U_X - U),
        (lambda u: u * u, U * U),
        (lambda u: u**2, U**2),
        (lambda u: 2**u, 2**U),
        (lambda u: u / 2, U / 2),
        (lambda u: 2 / u, 2 / U),
        (lambda u: u / u.x, U / U_X),
        (lambda u: u.x / u, U_X / U),
        (lambda u: sum([u, u.x, u.t]), U + U_X + U_T),
        (lambda u: jnp.tanh(u), np.tanh(U)),
        (lambda u: jnp.exp(u) * jnp.sin(u.x), np.exp(U) * np.sin(U_X)),
        (lambda u: jnp.maximum(u, u.x), max(U, U_X)),
        (lambda u: np.float64(2.0) * u, 2 * U),
        (lambda u: np.float32(2.0) * u, 2 * U),
        (lambda u: np.float64(2.0) - u, 2 - U),
        (lambda u: np.float64(2.0) / u, 2 / U),
        (lambda u: np.float64(2.0) ** u, 2**U),
        (lambda u: np.array(2.0) + u, 2 + U),
        (lambda u, x: x * u, X * U),
        (lambda u, x: x / u, X / U),
    ],
)
def test_arithmetic_equals_a_hand_computation(function, expected):
    np.testing.assert_allclose(apply(function), [expected], rtol=1e-13)


@pytest.mark.parametrize(
    "two",
    [lambda u: 2, lambda u: 2.0, lambda u: np.float32(2), lambda u: u.x, lambda u: u],
    ids=["int", "float", "numpy", "array", "field"],
)
def test_comparisons_select_with_where(two):
    """Of u = 2 x at x = 1, where u and u.x are 2: on the left, on the right, with what is just above it."""

    def function(u):
        value = two(u)
        left = [u < value, u <= value, u > value, u >= value, u == value, u != value]
        right = [value < u, value <= u, value > u, value >= u, value == u, value != u]
        beside = [u < value + 1, u <= value + 1, u > value + 1, u >= value + 1, u == value + 1, u != value + 1]
        return [jnp.where(condition, 1, 0) for condition in (*left, *right, *beside)]

    same, apart = [0, 1, 0, 1, 1, 0], [1, 1, 0, 0, 0, 1]
    assert apply(function, LINE, lambda x: 2 * x, (1.0,)).tolist() == [*same, *same, *apart]


@pytest.mark.parametrize("function", [jax.nn.sigmoid, jax.nn.relu, jax.nn.softplus], ids=lambda f: f.__name__)
def test_functions_of_jax_nn_take_a_field(function):
    np.testing.assert_allclose(apply(lambda u: function(u)), [function(U)], rtol=1e-6)


def test_a_compiled_function_takes_a_field():
    np.testing.assert_allclose(apply(lambda u: jax.jit(lambda v: v * v)(u)), [U**2], rtol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda u, x, t, nu, f: u * f + nu * x + t,
        lambda t, f, nu, x, u: u * f + nu * x + t,
        lambda u, p: u * p.f + p.nu * p.x + p.t,
        lambda p, u, x: u * p.f + p.nu * x + p.t,
        lambda u, p, factor=1.0: factor * u * p.f + p.nu * p.x + p.t,
    ],
)
def test_arguments_are_found_by_name_or_in_p(function):
    np.testing.assert_allclose(apply(function, given={"f": jnp.array(4.0)}), [4 * U + NU * X + T], rtol=1e-6)


@pytest.mark.parametrize("kind", [tuple, list])
def test_several_results_are_several_rows(kind):
    function = lambda u, x: kind([u, u.x, x, 7.0])  # noqa: E731
    assert Operator(function, NAMES).size == 4
    np.testing.assert_allclose(apply(function), [U, U_X, X, 7], rtol=1e-6)


def test_fields_of_a_system_are_told_apart():
    names = Names(fields=("u", "v"), coordinates=("x", "t"))
    fields = lambda x: jnp.array([x[0] ** 2, x[0] * x[1]])  # noqa: E731
    found = apply(lambda u, v: (u.x, v.x, v.t, u * v), names, fields)
    np.testing.assert_allclose(found, [2 * X, T, X, X**2 * X * T], rtol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda u: (u.radius, u.radiusradius, u.radiustheta, u.thetat),
        lambda u: (u.diff("radius"), u.diff("radius", "radius"), u.diff("theta", "radius"), u.diff("t", "theta")),
    ],
)
def test_coordinates_may_have_long_names(function):
    names = Names(fields=("u",), coordinates=("radius", "theta", "t"))
    fields = lambda x: jnp.array([x[0] ** 3 * x[1] ** 2 * x[2]])  # noqa: E731
    r, theta, t = 0.5, 0.7, 0.2
    expected = [3 * r**2 * theta**2 * t, 6 * r * theta**2 * t, 6 * r**2 * theta * t, 2 * r**3 * theta]
    np.testing.assert_allclose(apply(function, names, fields, (r, theta, t)), expected, rtol=1e-5)


def test_equal_operators_are_equal_and_hash_alike():
    function = lambda u: u.x  # noqa: E731
    a, b = Operator(function, NAMES), Operator(function, NAMES)
    assert jax.tree.structure(a) == jax.tree.structure(b)
    assert jax.tree.structure(a) != jax.tree.structure(Operator(lambda u: u.x, NAMES))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda u: u.y, ("u.y", "y", "x")),
        (lambda u: u.xy, ("u.xy", "y", "x")),
        (lambda u: u.diff("y"), ("y", "x")),
        (lambda u: u.diff("x", "z"), ("z", "x")),
        (lambda u, p: u + p.y, ("y",)),
        (lambda v: v.x, ("v", "u", "x")),
        (lambda u, nu: u, ("nu",)),
        (3.0, ("3.0", "function")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_names_that_do_not_exist_are_named(function, words, rejects):
    with rejects(*words):
        Operator(function, LINE)


@pytest.mark.parametrize(
    ("function", "near"),
    [
        (lambda u, kapa: kapa * u, "kappa"),
        (lambda velocty: velocty.x, "velocity"),
        (lambda u, p: u * p.kapa, "kappa"),
        (lambda u, sourc: u * sourc, "source"),
    ],
)
def test_the_nearest_name_is_suggested(function, near, rejects):
    names = Names(fields=("u", "velocity"), coordinates=("x",), unknowns=("kappa",))
    with rejects("did you mean", near):
        Operator(function, names, ("source",))


@pytest.mark.parametrize(
    "function",
    [
        lambda u: u if u > 0 else -u,
        lambda u: u if u.x < 1 else -u,
        lambda u, x: u if x > 0 else -u,
        lambda u: max(u, 0.0),
        lambda u: u and u.x,
        lambda u: u.x if u else u,
    ],
)
def test_branching_on_a_value_points_to_where(function, rejects):
    with rejects("jax.numpy.where"):
        Operator(function, LINE)


@pytest.mark.parametrize(
    "function", [lambda u, x: u.xx - np.sin(x), lambda u: np.tanh(u), lambda u: np.exp(u.x), lambda u, x: u - erf(x)]
)
def test_numpy_functions_point_to_jax_numpy(function, rejects):
    with rejects("jax.numpy", "jnp.exp instead of np.exp"):
        Operator(function, LINE)


@pytest.mark.parametrize(
    "function",
    [
        lambda u, x: u * math.sin(x),
        lambda u: math.sin(u),
        lambda u: float(u.x),
        lambda u, x: u * int(x),
        lambda u: math.floor(u),
    ],
)
def test_functions_of_plain_numbers_point_to_jax_numpy(function, rejects):
    with rejects("jax.numpy", "jnp.sin instead of math.sin"):
        Operator(function, LINE)


def test_a_known_function_has_no_field_in_its_messages():
    with pytest.raises(InputError, match=r"^(?!.*field).*jax.numpy"):
        at_points(lambda x: np.exp(-(x**2)), ("x",), jnp.zeros((1, 1)))


@pytest.mark.parametrize("function", [lambda u: 1j * u, lambda u, x: (u.x, jnp.exp(1j * x) * u), lambda: 1j])
def test_complex_numbers_are_two_fields(function, rejects):
    with rejects("complex", "two fields"):
        Operator(function, LINE)


def test_complex_numbers_on_the_way_are_fine():
    np.testing.assert_allclose(apply(lambda u, x: jnp.abs(u + 1j * x)), [np.hypot(U, X)], rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "used"),
    [
        (lambda u, nu: u, {"u", "nu"}),
        (lambda u, p: u * p.nu + p.x, {"u", "nu", "x"}),
        (lambda u, p: (u * getattr(p, "nu")).x, {"u", "nu"}),  # noqa: B009
        (lambda u, p: u, {"u"}),
        (lambda u, **others: u, {"u"}),
    ],
)
def test_the_names_in_an_operator_are_known(function, used):
    assert Operator(function, NAMES).used == used


@pytest.mark.parametrize("result", [None, "text", {"a": 1.0}, [None], ()], ids=repr)
def test_results_that_are_no_numbers_are_refused(result, rejects):
    with rejects("operator", __file__):
        Operator(lambda u: result, LINE)


def test_derivatives_inside_a_compiled_function_are_refused(rejects):
    with rejects("operator"):
        Operator(lambda u: jax.jit(lambda v: v.x)(u), LINE)


def test_a_private_attribute_is_a_plain_missing_attribute():
    """What probes objects for protocols (numpy, JAX, copy) must not be told about derivatives."""
    with pytest.raises(AttributeError):
        Quantity(None, lambda: 0.0)._x  # noqa: B018


def test_known_functions_are_evaluated_row_by_row():
    points = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_allclose(at_points(lambda t, x: x - 10 * t, ("x", "t"), points), [[-19], [-37], [-55]])
    np.testing.assert_allclose(at_points(lambda p: (p.x, 1.0), ("x", "t"), points), [[1, 1], [3, 1], [5, 1]])
    assert at_points(lambda: 2.5, ("x", "t"), points).tolist() == [[2.5]] * 3


def test_a_known_function_of_an_unknown_coordinate_is_refused(rejects):
    with rejects("y", "x"):
        at_points(lambda y: y, ("x",), jnp.zeros((2, 1)))


def test_a_function_of_jax_numpy_is_a_known_function():
    np.testing.assert_allclose(at_points(jnp.sin, ("x",), jnp.array([[0.5]])), [[np.sin(0.5)]], rtol=1e-6)


def h(x, t):
    """A field for the derivatives of products."""
    return jnp.sin(2 * x) * jnp.exp(-t) + x**3


DIVERGENCES = {
    "field first": (lambda h, x: (h.x * jnp.exp(x)).x, lambda x, t: jnp.exp(x)),
    "coordinate first": (lambda h, x: (x**2 * h.x).x, lambda x, t: x**2),
    "unknown first": (lambda h, k: (k * h.x).x, lambda x, t: 1.5),
    "field times field": (lambda h: ((1 + h**2) * h.x).x, lambda x, t: 1 + h(x, t) ** 2),
    "several factors": (lambda h, x, k: (h.x * jnp.sqrt(1 + x) * k).x, lambda x, t: jnp.sqrt(1 + x) * 1.5),
}


@pytest.mark.parametrize("name", DIVERGENCES)
def test_the_derivative_of_a_product_is_written_as_on_paper(name):
    operator, factor = DIVERGENCES[name]
    with jax.enable_x64(True):
        made = Operator(operator, Names(("h",), ("x", "t"), ("k",)))
        x = jnp.asarray([0.3, 0.7])
        jet = Opaque(lambda p: h(p[0], p[1])[None])(Jet.variable(x, made.orders))
        found = made(jet, x, {"k": jnp.asarray(1.5)}, {})[0]
        flux = lambda x: factor(x, 0.7) * jax.grad(h)(x, 0.7)  # noqa: E731
        np.testing.assert_allclose(found, jax.grad(flux)(0.3), rtol=1e-10)
        inner = Operator(operator, made.names, flux=0)
        np.testing.assert_allclose(inner(jet, x, {"k": jnp.asarray(1.5)}, {}), [flux(0.3)], rtol=1e-10)


def test_a_divergence_asks_for_no_derivative_that_it_does_not_need():
    k = lambda h: 1 + h  # noqa: E731
    divergence = Operator(lambda h: h.t + (k(h) * h.x).x + (k(h) * h.y).y, Names(("h",), ("x", "y", "t")))
    assert set(divergence.orders) == {(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 0, 0), (0, 2, 0)}
    assert divergence.fluxes == ("x", "y")
    assert divergence.asked == {("h", (0, 0, 0)), ("h", (1, 0, 0)), ("h", (0, 1, 0)), ("h", (0, 0, 1))}


def test_derivatives_of_products_can_be_nested():
    beam = Operator(lambda w, x: ((1 + x) * w.xx).xx, Names(("w",), ("x",)))
    assert beam.orders[-1] == (4,)
    with jax.enable_x64(True):
        x = jnp.asarray([0.4])
        jet = Opaque(lambda p: jnp.sin(p))(Jet.variable(x, beam.orders))
        expected = (1 + 0.4) * np.sin(0.4) - 2 * np.cos(0.4)
        np.testing.assert_allclose(beam(jet, x, {}, {})[0], expected, rtol=1e-10)


def test_an_array_in_front_of_a_derivative_gets_advice():
    with pytest.raises(InputError, match=r"put a field in front of it: \(h.x \* k\).x instead of \(k \* h.x\).x"):
        Operator(lambda h, x: (jnp.where(x < 0.5, 1.0, 2.0) * h.x).x, Names(("h",), ("x",)))


def test_a_function_of_a_field_gets_advice_that_works():
    names = Names(("h",), ("x", "t"))
    with pytest.raises(InputError, match=r"\(0 \* h \+ jnp.exp\(h\)\).xx instead of jnp.exp\(h\).xx"):
        Operator(lambda h: jnp.exp(h).xx, names)
    made = Operator(lambda h: (0 * h + jnp.exp(h)).xx, names)
    with jax.enable_x64(True):
        x = jnp.asarray([0.3, 0.7])
        jet = Opaque(lambda p: h(p[0], p[1])[None])(Jet.variable(x, made.orders))
        expected = jax.grad(jax.grad(lambda x: jnp.exp(h(x, 0.7))))(0.3)
        np.testing.assert_allclose(made(jet, x, {}, {}), [expected], rtol=1e-10)
