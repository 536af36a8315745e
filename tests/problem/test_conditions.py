"""Every condition vanishes on a solution that satisfies it, and on no other; mistakes in it are named."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives.network import Opaque
from epinn.errors import EpinnWarning, InputError
from epinn.problem.boundary import Boundary, Dirichlet, Neumann, Periodic, Robin
from epinn.problem.channel import mean_square, residuals
from epinn.problem.conditions import Constant, Data, Equation, Initial
from epinn.problem.context import Points
from epinn.problem.domain import Box
from epinn.problem.precision import TOLERANCE
from epinn.problem.problem import Problem
from epinn.problem.shorthand import Unknown

pytestmark = pytest.mark.usefixtures("quick_compile")

LINE = Box(x=(0, 1))
SQUARE = Box(x=(0, 1), y=(-1, 2))
SPACETIME = Box(x=(0, 1), t=(2, 3))
FEW = Points(collocation=9, boundary=4, sampling="grid")


def nothing():
    return 0.0


def leftovers(domain, condition, *candidates, fields=("u",), unknowns=None):
    """The largest residual of one condition on each of some candidates, functions of the coordinates."""
    problem = Problem(domain, condition, fields=fields, unknowns=unknowns or {}, points=FEW)

    @jax.jit
    def largest():
        (channel,) = problem.channels(0)
        found = []
        for candidate in candidates:
            (residual,) = residuals([channel], problem.solution(Opaque(_stacked(candidate))))
            assert residual.shape == (len(channel.points), channel.operator.size)
            found.append(jnp.max(jnp.abs(residual)))
        return found

    return [float(value) for value in largest()]


def _stacked(candidate):
    def function(x):
        values = candidate(*x)
        return jnp.stack([jnp.asarray(value, x.dtype) for value in (values if isinstance(values, tuple) else (values,))])

    return function


def channel(condition, domain=LINE, **options):
    return Problem(domain, nothing, extra=condition, points=FEW, **options).channels(0)[1]


CASES = {
    "boundary": (LINE, Boundary(lambda u: u.xx - u, 0.0, on="x=1"), lambda x: jnp.exp(x) * (1 + (1 - x) ** 3), lambda x: x),
    "dirichlet": (LINE, Dirichlet(2.0), lambda x: 2 + x * (1 - x), lambda x: 2 + x),
    "dirichlet function": (SQUARE, Dirichlet(lambda x, y: x * y), lambda x, y: x * y, lambda x, y: x * y + 0.1),
    "dirichlet one face": (SQUARE, Dirichlet(0.0, on="x=1"), lambda x, y: (1 - x) * y, lambda x, y: x),
    "dirichlet two faces": (SQUARE, Dirichlet(0.0, on="x=1, y=2"), lambda x, y: (1 - x) * (2 - y), lambda x, y: 1 - x),
    "dirichlet not in time": (SPACETIME, Dirichlet(0.0), lambda x, t: x * (1 - x) * t, lambda x, t: x * t),
    "dirichlet in time": (SPACETIME, Dirichlet(0.0, on="t=3"), lambda x, t: (3 - t) * x, lambda x, t: (2 - t) * x),
    "neumann": (SQUARE, Neumann(0.0), lambda x, y: x**2 * (1 - x) ** 2 + 7, lambda x, y: x**2),
    "neumann line": (LINE, Neumann(1.0), lambda x: x**2 - x, lambda x: x),
    "robin": (LINE, Robin(2.0, 3.0, lambda x: 5 * jnp.exp(x), on="x=1"), lambda x: jnp.exp(x), lambda x: jnp.exp(-x)),
    "robin low": (LINE, Robin(2.0, 3.0, -1.0, on="x=0"), lambda x: jnp.exp(x), lambda x: jnp.exp(-x)),
    "periodic": (LINE, Periodic("x"), lambda x: jnp.sin(2 * jnp.pi * x), lambda x: jnp.sin(jnp.pi * x)),
    "periodic in y": (SQUARE, Periodic("y"), lambda x, y: x * jnp.cos(2 * jnp.pi / 3 * y), lambda x, y: x + y),
    "periodic values": (SQUARE, Periodic("x", order=0), lambda x, y: x * (1 - x) * y, lambda x, y: x * y),
    "periodic slopes": (LINE, Periodic("x", order=1), lambda x: (x * (1 - x)) ** 2, lambda x: x * (1 - x)),
    "periodic curvature": (LINE, Periodic("x", order=2), lambda x: (x * (1 - x)) ** 3, lambda x: x**3 - 1.5 * x**2 + 0.5 * x),
    "initial": (SPACETIME, Initial(lambda x: x**2), lambda x, t: x**2 + (t - 2), lambda x, t: x**2 + t),
    "initial number": (SPACETIME, Initial(1.0), lambda x, t: 1 + x * (t - 2), lambda x, t: x),
    "initial velocity": (SPACETIME, Initial(3.0, order=1), lambda x, t: x + 3 * t, lambda x, t: 3 + x * t),
    "data": (LINE, Data([0.2, 0.4], [0.04, 0.16]), lambda x: x**2, lambda x: x),
    "data of an operator": (LINE, Data([0.2, 0.4], [0.4, 0.8], operator=lambda u: u.x), lambda x: x**2, lambda x: x),
    "data in a column": (LINE, Data([[0.2], [0.4]], [[0.04], [0.16]]), lambda x: x**2, lambda x: x),
    "data in the plane": (SQUARE, Data([[0.5, 1], [0.2, -1]], [0.5, -0.2]), lambda x, y: x * y, lambda x, y: x),
    "equation": (SQUARE, Equation(lambda u: u.xx + u.yy), lambda x, y: x**2 - y**2, lambda x, y: x**2 + y**2),
    "equation with a source": (LINE, Equation(lambda u, x: u.xx - 6 * x), lambda x: x**3, lambda x: x**2),
    "equation with a number": (LINE, Equation(lambda u: u.xx, 2.0), lambda x: x**2, lambda x: x**3),
    "equation with a function": (LINE, Equation(lambda u: u.xx, lambda x: 6 * x), lambda x: x**3, lambda x: x**2),
    "equation with values": (
        LINE,
        Equation(lambda u: u.xx, [1.2, 2.4], points=[0.2, 0.4]),
        lambda x: x**3,
        lambda x: x**2,
    ),
    "equation with given values": (
        LINE,
        Equation(lambda u, f: u.xx - f, points=[0.2, 0.4], given={"f": [1.2, 2.4]}),
        lambda x: x**3,
        lambda x: x**2,
    ),
    "equation with given values in p": (
        LINE,
        Equation(lambda u, p: u.xx - p.f * p.x, points=[0.2, 0.4], given={"f": [6, 6]}),
        lambda x: x**3,
        lambda x: x**2,
    ),
    "fourth order": (LINE, Equation(lambda u: u.xxxx), lambda x: x**3, lambda x: x**4),
    "wave": (SPACETIME, Equation(lambda u: u.tt - 4 * u.xx), lambda x, t: jnp.sin(x - 2 * t), lambda x, t: jnp.sin(x - t)),
    "mixed": (SPACETIME, Equation(lambda u: u.xt), lambda x, t: x**2 + jnp.exp(t), lambda x, t: x * t),
}


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("case", CASES)
def test_a_condition_vanishes_on_its_solution_and_on_no_other(case):
    domain, condition, right, wrong = CASES[case]
    satisfied, violated = leftovers(domain, condition, right, wrong)
    assert satisfied < 1e-12
    assert violated > 1e-2


SYSTEMS = {
    "cauchy-riemann": (Equation(lambda u, v: (u.x - v.y, u.y + v.x)), (lambda x, y: (x**2 - y**2, 2 * x * y))),
    "dirichlet of v": (Dirichlet(0.0, field="v", on="x"), lambda x, y: (1.0, x * (1 - x))),
    "neumann of v": (Neumann(0.0, field="v", on="y"), lambda x, y: (y, x)),
    "periodic v": (Periodic("x", field="v"), lambda x, y: (x, jnp.sin(2 * jnp.pi * x))),
    "data of v": (Data([[0.5, 1.0]], [3.0], field="v"), lambda x, y: (x, 2 + y)),
    "constant v": (Constant("v"), lambda x, y: (x, 3.0)),
}


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("case", SYSTEMS)
def test_conditions_of_a_system_concern_their_own_field(case):
    condition, right = SYSTEMS[case]
    swapped = lambda x, y: right(x, y)[::-1]  # noqa: E731
    satisfied, violated = leftovers(SQUARE, condition, right, swapped, fields=("u", "v"))
    assert satisfied < 1e-12
    assert violated > 1e-2


@pytest.mark.slow
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    ("face", "flux"),
    [
        ("x=0", lambda x, y: -(2 * x * y + 1)),
        ("x=1", lambda x, y: 2 * x * y + 1),
        ("y=-1", lambda x, y: -(x**2 + 3 * y**2)),
        ("y=2", lambda x, y: x**2 + 3 * y**2),
    ],
)
def test_normals_point_outward_on_every_side_of_a_square(face, flux):
    u = lambda x, y: x**2 * y + y**3 + x  # noqa: E731
    satisfied, violated = leftovers(SQUARE, Neumann(flux, on=face), u, lambda x, y: -u(x, y))
    assert satisfied < 1e-12
    assert violated > 1e-2


@pytest.mark.usefixtures("x64")
def test_normals_of_all_sides_go_with_their_own_points():
    """The flux of u = x + 10 y through the sides is -1, 1, -10, 10, in this order."""
    problem = Problem(SQUARE, nothing, boundary=Neumann(0.0), points=FEW)
    channels = problem.channels(0)
    solution = problem.solution(Opaque(lambda x: x[:1] + 10 * x[1:]))
    flux = np.asarray(jax.jit(lambda: residuals(channels, solution))()[1])
    points = np.asarray(channels[1].points)
    for axis, end, expected in [(0, 0, -1), (0, 1, 1), (1, -1, -10), (1, 2, 10)]:
        block = slice(4 * (2 * axis + (expected > 0)), 4 * (2 * axis + (expected > 0)) + 4)
        np.testing.assert_array_equal(points[block, axis], end)
        np.testing.assert_allclose(flux[block], expected)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("domain", [Box(x=(-1, 1), y=(-1, 1)), Box(x=(-1, 1), y=(-1, 1), t=(0, 1))])
def test_own_points_bring_their_own_normals(domain):
    """On a circle of radius 1/2, r^2 has the outward slope 1; normals have no component in time."""
    angle = np.linspace(0, 6, 7)
    normals = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.concatenate([normals / 2, np.full((7, domain.dimension - 2), 0.3)], axis=1)
    u = lambda x, y, *t: x**2 + y**2 + sum(t)  # noqa: E731
    own = {"points": points, "normals": normals}
    assert leftovers(domain, Neumann(1.0, **own), u, lambda *x: -u(*x)) == [pytest.approx(0, abs=1e-12), pytest.approx(2)]
    assert leftovers(domain, Robin(2.0, 1.0, 1.5 + 0.6 * (domain.dimension - 2), **own), u) == [pytest.approx(0, abs=1e-12)]


@pytest.mark.usefixtures("x64")
def test_own_points_of_an_interval_take_flat_normals():
    condition = Neumann([-2.0, 2.0], points=[0.0, 1.0], normals=[-1.0, 1.0])
    assert leftovers(LINE, condition, lambda x: 2 * x, lambda x: -2 * x) == [0, 4]


@pytest.mark.usefixtures("x64")
def test_dirichlet_values_at_own_points_need_no_normals():
    condition = Dirichlet([0.5, -0.2], points=[[0.5, 1], [0.2, -1]])
    assert leftovers(SQUARE, condition, lambda x, y: x * y, lambda x, y: x * y + 1) == [0, 1]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("unknown", [Unknown(2.5), Unknown(2.5, positive=True), 2.5])
def test_unknown_parameters_enter_the_equation(unknown):
    decay = Equation(lambda u, k: u.x + k * u)
    satisfied, violated = leftovers(
        LINE, decay, lambda x: jnp.exp(-2.5 * x), lambda x: jnp.exp(-2.0 * x), unknowns={"k": unknown}
    )
    assert satisfied < 1e-12
    assert violated > 1e-2


@pytest.mark.usefixtures("x64")
def test_a_constant_field_is_judged_by_its_variance():
    problem = Problem(SQUARE, nothing, extra=Constant("u"), points=FEW)
    channels = problem.channels(0)
    solution = problem.solution(Opaque(lambda x: x[:1] * x[1:]))
    rows = jax.jit(lambda: residuals(channels, solution))()[1]
    values = np.prod(np.asarray(channels[1].points), axis=1)
    np.testing.assert_allclose(rows[:, 0], values - values.mean(), atol=1e-14)
    np.testing.assert_allclose(mean_square(rows), values.var())


def test_both_sides_of_a_periodic_condition_face_each_other():
    for sampling in ("grid", "uniform"):
        problem = Problem(SQUARE, nothing, extra=Periodic("x"), points=Points(9, 4, sampling=sampling))
        sides = problem.channels(0)[1]
        np.testing.assert_array_equal(sides.points[:, 0], 0)
        np.testing.assert_array_equal(sides.partner[:, 0], 1)
        np.testing.assert_array_equal(sides.points[:, 1], sides.partner[:, 1])


@pytest.mark.parametrize(
    ("condition", "instead"),
    [
        (Initial(lambda k: k), 'Boundary(lambda u, k: u - k, on="t=min")'),
        (Initial(lambda x, k: k * x, order=1), 'Boundary(lambda u, k: u.t - k, on="t=min")'),
        (Initial(lambda k: k, points=[0.5]), "Equation(lambda u, k: u - k, points=...)"),
        (Dirichlet(lambda x, k: k * x), 'Boundary(lambda u, k: u - k, on="x")'),
        (Neumann(lambda k: k, on="x=0"), 'Boundary(lambda u, k: u.x - k, on="x=0")'),
        (Equation(lambda u: u.t, lambda k: k), "put it into an operator"),
        (Dirichlet(lambda u: u), "put it into an operator"),
    ],
)
def test_a_given_value_depends_on_nothing_unknown(condition, instead):
    with pytest.raises(InputError, match=f"of x, t alone.*{re.escape(instead)}"):
        channel(condition, SPACETIME, unknowns={"k": 1.0})


def test_an_unknown_value_at_a_point_in_time_is_an_equation():
    with pytest.raises(InputError, match=re.escape("Equation(lambda u, k: u - k, points=...)")):
        channel(Dirichlet(lambda k: k, points=[0.0]), Box(t=(0, 1)), unknowns={"k": 1.0})


@pytest.mark.usefixtures("x64")
def test_an_unknown_value_is_written_as_the_message_says():
    for condition in (Boundary(lambda u, k: u - k, on="t=min"), Equation(lambda u, k: u - k, points=[[0.5, 2]])):
        right, wrong = lambda x, t: 2.5 + x * (t - 2), lambda x, t: t
        satisfied, violated = leftovers(SPACETIME, condition, right, wrong, unknowns={"k": 2.5})
        assert satisfied < 1e-12
        assert violated > 0.1


@pytest.mark.parametrize("name", ["h", None, lambda x: x, float("nan")])
def test_a_coefficient_that_varies_belongs_into_an_operator(name, rejects, types_unchecked):
    for factors in ((name, 1.0), (1.0, name)):
        with rejects("Robin", "Boundary"):
            Robin(*factors)


@pytest.mark.parametrize("make", [Dirichlet, Neumann])
def test_faces_may_come_after_the_value(make):
    assert make(1.0, "x=0").on == make(1.0, on="x=0").on == "x=0"


@pytest.mark.parametrize("domain", [Box(tau=(0, 1)), Box(x=(0, 1), tau=(0, 1))])
def test_time_has_a_name(domain, rejects):
    with rejects("tau", "is time", "call it t"):
        channel(Initial(0.0), domain)


@pytest.mark.parametrize(
    "condition",
    [
        Equation(lambda u: u.t == -u),
        Equation(lambda u: (u.t + u, u.x < u)),
        Boundary(lambda u: u.x != u),
        Data([[0.5, 2.5]], [1.0], operator=lambda u: u > 0),
    ],
)
def test_what_is_true_or_false_is_no_equation(condition, rejects):
    with rejects("true or false", "u.x + u instead of u.x == -u"):
        channel(condition, SPACETIME)


def test_an_initial_condition_sits_at_the_beginning_of_time():
    np.testing.assert_array_equal(channel(Initial(0.0), SPACETIME).points[:, 1], 2)


def test_initial_values_may_be_given_at_points_in_space():
    x, values = [0.0, 0.25, 1.0], [3.0, 4.0, 5.0]
    for domain, rows in [(SPACETIME, [(a, 2.0) for a in x]), (Box(t=(2, 5), x=(0, 1)), [(2.0, a) for a in x])]:
        for points in (x, [[a] for a in x]):
            made = channel(Initial(values, points=points, sigma=[0.1, 0.2, 0.3]), domain)
            np.testing.assert_allclose(made.points, rows)
            np.testing.assert_allclose(made.target[:, 0], values)
            assert not made.sampled
    plane = channel(Initial([1.0], points=[[0.5, 0.25]]), Box(x=(0, 1), t=(2, 5), y=(0, 1)))
    np.testing.assert_allclose(plane.points, [[0.5, 2.0, 0.25]])


@pytest.mark.parametrize(
    ("condition", "domain", "words"),
    [
        (Initial([1.0, 2.0]), SPACETIME, ("initial", "points=")),
        (Initial([1.0, 2.0], points=[0.1]), SPACETIME, ("initial", "(2, 1)")),
        (Initial([1.0], points=[[0.1, 2.0]]), SPACETIME, ("initial", "(1, 2)", "x")),
        (Initial([1.0], points=[1.5]), SPACETIME, ("initial", "1 of 1", "1.5")),
        (Initial([1.0], points=[0.0]), Box(t=(0, 1)), ("initial", "points=")),
        (Initial([1.0], points=["a"]), SPACETIME, ("initial", "points")),
    ],
)
def test_initial_values_at_points_are_checked(condition, domain, words, rejects):
    with rejects(*words):
        channel(condition, domain)


@pytest.mark.parametrize(
    ("condition", "noise", "sigma"),
    [
        (Dirichlet(0.0), "exact", [TOLERANCE]),
        (Dirichlet(0.0, tolerance=0.5), "exact", [0.5]),
        (Dirichlet(0.0, sigma=0.25), "known", [0.25]),
        (Data([0.1, 0.2], [1, 2]), "unknown", [TOLERANCE]),
        (Data([0.1, 0.2], [1, 2], sigma=0.25), "known", [0.25]),
        (Data([0.1, 0.2], [1, 2], sigma=[0.25, 4]), "known", [0.25, 4]),
        (Data([0.1, 0.2], [1, 2], sigma=np.array(0.25)), "known", [0.25]),
        (Data([0.1, 0.2], [1, 2], sigma=None), "exact", [TOLERANCE]),
    ],
)
def test_noise_is_said_not_guessed(condition, noise, sigma):
    made = channel(condition)
    assert made.precision.label == noise
    np.testing.assert_allclose(made.sigma, sigma)


@pytest.mark.parametrize(
    ("condition", "kind", "name", "sampled"),
    [
        (Equation(lambda u: u), "equation", "equation", True),
        (Equation(lambda u: u, points=[0.5]), "equation", "equation", False),
        (Dirichlet(0.0), "boundary", "boundary", True),
        (Dirichlet(0.0, points=[0.5]), "boundary", "boundary", False),
        (Neumann(0.0), "boundary", "neumann", True),
        (Robin(1.0, 1.0), "boundary", "robin", True),
        (Periodic("t"), "boundary", "periodic", True),
        (Initial(0.0), "initial", "initial", True),
        (Data([[0.5, 2.0]], [1.0]), "data", "data", False),
        (Constant("u"), "constraint", "constant", True),
        (Dirichlet(0.0, name="inlet"), "boundary", "inlet", True),
    ],
)
def test_channels_say_what_they_are(condition, kind, name, sampled):
    domain = LINE if getattr(condition, "points", None) == [0.5] else SPACETIME
    made = Problem(domain, condition, points=FEW).channels(0)[0]
    assert (made.kind, made.name, made.sampled) == (kind, name, sampled)


def test_a_weight_is_handed_on():
    assert channel(Dirichlet(0.0, weight=3.0)).weight == 3.0
    assert channel(Dirichlet(0.0)).weight is None


def test_equal_built_in_conditions_share_their_compiled_code():
    first, second = channel(Neumann(1.0)), channel(Neumann(2.0))
    assert first.operator.function == second.operator.function
    assert hash(first.operator.function) == hash(second.operator.function)


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        # shapes
        (Data([0.1, 0.2], [1.0, 2.0, 3.0]), ("data", "(3, 1)", "2")),
        (Data([0.1, 0.2], [[1.0, 2.0], [1.0, 2.0]]), ("data", "(2, 2)", "(2, 1)")),
        (Data([[0.1, 0.2]], [1.0]), ("data", "(1, 2)", "x")),
        (Data(0.1, [1.0]), ("data", "()", "x")),
        (Data([], []), ("data", "(0,)")),
        (Data([0.1], [1.0], name="thermometer", operator=lambda u: (u, u.x)), ("thermometer", "(1, 2)")),
        (Dirichlet([1.0, 2.0, 3.0]), ("boundary", "(3, 1)")),
        (Equation(lambda u, f: u - f, points=[0.1, 0.2], given={"f": [1.0]}), ("f", "equation", "(1,)")),
        (Equation(lambda u: u, [1.0], points=[0.1, 0.2]), ("equation", "(1, 1)", "(2, 1)")),
        (Neumann(0.0, points=[0.0, 1.0], normals=[1.0]), ("neumann", "normals")),
        (Neumann(0.0, points=[0.0, 1.0], normals=[-1.0, 1.0, 1.0]), ("neumann", "normals")),
        (Neumann(0.0, points=[0.0, 1.0], normals=[[-1.0, 0.0], [1.0, 0.0]]), ("neumann", "normals")),
        # values
        (Data([0.1, 0.2], [1.0, NAN]), ("data", "NaN", "1")),
        (Data([0.1, INF], [1.0, 2.0]), ("data", "infinity", "1")),
        (Data(["a"], [1.0]), ("data",)),
        (Data([0.1], ["a"]), ("data",)),
        (Dirichlet(NAN), ("boundary", "NaN")),
        (Dirichlet(lambda x: jnp.log(-1 - x)), ("boundary", "nan", "x=0")),
        (Equation(lambda u, f: u - f, points=[0.1], given={"f": [NAN]}), ("f", "equation")),
        (Neumann(0.0, points=[0.0], normals=[NAN]), ("neumann",)),
        # where
        (Data([0.1, 1.2, 1.3], [1.0, 2.0, 3.0]), ("data", "2 of 3", "1.2")),
        (Dirichlet(0.0, points=[-0.5]), ("boundary", "1 of 1", "-0.5")),
        (Dirichlet(0.0, on="y=0"), ("y", "x")),
        (Dirichlet(0.0, on="x=0.5"), ("x=0.5", "x=0", "x=1")),
        (Periodic("z"), ("z", "x")),
        (Periodic("x=0"), ("x=0",)),
        (Initial(0.0), ("initial", "t")),
        (Neumann(0.0, points=[0.0]), ("neumann", "normals")),
        # noise
        (Data([0.1], [1.0], sigma=0.0), ("sigma", "data")),
        (Data([0.1], [1.0], sigma=-1.0), ("sigma", "data")),
        (Data([0.1], [1.0], sigma=NAN), ("sigma", "data")),
        (Data([0.1, 0.2], [1.0, 2.0], sigma=[1.0, 0.0]), ("sigma", "data")),
        (Data([0.1, 0.2], [1.0, 2.0], sigma=[1.0, 2.0, 3.0]), ("sigma", "data", "(3,)")),
        (Data([0.1], [1.0], sigma="unkown"), ("sigma", "data", "unkown")),
        (Data([0.1], [1.0], name="thermometer", sigma=0.0), ("sigma", "thermometer")),
        (Dirichlet(0.0, tolerance=0.0), ("tolerance", "boundary")),
        # names
        (Dirichlet(0.0, field="v"), ("v", "u")),
        (Constant("v"), ("v", "u")),
        (Equation(lambda u, f: u - f), ("f",)),
        (Equation(lambda u: u.t), ("u.t", "x")),
        (Equation(lambda u, x: u - x, points=[0.1], given={"x": [1.0]}), ("x", "given")),
        (Equation(lambda u: u, points=[0.1], given={"u": [1.0]}), ("u", "given")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else type(value).__name__.lower(),
)
def test_mistakes_are_named(condition, words, rejects):
    with rejects(*words):
        channel(condition)


@pytest.mark.parametrize("along", ["x,y", "x=0"])
def test_periodic_sides_are_those_of_one_coordinate(along, rejects):
    with rejects(along):
        channel(Periodic(along), SQUARE)


@pytest.mark.parametrize("normals", [[1.0, 0.0], [[1, 0], [1, 0], [0, 1]], [[1, 0, 0], [1, 0, 0]]], ids=repr)
def test_normals_in_the_plane_have_one_row_per_point_and_two_columns(normals, rejects):
    with rejects("normals"):
        channel(Neumann(0.0, points=[[0, 1], [1, 1]], normals=normals), SQUARE)


def test_there_is_no_normal_derivative_in_time(rejects):
    with rejects("t=2"):
        channel(Neumann(0.0, on="t=2"), SPACETIME)


def test_given_values_need_points_of_their_own(rejects):
    """Collocation points are drawn, and drawn anew: values for them belong nowhere."""
    with rejects("f", "points"):
        Problem(SQUARE, Equation(lambda u, f: u - f, given={"f": np.zeros(9)}), points=FEW).channels(0)


# Measurements from files


@pytest.fixture
def lab(tmp_path):
    path = tmp_path / "lab.csv"
    path.write_text("t [min],x [mm],T [degC],dT\n140,200,10,0.1\n150,400,20,0.2\n160,,30,0.3\n170,800,40,0.4\n")
    return path


UNITS = {"x": "m", "t": "h", "T": "K"}


def test_a_file_becomes_measurements_in_the_order_of_the_box(lab):
    with pytest.warns(EpinnWarning, match=r"1 of 4 rows are left out, since 'x' is missing there \(line 4\)") as caught:
        data = Data.from_file(lab, coordinates=("t", "x"), value="T", sigma="dT", units=UNITS, name="probe")
    assert caught[0].filename == __file__
    found = channel(data, SPACETIME)
    np.testing.assert_allclose(found.points, [[0.2, 140 / 60], [0.4, 2.5], [0.8, 170 / 60]], rtol=1e-6)
    np.testing.assert_allclose(found.target[:, 0], [283.15, 293.15, 313.15], rtol=1e-6)
    np.testing.assert_allclose(found.sigma, [0.1, 0.2, 0.4], rtol=1e-6)
    assert found.name == "probe"


def test_sigma_of_a_file_is_a_column_a_number_or_unknown(lab):
    columns = {"coordinates": ("x", "t"), "value": "T"}
    assert Data.from_file(lab, **columns).sigma == "unknown"
    assert Data.from_file(lab, **columns, sigma="unknown").sigma == "unknown"
    assert Data.from_file(lab, **columns, sigma=0.5).sigma == 0.5


def test_sensors_outside_are_named_by_their_lines(lab, rejects):
    data = Data.from_file(lab, coordinates=("x", "t"), value="T", units={"x": "m", "t": "s"})
    with rejects("3 of 3", "lines 2, 3, 5", "in t", "units"):
        channel(data, SPACETIME)
    kept, judging = data.parted(1 / 3, jax.random.key(0))
    assert sorted([*kept.lines, *judging.lines]) == [2, 3, 5]
    with rejects("2 of 3", "rows 0, 2", "the farthest by 4 in x"):
        channel(Data([[-1.0], [0.5], [5.0]], [0.0, 0.0, 0.0]))


def test_wrong_coordinates_and_options_of_a_file(lab, rejects):
    with rejects("'time'", "coordinates={'x': 'place', 't': 'time'}"):
        channel(Data([[0.5, 2.5]], [1.0], coordinates=("place", "time")), SPACETIME)
    with rejects("each of x, t once"):
        channel(Data.from_file(lab, coordinates="x", value="T"), SPACETIME)
    with rejects("'fild'", "'field'"):
        Data.from_file(lab, coordinates=("x", "t"), value="T", fild="T")


NOT_FINITE = {
    "in a corner": (Initial(lambda x: jnp.log(x)), ("initial", "-inf", "x=0, t=2")),
    "when time begins": (Dirichlet(lambda t: 1 / (t - 2), on="x=1"), ("boundary", "inf", "x=1, t=2")),
    "in the middle": (Initial(lambda x: 1 / (x - 0.5)), ("initial", "inf", "x=0.5, t=2")),
    "on half of a face": (Neumann(lambda t: jnp.sqrt(2.5 - t), on="x=0"), ("neumann", "nan", "x=0")),
    "of an operator": (Boundary(lambda u: u.x, lambda t: 1 / (t - 3), on="x=0"), ("boundary", "inf", "x=0, t=3")),
    "at a point of one's own": (Initial(lambda x: 1 / x, points=[0.0, 0.5]), ("initial", "inf", "x=0, t=2")),
    "in the interior": (Equation(lambda u: u.t, lambda x: jnp.log(x - 0.9)), ("equation", "nan", "x=")),
}


@pytest.mark.parametrize("where", NOT_FINITE)
def test_a_function_that_is_no_number_somewhere_is_told_with_the_place(rejects, where):
    condition, words = NOT_FINITE[where]
    with rejects():
        Problem(SPACETIME, condition).channels(0)
    with pytest.raises(ValueError) as caught:
        Problem(SPACETIME, condition).channels(0)
    for word in words:
        assert word in str(caught.value)


def test_an_equation_may_have_a_source_that_grows_without_bounds_towards_a_corner():
    Problem(SPACETIME, Equation(lambda u: u.t, lambda x, t: 1 / (x + t - 2))).channels(0)


def test_functions_that_are_numbers_on_their_whole_face_are_taken():
    conditions = [
        Initial(lambda x: jnp.where(x > 0, jnp.sin(x) / jnp.where(x > 0, x, 1), 1)),
        Dirichlet(lambda t: t**0.5, on="x"),
    ]
    Problem(SPACETIME, conditions).channels(0)


@pytest.mark.parametrize(
    "values",
    [np.ma.masked_array([1.0, 2.0], [False, True]), np.array([1j, 2]), np.array(["2024", "2025"], "M8[s]"), [10**400, 1]],
)
def test_values_that_numpy_would_make_other_numbers_of_are_refused(values, rejects):
    with rejects("data"):
        Problem(domain=Box(x=(0, 1)), equation=lambda u: u.xx, data=Data([0.2, 0.4], values)).check()


@pytest.mark.usefixtures("types_unchecked")
@pytest.mark.parametrize("make", [lambda n: Periodic("x", n), lambda n: Initial(0.0, order=n)])
@pytest.mark.parametrize("order", [-1, 1.5, "1", 7, 10**9])
def test_orders_have_limits(make, order, rejects):
    with rejects("order"):
        make(order)


@pytest.mark.usefixtures("types_unchecked")
@pytest.mark.parametrize("name", ["tolerance", "weight", "name"])
def test_options_of_a_wrong_type_are_refused(name, rejects):
    with rejects(name):
        Dirichlet(0.0, **{name: [1, 2]})
