"""A problem: names, short forms, points, unknowns, and its exact solution."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.derivatives.network import MLP, Opaque
from epinn.problem.boundary import Dirichlet, Neumann, Periodic
from epinn.problem.channel import residuals
from epinn.problem.checks import as_points
from epinn.problem.conditions import Constant, Data, Equation, Initial
from epinn.problem.context import Points
from epinn.problem.domain import Box
from epinn.problem.problem import SLOTS, Problem, as_key
from epinn.problem.shorthand import Unknown

pytestmark = pytest.mark.usefixtures("quick_compile")

LINE = Box(x=(0, 1))
SPACETIME = Box(x=(0, 1), t=(0, 1))


def laplace(u):
    return u.xx


def heat(u, k):
    return u.t - k * u.xx


def decaying(x, t):
    return jnp.exp(-0.5 * jnp.pi**2 * t) * jnp.sin(jnp.pi * x)


def test_short_forms_mean_what_they_say():
    problem = Problem(SPACETIME, lambda u: u.t, boundary=0.0, initial=lambda x: jnp.sin(x))
    long = Problem(
        SPACETIME, [Equation(lambda u: u.t)], boundary=[Dirichlet(0.0)], initial=(Initial(lambda x: jnp.sin(x)),), data=None
    )
    for short, full in zip(problem.channels(0), long.channels(0), strict=True):
        assert (short.name, short.kind, short.operator.orders) == (full.name, full.kind, full.operator.orders)
        np.testing.assert_array_equal(short.points, full.points)
        np.testing.assert_array_equal(short.target, full.target)


def test_several_equations_are_several_channels_with_their_names():
    problem = Problem(
        Box(x=(0, 1), y=(0, 1)),
        {"mass": lambda u, v: u.x + v.y, "vorticity": lambda u, v: v.x - u.y},
        fields=("u", "v"),
        points=Points(16),
    )
    channels = problem.channels(0)
    assert [channel.name for channel in channels] == ["mass", "vorticity"]
    solution = problem.solution(Opaque(lambda x: jnp.array([x[1], x[0] ** 2])))
    mass, vorticity = jax.jit(lambda: residuals(channels, solution))()
    np.testing.assert_allclose(mass, 0, atol=1e-6)
    np.testing.assert_allclose(vorticity[:, 0], 2 * channels[1].points[:, 0] - 1, atol=1e-6)


def names(**conditions):
    """What the conditions of a problem are called."""
    problem = Problem(SPACETIME, **({"equation": ()} | conditions))
    return [condition.label for slot in SLOTS for condition in getattr(problem, slot)]


def reading(field, held_out=False):
    return Data([[0, 0]], [0], field=field, held_out=held_out)


def infected(S, I, t):  # noqa: E741
    return S * I


def susceptible(S, I, t):  # noqa: E741
    return S * I


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"equation": laplace, "initial": 0.0, "boundary": 0.0}, ["equation", "boundary", "initial"]),
        (
            {"fields": ("S", "I"), "initial": [Initial(1.0, field="S"), Initial(0.0, "I")]},
            ["initial of S", "initial of I"],
        ),
        ({"initial": [Initial(0.0), Initial(1.0, order=1)]}, ["initial", "initial of u.t"]),
        (
            {"boundary": [Dirichlet(0.0, on="x=0"), Dirichlet(1.0, on="x=1"), Neumann(0.0)]},
            ["boundary at x=0", "boundary at x=1", "neumann"],
        ),
        (
            {"fields": ("u", "v"), "boundary": [Dirichlet(0.0, on="x=0", field=name) for name in "uv"]},
            ["boundary of u at x=0", "boundary of v at x=0"],
        ),
        (
            {"fields": ("u", "v"), "boundary": [Periodic("x", field="u"), Periodic("x", field="v")]},
            ["periodic along x of u", "periodic along x of v"],
        ),
        (
            {"fields": ("u", "v"), "data": [reading("u"), reading("v"), reading("u", True), reading("v", True)]},
            ["data of u", "data of v", "data of u, held out", "data of v, held out"],
        ),
        (
            {"fields": ("u", "v"), "data": [reading("u"), reading("u", True)]},
            ["data", "data, held out"],
        ),
        ({"fields": ("u", "k"), "extra": [Constant("u"), Constant("k")]}, ["constant u", "constant k"]),
        (
            {"fields": ("S", "I"), "equation": [infected, susceptible, lambda S: S.t]},
            ["equation infected", "equation susceptible", "equation"],
        ),
        # what is still alike is numbered, and what the user says stays
        ({"boundary": [Dirichlet(0.0), Dirichlet(1.0), Neumann(0.0), Dirichlet(2.0)]},
         ["boundary", "boundary 2", "neumann", "boundary 3"]),
        ({"boundary": [Dirichlet(0.0, name="inlet"), Dirichlet(1.0, on="x=1")]}, ["inlet", "boundary"]),
        ({"boundary": [Dirichlet(0.0, name="inlet"), Dirichlet(1.0, name="inlet")]}, ["inlet", "inlet 2"]),
    ],
)  # fmt: skip
def test_conditions_are_named_by_what_they_are(conditions, expected):
    assert names(**conditions) == expected


def test_names_stay_when_a_problem_is_changed():
    problem = Problem(SPACETIME, (), initial=[Initial(1.0, field="S"), Initial(0.0, field="I")], fields=("S", "I"))
    again = dataclasses.replace(problem, name="mine")
    assert [condition.label for condition in again.conditions] == ["initial of S", "initial of I"]


@pytest.mark.parametrize(
    "equation",
    [
        {"mass": Equation(lambda u: u.x), "energy": Equation(lambda u: u.t, weight=2.0)},
        {"mass": lambda u: u.x, "energy": Equation(lambda u: u.t, name="other", weight=2.0)},
    ],
)
def test_a_dictionary_names_equations_in_either_form(equation):
    problem = Problem(SPACETIME, equation, points=Points(4))
    assert [(c.name, c.weight) for c in problem.channels()] == [("mass", None), ("energy", 2.0)]


def test_a_dictionary_names_other_conditions_too():
    sides = {"inlet": Dirichlet(1.0, on="x=0"), "outlet": 0.0}
    assert names(boundary=sides) == ["inlet", "outlet"]


def test_a_pressure_may_be_called_p():
    problem = Problem(
        Box(x=(0, 1), y=(0, 1)),
        {"momentum": lambda u, p, point: u * point.x + p.x, "mass": lambda u: u.x},
        boundary=[Dirichlet(0.0, field="p", on="x=1"), Neumann(0.0, field="p", on="y")],
        fields=("u", "p"),
        points=Points(4, 2),
    )
    channels = problem.channels(0)
    solution = problem.solution(Opaque(lambda x: jnp.array([x[1], 3 * x[0] * x[1]])))
    rows = dict(zip([c.name for c in channels], jax.jit(lambda: residuals(channels, solution))(), strict=True))
    x, y = np.asarray(channels[0].points).T
    np.testing.assert_allclose(rows["momentum"][:, 0], x * y + 3 * y, rtol=1e-6)
    np.testing.assert_allclose(rows["boundary"][:, 0], 3 * np.asarray(channels[2].points)[:, 1], rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "value"),
    [
        (lambda: Problem(Box(p=(0, 2)), lambda u, p: u.pp - p), 1.0 - 0.5),
        (lambda: Problem(Box(x=(0, 2)), lambda u, p: u.xx - p, unknowns={"p": 0.25}), 1.0 - 0.25),
        (lambda: Problem(Box(x=(0, 2)), lambda u, point: u.xx - point.p, unknowns={"p": 0.25}), 1.0 - 0.25),
        (lambda: Problem(Box(x=(0, 2)), lambda u, p: u.xx - p.x), 1.0 - 0.5),
    ],
)
def test_a_coordinate_or_an_unknown_may_be_called_p(problem, value):
    made = problem()
    equation = dataclasses.replace(made.equation[0], points=[0.5])
    made = dataclasses.replace(made, equation=equation)
    (row,) = residuals(made.channels(), made.solution(Opaque(lambda x: x**2 / 2)))
    np.testing.assert_allclose(row, [[value]], rtol=1e-6)


def test_conditions_of_the_interior_share_their_points():
    problem = Problem(SPACETIME, {"a": lambda u: u.t, "b": lambda u: u.x}, extra=Constant("u"), points=Points(16))
    a, b, constant = problem.channels(3)
    np.testing.assert_array_equal(a.points, b.points)
    np.testing.assert_array_equal(a.points, constant.points)


def test_points_follow_the_key():
    problem = Problem(SPACETIME, lambda u: u.t, boundary=0.0, points=Points(16, 8, sampling="uniform"))
    draw = jax.jit(problem.channels)
    for one, same, other in zip(draw(jax.random.key(1)), problem.channels(1), draw(jax.random.key(2)), strict=True):
        np.testing.assert_allclose(one.points, same.points, rtol=1e-6)
        assert not np.array_equal(one.points, other.points)


def test_the_numbers_of_points_are_those_asked_for():
    problem = Problem(SPACETIME, lambda u: u.t, boundary=0.0, initial=0.0).with_points(collocation=12, boundary=5)
    assert [len(channel.points) for channel in eqx.filter_eval_shape(problem.channels, 0)] == [12, 10, 5]


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_defaults_put_more_points_where_there_are_more_dimensions(dimension):
    box = Box(**dict.fromkeys("xyz"[:dimension], (0, 1)))
    equation, boundary = eqx.filter_eval_shape(Problem(box, lambda u: u.x, boundary=0.0).channels, 0)
    assert len(equation.points) == [128, 1024, 4096][dimension - 1]
    assert len(boundary.points) == 2 * dimension * [1, 64, 256][dimension - 1]


def test_given_data_arrive_as_they_are():
    x, u = np.array([0.1, 0.7]), np.array([3.0, -1.0])
    data = Problem(LINE, laplace, data=Data(x, u, sigma=[0.1, 0.2])).channels(0)[1]
    np.testing.assert_allclose(data.points[:, 0], x)
    np.testing.assert_allclose(data.target[:, 0], u)


def test_unknowns_start_at_their_guess():
    problem = Problem(LINE, lambda u, k, c: u.xx - k * c, unknowns={"k": Unknown(2.0, positive=True), "c": -3})
    solution = problem.solution(Opaque(lambda x: x))
    assert set(solution.unknowns) == {"k", "c"}
    np.testing.assert_allclose(solution.unknowns["k"], 2, rtol=1e-6)
    np.testing.assert_allclose(solution.unknowns["c"], -3)
    np.testing.assert_allclose(solution.raw["k"], np.log(2), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("positive", [True, False])
def test_the_exact_solution_satisfies_its_problem(positive):
    problem = Problem(
        SPACETIME,
        heat,
        boundary=0.0,
        initial=lambda x: jnp.sin(jnp.pi * x),
        unknowns={"k": Unknown(3.0, positive=positive, exact=0.5)},
        exact=decaying,
        points=Points(16, 4),
    )
    solution = problem.exact_solution()
    np.testing.assert_allclose(solution.unknowns["k"], 0.5)
    for residual in jax.jit(lambda: residuals(problem.channels(0), solution))():
        np.testing.assert_allclose(residual, 0, atol=1e-12)


def test_the_exact_solution_is_evaluated_at_points():
    problem = Problem(SPACETIME, lambda u, v: u.t, fields=("u", "v"), exact=lambda x, t: (x + t, x * t))
    np.testing.assert_allclose(problem.exact_at(jnp.array([[0.5, 0.25], [1, 1]])), [[0.75, 0.125], [2, 1]])


def test_what_is_sought_are_unknowns_and_constant_fields():
    problem = Problem(
        SPACETIME,
        lambda u, k, kappa: u.t - (k + kappa) * u.xx,
        fields=("u", "kappa"),
        unknowns={"k": 2},
        extra=Constant("kappa"),
    )
    assert problem.sought == ("k", "kappa")
    found = problem.summary(problem.solution(Opaque(lambda x: jnp.array([x[0], 3 + x[1]]))))
    np.testing.assert_allclose(found["k"], 2)
    np.testing.assert_allclose(found["kappa"], 3.5, rtol=1e-6)  # the average over the domain


def test_a_forward_problem_seeks_nothing():
    problem = Problem(LINE, laplace)
    assert problem.sought == ()
    assert problem.summary(problem.solution(Opaque(lambda x: x))) == {}


def test_sensors_of_a_field_are_its_direct_measurements():
    problem = Problem(
        LINE,
        lambda u, v: u.x,
        fields=("u", "v"),
        data=[
            Data([0.1, 0.2], [1, 2], field="u"),
            Data([0.3], [3], field="u"),
            Data([0.4], [4], field="v"),
            Data([0.5], [5], operator=lambda u: u.x),
        ],
    )
    points, values = problem.sensors("u")
    np.testing.assert_allclose(points[:, 0], [0.1, 0.2, 0.3], rtol=1e-6)
    np.testing.assert_allclose(values, [1, 2, 3])
    assert problem.sensors("v")[1].tolist() == [4]
    assert Problem(LINE, laplace).sensors()[0].shape == (0, 1)


def test_points_of_a_user_may_be_flat_in_one_dimension():
    np.testing.assert_array_equal(as_points([0, 1, 0.5], LINE), [[0.0], [1.0], [0.5]])
    np.testing.assert_array_equal(as_points([[1, 0]], SPACETIME), [[1.0, 0.0]])


@pytest.mark.parametrize("points", [[1, 2, 3], [[1, 2, 3]], 1.0, [[[1, 2]]]], ids=repr)
def test_points_of_the_wrong_shape_are_refused(points, rejects):
    with rejects("x", "t", "(n, 2)"):
        as_points(points, SPACETIME)


@pytest.mark.parametrize("points", [[0.5, 1.5, -3.0], [[2.0]]])
def test_points_outside_the_domain_are_taken_with_a_warning(points):
    outside = np.sum((np.ravel(points) > 1) | (np.ravel(points) < 0))
    with pytest.warns(UserWarning, match=rf"{outside} of {len(points)} points .* the first at \((1.5|2)\).*Box\(x=\(0, 1\)\)"):
        as_points(points, LINE)


def test_points_in_compiled_code_are_not_looked_at():
    assert jax.jit(lambda x: as_points(x, LINE))(jnp.array([3.0])).shape == (1, 1)


def test_a_seed_stands_for_its_key():
    for seed in (5, np.int64(5), jax.random.key(5)):
        np.testing.assert_array_equal(jax.random.key_data(as_key(seed)), jax.random.key_data(jax.random.key(5)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Problem(LINE, laplace, fields=("u", "x")), ("x", "twice")),
        (lambda: Problem(LINE, laplace, fields=("u", "u")), ("u", "twice")),
        (lambda: Problem(LINE, laplace, unknowns={"u": 1}), ("u", "twice")),
        (lambda: Problem(LINE, laplace, unknowns={"x": 1}), ("x", "twice")),
        (lambda: Problem(LINE, 3.0), ("equation", "3.0")),
        (lambda: Problem(LINE, laplace, boundary="zero"), ("boundary", "zero")),
        (lambda: Problem(LINE, laplace, initial="zero"), ("initial", "zero")),
        (lambda: Problem(LINE, laplace, data=3.0), ("data", "3.0")),
        (lambda: Problem(LINE, laplace, data=np.linspace(0, 1, 50)), ("data", "(50,)", "Data(x, u)")),
        (lambda: Problem(LINE, np.zeros((50, 50))), ("equation", "(50, 50)")),
        (lambda: Problem(LINE, laplace, unknowns={"k": np.zeros(50)}), ("k", "(50,)")),
        (lambda: Problem(LINE, laplace, unknowns={"k": list(range(50))}), ("k", "a list of 50")),
        (lambda: Box(x=np.zeros(50)), ("x", "(50,)")),
        (lambda: Problem(LINE, laplace, data=(np.linspace(0, 1, 50), np.zeros(50))), ("data", "Data(x, u)")),
        (lambda: Problem(LINE, laplace, extra=3.0), ("extra", "3.0")),
        (lambda: Problem(LINE, laplace, points=Points(resample=10)), ("grid", "resample")),
        (lambda: Problem(LINE, laplace, points=Points(sampling="latn")).channels(), ("latn", "latin")),
        (lambda: Problem(LINE, laplace, points=Points(-1)).channels(), ("points",)),
        (lambda: Problem(LINE, laplace, points=Points(0)).channels(), ("points",)),
        (lambda: Problem(LINE, laplace).field_name("v"), ("v", "u")),
        (lambda: Problem(LINE, laplace, fields=("u", "v")).field_name(None), ("u", "v")),
        (lambda: Problem(LINE, lambda u, v: u.x, fields=("u", "v"), boundary=0.0).channels(), ("u", "v", "field")),
        (lambda: Problem(LINE, laplace, name="mine").exact_at(jnp.zeros((1, 1))), ("mine", "exact")),
        (lambda: Problem(LINE, laplace, unknowns={"k": 1}, exact=lambda x: x).exact_solution(), ("k", "exact")),
        (lambda: Unknown(0.0, positive=True), ("positive", "0.0")),
        (lambda: Unknown(1.0, prior=epinn.Normal(1.0, 0.0)), ("prior", "0.0")),
        (lambda: Unknown(1.0, prior=epinn.Normal(float("nan"), 1.0)), ("prior", "nan")),
        (lambda: Unknown(1.0, prior=epinn.Normal(-1.0, 1.0), positive=True), ("positive", "-1.0")),
        (lambda: Problem(LINE, laplace, unknowns={"k": "large"}), ("k", "large")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_are_named(make, words, rejects):
    with rejects(*words):
        make()


def positive_problem():
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        fields=("u", "k"),
        positive="k",
        equation=lambda u, k: k.xx + u * k,
        exact=lambda x: (x, 1 + x**2),
        points=epinn.Points(collocation=6),
    )


@pytest.mark.slow
def test_a_positive_field_is_positive_in_predictions_and_in_operators(x64):
    problem = positive_problem()
    network = MLP.create(1, (5,), 2, key=jax.random.key(1))
    solution, x = problem.solution(network), jnp.linspace(0, 1, 6)[:, None]
    values, raw = solution(x), jax.vmap(network)(x)
    np.testing.assert_allclose(values[:, 1], np.log1p(np.exp(raw[:, 1])))
    np.testing.assert_array_equal(values[:, 0], raw[:, 0])
    step = 1e-4
    second = (solution(x + step)[:, 1] - 2 * values[:, 1] + solution(x - step)[:, 1]) / step**2
    (rows,) = residuals(problem.channels(0), solution)
    np.testing.assert_allclose(rows[:, 0], second + values[:, 0] * values[:, 1], atol=1e-5)


def test_the_exact_solution_of_a_positive_field_is_itself(x64):
    problem = positive_problem()
    x = jnp.linspace(0, 1, 4)[:, None]
    np.testing.assert_allclose(problem.exact_solution()(x), problem.exact_at(x), rtol=1e-12)


def test_only_a_field_can_be_positive(rejects):
    with rejects("kk", "k"):
        dataclasses.replace(positive_problem(), positive=("kk",))


def test_a_problem_without_conditions_is_none(rejects):
    with rejects("at least one condition"):
        epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=())


def test_its_repr_is_one_line_that_says_what_it_is():
    data = epinn.Data(np.linspace(0, 1, 500), np.zeros(500), sigma=0.1)
    problem = Problem(domain=LINE, equation=laplace, boundary=0.0, data=data, name="bar")
    assert repr(problem) == "<Problem 'bar': u for x in (0, 1); equation, boundary, data (500)>"


@pytest.mark.parametrize("seed", [2**32, -(2**32), 10**30])
def test_seeds_that_jax_would_take_for_others_are_refused(seed, rejects):
    with rejects("seed"):
        as_key(seed)


@pytest.mark.usefixtures("types_unchecked")
@pytest.mark.parametrize("key", ["0", 0.5, None, [1]])
def test_what_is_no_key_is_refused(key, rejects):
    with rejects("key"):
        as_key(key)


@pytest.mark.usefixtures("types_unchecked")
@pytest.mark.parametrize(
    ("name", "value"),
    [("domain", (0, 1)), ("fields", [3]), ("fields", ["u v"]), ("positive", 3), ("unknowns", ["nu"]), ("unknowns", {3: 1.0}),
     ("exact", 3.0), ("points", 16), ("name", 3)],
)  # fmt: skip
def test_parts_of_a_wrong_type_are_refused_by_name(name, value, rejects):
    with rejects(name):
        Problem(**{"domain": Box(x=(0, 1)), "equation": lambda u: u.xx, name: value})
