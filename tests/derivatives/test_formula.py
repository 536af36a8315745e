"""Formulas as mathematics: text is the operator that is written in Python, or it is refused by its column."""

import random
import string
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from epinn import InputError
from epinn.derivatives.expression import FUNCTIONS, Number
from epinn.derivatives.formula import Formula, Formulas, check_name, read_equation, read_formula, read_number
from epinn.derivatives.jet import Jet
from epinn.derivatives.operator import Names, Operator, at_points
from epinn.derivatives.parsing import LONGEST, Words

NAMES = Names(("u", "K"), ("x", "t"), ("k",))
WORDS = Words(("x", "t"), ("k",), {"rho": Number(2.5)}, ("u", "K"))

PAIRS = {  # text, and the same in Python
    "both sides": ("u.t = k * u.xx", lambda u, k: u.t - k * u.xx),
    "Burgers": ("u.t + u * u.x - k * u.xx", lambda u, k: u.t + u * u.x - k * u.xx),
    "constants": ("rho * u.t - pi * e", lambda u: 2.5 * u.t - np.pi * np.e),
    "powers": ("u**2 + u.x ** 3 - 2 ** x", lambda u, x: u**2 + u.x**3 - 2.0**x),
    "power of a power": ("x**2**3 * u", lambda u, x: x**8 * u),
    "unary minus binds less than powers": ("-u**2 + +u", lambda u: -(u**2) + u),
    "division from the left": ("u / x / k", lambda u, x, k: u / x / k),
    "functions": ("sin(u) * exp(-k * t) + tanh(x)", lambda u, k, t, x: jnp.sin(u) * jnp.exp(-k * t) + jnp.tanh(x)),
    "flux": ("(K * u.x).x", lambda u, K: (K * u.x).x),
    "flux of a function of x": ("(exp(-x) * u.x).x", lambda u, x: (u.x * jnp.exp(-x)).x),
    "flux with an unknown in front": ("(k * x * u.x).x", lambda u, k, x: (u.x * k * x).x),
    "derivative of a function": ("sin(u * x).x", lambda u, x: (u * 1.0 * jnp.cos(u * x)) + x * u.x * jnp.cos(u * x)),
    "derivative of coordinates alone": ("(x**3 * t).xx * u", lambda u, x, t: 6.0 * x * t * u),
    "derivatives in turn": ("u.x.t + u.xt", lambda u: 2 * u.xt),
    "where": ("where(x < 0.5, 10, 1.2) * u.xx", lambda u, x: jnp.where(x < 0.5, 10.0, 1.2) * u.xx),
    "where in a flux": ("(where(x < 0.5, k, 2) * u.x).x", lambda u, x, k: (u.x * jnp.where(x < 0.5, k, 2.0)).x),
    "chained comparison": ("where(0.2 < x <= 0.6, u, k)", lambda u, x, k: jnp.where((x > 0.2) & (x <= 0.6), u * 1.0, k)),
    "and, or": (
        "where(x < 0.2 or x > 0.6 and t > 0.5, u, 0)",
        lambda u, x, t: jnp.where((x < 0.2) | ((x > 0.6) & (t > 0.5)), u * 1.0, 0.0),
    ),
    "two arguments": ("max(u, 0) - min(x, t)", lambda u, x, t: jnp.maximum(u * 1.0, 0) - jnp.minimum(x, t)),
    "over several lines": ("u.t\n  - k * u.xx", lambda u, k: u.t - k * u.xx),
}


def values(function):
    """An operator of random fields at random points."""
    operator = Operator(function, NAMES)
    random_numbers = np.random.default_rng(0)
    orders = {order: random_numbers.normal(size=(5, 2)) for order in Operator(ALL, NAMES).orders}
    points = random_numbers.uniform(0.1, 0.9, size=(5, 2))
    stack = jnp.asarray(np.stack([orders[order] for order in operator.orders], axis=1))
    given = {"k": jnp.asarray(0.7)}
    return jax.vmap(lambda jet, x: operator(Jet(jet, operator.orders), x, given, {}))(stack, jnp.asarray(points))


def ALL(u):  # every derivative that a test asks for
    return u.xxx + u.t + u.xt + u.xxt


@pytest.mark.parametrize("case", PAIRS)
@pytest.mark.usefixtures("x64")
def test_text_is_the_operator_in_python(case):
    text, function = PAIRS[case]
    assert np.allclose(values(read_equation(text, WORDS)), values(function), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.usefixtures("x64")
def test_functions_of_numbers_and_of_arrays_agree(name):
    places = [0.3, 0.7][: FUNCTIONS[name].arguments]
    inside = ", ".join(map(str, places))
    folded = read_number(f"{name}({inside})", {})
    computed = at_points(read_formula(f"{name}({inside.replace('0.3', 'x')})", WORDS), ("x",), jnp.asarray([[0.3]]))
    assert folded == pytest.approx(float(computed[0, 0]), rel=1e-12)


def test_formulas_compare_by_value_so_that_nothing_is_compiled_twice():
    one, two = (read_equation("u.t = k * rho * u.xx", WORDS) for _ in range(2))
    other = read_equation("u.t = k * rho * u.xx", Words(("x", "t"), ("k",), {"rho": Number(3.0)}, ("u", "K")))
    assert one == two
    assert hash(one) == hash(two)
    assert one != other
    compiled = jax.jit(
        lambda operator, x: operator(Jet(jnp.ones((4, 2)), operator.orders), x, {"k": x[0]}, {}), static_argnums=0
    )
    for formula in (one, two):
        compiled(Operator(formula, NAMES), jnp.ones(2))
    assert compiled._cache_size() == 1


def test_an_operator_is_asked_for_what_is_in_the_text():
    operator = Operator(read_equation("u.t = k * u.xx + x", WORDS), NAMES)
    assert set(operator.arguments) == {"u", "k", "x"}
    assert operator.orders == ((0, 0), (0, 1), (1, 0), (2, 0))
    assert Operator(read_equation("(K * u.x).x", WORDS), NAMES).fluxes == ("x",)


def test_several_formulas_side_by_side():
    both = Formulas((read_formula("x * t", WORDS), Formula("3", Number(3.0))))
    assert np.allclose(at_points(both, ("x", "t"), jnp.asarray([[2.0, 5.0]])), [[10.0, 3.0]])


def test_a_number_is_computed_in_double_precision():
    assert read_number("1 / 3", {}) == 1 / 3
    assert read_number("2 * pi * L", {"L": Number(0.5)}) == np.pi
    with pytest.raises(InputError, match="x"):
        read_number("2 * x", {})


WRONG = {  # text, column, words of the message
    "u.t = k * uu.xx": (11, "uu", "did you mean 'u'"),
    "sn(x) + u": (1, "sn", "did you mean 'sin'"),
    "u + k(x)": (5, "k * (...)"),
    "2(x + u)": (1, "*"),
    "2u": (2, "*"),
    "u k": (2, "*"),
    "u^2": (2, "**"),
    "u − 1": (3, "write -"),
    "u.y": (1, "coordinates are x, t"),
    "x.t * u": (1, "x has no derivatives"),
    "pi.x": (1, "no derivatives"),
    "u.t == 1": (5, "single ="),
    "u = 1 = 2": (7, "several"),
    "u =": (3, "nothing"),
    "": (1, "nothing"),
    "(u": (1, "brackets"),
    "u)": (2, "brackets"),
    "sin + u": (1, "sin(...)"),
    "sin(x, t)": (1, "1 argument"),
    "where(u, 1, 2)": (7, "comparison"),
    "x < 1": (1, "where"),
    "u if x else k": (1, "no meaning"),
    "u // 2": (1, "arithmetic"),
    "1j * u": (1, "real"),
    "1 / 0 + u": (1, "finite"),
    "u / 0": (5, "zero"),
    "(-8) ** (1 / 3)": (1, "finite"),
    "9**9**9": (1, "finite"),
    "1e999": (1, "finite"),
    "1e38 * u": (1, "units"),
    "u ** 65": (6, "64"),
    "u.xxxxxxx": (1, "order"),
    "((((u * x).xx * x).xx * x).xx * x).xx": (1, "order"),
    "u.__class__": (1, "derivative"),
    "u.diff": (1, "derivative"),
    "__import__": (1, "name"),
    "lambda + u": (1, "lambda"),
    "None": (1, "no meaning"),
    "True * u": (1, "no meaning"),
    "u, k": (1, "no meaning"),
    "sin(*x)": (1, "argument"),
    "u.x # u": (5, "outside the quotes"),
    "u'": (2, "u.xx"),
    "u; k": (2, "no meaning"),
    "κ * u": (1, "κ"),
    "-" * 500 + "u": (101, "inside each other"),
    "(" * 300 + "u": (201, "brackets"),
}


@pytest.mark.parametrize("text", WRONG, ids=[text[:12] for text in WRONG])
def test_what_cannot_be_read_is_refused_with_its_column(text):
    column, *words = WRONG[text]
    with pytest.raises(InputError) as caught:
        read_equation(text, WORDS)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"column {column} of"), message
    for word in words:
        assert word in message


def test_a_formula_has_a_length():
    with pytest.raises(InputError, match=str(LONGEST)):
        read_equation("u + " * LONGEST, WORDS)


def test_definitions_stand_for_what_they_mean_and_cannot_multiply_without_end():
    words = Words(("x",), definitions={"a": read_formula("u * u", Words(("x",), fields=("u",))).expression}, fields=("u",))
    assert read_formula("a + 1", words).expression == read_formula("(u * u) + 1", words).expression

    def grow(words):
        for _ in range(30):
            words = Words(("x",), definitions={"a": read_formula("a + a + a + a", words).expression}, fields=("u",))

    with pytest.raises(InputError, match="parts"):
        grow(words)


@pytest.mark.parametrize("name", ["pi", "sin", "where", "lambda", "_u", "u_", "u__v", "2u", "u v", "", "u.x"])
def test_names_that_formulas_cannot_have(name, rejects):
    with rejects("field"):
        check_name(name, "a field")


@pytest.mark.parametrize("name", ["T_env", "κ", "u2", "rho_w_1"])
def test_names_that_they_can_have(name):
    words = Words(("x",), fields=(check_name(name, "a field"),))
    assert read_formula(f"2 * {name}.xx", words).expression.names() == (name,)


def mutations(number):
    """Texts that are nearly formulas."""
    source = random.Random(0)
    letters = string.printable + "κ·−^λ²\x00\u202e"
    seeds = [text for text, _ in PAIRS.values()] + list(WRONG)[:40]
    pieces = ["(", ")", "**", ".x", ".__class__", "9" * 40, "lambda:", "where(", "\n", "exec(", "u", "e", " if ", "=", "<"]
    for _ in range(number):
        text = source.choice(seeds)
        for _ in range(source.randint(1, 6)):
            place = source.randint(0, len(text))
            if source.random() < 0.3:
                text = text[:place] + text[place + source.randint(1, 5) :]
            else:
                text = text[:place] + source.choice([source.choice(letters), source.choice(pieces)]) + text[place:]
        yield text


def test_whatever_is_written_is_read_or_refused_soon_and_in_one_line():
    slowest, read, refused = 0.0, 0, []
    for text in mutations(3000):
        tick = time.process_time()
        try:
            formula = read_equation(text, WORDS)
            read += 1
            if formula.expression.names():
                Operator(formula, NAMES)
        except InputError as error:
            refused.append(str(error))
        slowest = max(slowest, time.process_time() - tick)
    assert read > 50  # these mutations are formulas, and are recorded as operators
    assert not any("\n" in message for message in refused)
    assert slowest < 5, "a text kept the machine busy"
