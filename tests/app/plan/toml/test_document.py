"""Problems as TOML files: the problem that is written in Python, or one line with file and table."""

import random
import re
import string
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn import InputError
from epinn.app.plan.plan import Plan
from epinn.app.plan.presets import preset
from epinn.app.plan.source import find
from epinn.app.plan.toml.document import read_document
from epinn.derivatives.network import Opaque
from epinn.problem.channel import residuals

pytestmark = pytest.mark.usefixtures("quick_compile")

GUIDE = Path(__file__).parents[4] / "docs" / "guide.md"

COOLING = """
name = "cup of tea"
[domain]
t = [0, 60]
[unknowns]
k = { guess = 0.1, positive = true, exact = 0.05 }
T_env = { prior = "Normal(20, 5)" }
[[equation]]
expression = "T.t = -k * (T - T_env)"
[[data]]
value = "T"
sigma = 0.5
[data.columns]
t = [0, 30, 60]
T = [80, 40, 25]
"""

PLATE = """
[constants]
L = 200
k = 0.4
h = "k / L"
[domain]
x = [0, "L"]
y = [0, "L / 2"]
[definitions]
q = "exp(-x / L) * y"
[[equation]]
expression = "k * (T.xx + T.yy) + q = 0"
[[boundary]]
on = "x=0"
value = "20 + y / 100"
[[boundary]]
kind = "robin"
on = "x = L"
a = "h"
b = "k"
value = "20 * h"
[[boundary]]
kind = "neumann"
on = "y"
value = 0
sigma = 0.1
"""

WAVES = """
[domain]
x = [0, 0.4, 1]
t = [0, 2]
[fields]
u = {}
v = { positive = true }
K = { of = "x", hidden = [8, 8], activation = "sin", constant = true }
[points]
collocation = 64
boundary = 16
[[equation]]
expression = "u.t = v.x"
name = "mass"
[[equation]]
expression = "v.t = (K * u.x).x"
tolerance = 1e-3
[[initial]]
field = "u"
value = "sin(pi * x)"
hard = false
[[initial]]
field = "u"
value = 0
order = 1
[[boundary]]
kind = "periodic"
along = "x"
field = "v"
[[boundary]]
expression = "K * u.x = v"
on = "x=1"
[[data]]
expression = "u.x * K"
value = "flux"
columns = { x = [0.1, 0.2], t = [1, 2], flux = [3, 4], s = [0.1, 0.2] }
sigma = "s"
noise = "student"
held_out = true
[exact]
u = "sin(pi * x) * cos(pi * t)"
v = "exp(x)"
K = 1
"""


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Writes mine.toml and reads it."""
    monkeypatch.chdir(tmp_path)

    def made(text):
        (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
        return find("mine.toml").make(None, 0, {})

    return made


def left(problem, function):
    """What a function of the coordinates leaves of every condition."""
    solution = problem.solution(Opaque(lambda x: jnp.stack(function(*x))))
    return jax.jit(lambda: residuals(problem.channels(0), solution))()


def same(problem, other, function):
    """Two problems ask the same of any function."""
    mine, its = left(problem, function), left(other, function)
    assert len(mine) == len(its)
    for a, b in zip(mine, its, strict=True):
        assert np.allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_cooling_cup_is_the_problem_in_python(read):
    problem = read(COOLING)
    assert (problem.name, problem.fields, problem.domain) == ("cup of tea", ("T",), epinn.Box(t=(0, 60)))
    assert problem.parameters == {
        "k": epinn.Unknown(0.1, positive=True, exact=0.05),
        "T_env": epinn.Unknown(20.0, prior=epinn.Normal(20, 5)),
    }
    python = epinn.Problem(
        domain=epinn.Box(t=(0, 60)),
        equation=lambda T, k, T_env: T.t + k * (T - T_env),
        data=epinn.Data([0, 30, 60], [80, 40, 25], sigma=0.5),
        fields=("T",),
        unknowns=problem.unknowns,
    )
    same(problem, python, lambda t: [20 + 3 * jnp.sin(t)])
    assert np.allclose(problem.channels(0)[1].sigma, 0.5)


def test_a_plate_with_constants_and_definitions_is_the_problem_in_python(read):
    python = epinn.Problem(
        domain=epinn.Box(x=(0, 200), y=(0, 100)),
        equation=lambda T, x, y: 0.4 * (T.xx + T.yy) + jnp.exp(-x / 200) * y,
        boundary=[
            epinn.Dirichlet(lambda y: 20 + y / 100, on="x=0"),
            epinn.Robin(0.002, 0.4, 0.04, on="x=200"),
            epinn.Neumann(0.0, on="y", sigma=0.1),
        ],
        fields=("T",),
    )
    problem = read(PLATE)
    same(problem, python, lambda x, y: [20 + 0.01 * x * y])
    assert [channel.precision.label for channel in problem.channels(0)] == ["exact", "exact", "exact", "known"]


def test_everything_that_a_problem_can_have(read):
    problem = read(WAVES)
    assert problem.fields == ("u", "v", "K")
    assert (problem.fields[2].of, problem.fields[2].hidden, problem.fields[2].activation) == (("x",), (8, 8), "sin")
    assert problem.positive == ("v",)
    assert problem.domain.breaks == ((0.4,), ())
    assert [c.label for c in problem.conditions[:2]] == ["mass", "equation"]
    assert problem.equation[1].tolerance == 1e-3
    assert [c.order for c in problem.initial] == [0, 1]
    assert not problem.initial[0].hard
    assert [c.kind for c in problem.extra] == ["constraint"]
    (held_out,) = problem.held_out()
    assert np.allclose(held_out.sigma, [0.1, 0.2])
    assert not held_out.precision.is_gaussian
    assert np.allclose(held_out.points, [[0.1, 1], [0.2, 2]])
    assert np.allclose(problem.exact_at(np.array([[0.5, 0.0]])), [[1.0, np.exp(0.5), 1.0]])
    assert problem.points == epinn.Points(64, 16)


@pytest.mark.parametrize(
    "short",
    [
        'equation = "u.xx = -1"\nboundary = 0\n[domain]\nx = [0, 1]\n',
        'equation = ["u.xx + 1"]\n[domain]\nx = [0, 1]\n[boundary]\nvalue = 0\n',
        '[domain]\nx = [0, 1]\n[[equation]]\nexpression = "u.xx + 1 = 0"\n[[boundary]]\nkind = "Dirichlet"\nvalue = "0"\n',
    ],
)
def test_one_condition_needs_no_table(read, short):
    python = epinn.Problem(domain=epinn.Box(x=(0, 1)), equation=lambda u: u.xx + 1.0, boundary=epinn.Dirichlet(0.0))
    same(read(short), python, lambda x: [jnp.sin(3 * x)])


def test_a_face_may_be_an_end_without_its_number(read):
    text = '[domain]\nx = [0, "2 * pi"]\n[[equation]]\nexpression = "u.xx = 0"\n[[boundary]]\non = "x = max"\nvalue = 1\n'
    python = epinn.Problem(
        domain=epinn.Box(x=(0, 2 * np.pi)), equation=lambda u: u.xx, boundary=epinn.Dirichlet(1.0, on="x=max")
    )
    same(read(text), python, lambda x: [jnp.sin(3 * x)])


def test_the_same_file_is_the_same_problem(read):
    assert read(WAVES).same_as(read(WAVES))
    assert not read(PLATE).same_as(read(PLATE.replace("k = 0.4", "k = 0.5")))


CSV = "time [min],T [degC]\n0,80\n1,60\n2,\n3,40\n"
WITH_FILE = """
[domain]
t = [0, 200]
[unknowns]
k = 0.01
[[equation]]
expression = "T.t = -k * (T - 293)"
[[data]]
file = "lab.csv"
coordinates = { t = "time" }
value = "T"
units = { t = ["min", "s"], T = "K" }
"""


def test_measurements_from_a_file_beside_it_in_units(read, tmp_path):
    pytest.importorskip("pint")
    (tmp_path / "lab.csv").write_text(CSV)
    problem = read(WITH_FILE)
    points, values = problem.sensors("T")
    assert np.allclose(points[:, 0], [0, 60, 180])
    assert np.allclose(values, [353.15, 333.15, 313.15])
    assert problem.data[0].sigma == "unknown"
    (note,) = find("mine.toml").notes
    assert "left out" in note
    assert "line 4" in note


def test_a_run_is_found_again_unless_a_file_of_it_has_changed(read, tmp_path, rejects):
    pytest.importorskip("pint")
    (tmp_path / "lab.csv").write_text(CSV)
    read(WITH_FILE)
    source = find("mine.toml")
    plan = Plan(source, ("laplace",), (None,), (0,), preset("fast", "mine.toml"))
    description = plan.describe("fast")
    assert description["problem"] == str(tmp_path / "mine.toml")
    assert Plan.from_description(description).source.content.same_as(source.content)
    (tmp_path / "lab.csv").write_text(CSV.replace("60", "61"))
    with rejects("mine", "changed"):
        Plan.from_description(description)


def test_averages_over_windows(read):
    columns = "[[data]]\nvalue = 'T'\nover = { t = [-5, 0] }\ncolumns = { t = [10, 20], T = [70, 60] }\n"
    assert read(COOLING + columns).data[1].over == {"t": (-5.0, 0.0)}
    with pytest.raises(InputError, match="over a table"):
        read(COOLING + columns.replace("{ t = [-5, 0] }", "5"))


def test_the_example_of_the_guide_is_read(read, tmp_path):
    pytest.importorskip("pint")
    (example,) = re.findall(r"^```toml\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "tea.csv").write_text("time,T\n0,80\n60,25\n")
    problem = read(example)
    points, values = problem.sensors("T")
    assert np.allclose(points[:, 0], [0, 3600])
    assert np.allclose(values, [353.15, 298.15])


EQUATION = '[[equation]]\nexpression = "u.t = k * u.xx"\n'
HEAT = "[domain]\nx = [0, 1]\nt = [0, 2]\n[unknowns]\nk = 1\n"

MISTAKES = {  # text, and words of the message
    "no TOML": ("[domain\nx = 1", ("mine.toml", "line 1")),
    "a value without quotes": ("[domain]\nx = [0, 1]\n[[equation]]\nexpression = u.xx", ("line 4", "quotes")),
    "a table twice": ("[domain]\nx=[0,1]\n[domain]\ny=[0,1]", ("mine.toml", "line 3")),
    "no domain": (EQUATION, ("[domain]", "t = [0, 3600]")),
    "unknown table": (HEAT + EQUATION + "[boundry]\nvalue=0", ("boundry", "did you mean 'boundary'")),
    "unknown key": (HEAT + EQUATION + "[[initial]]\nvalu = 0", ("[[initial]]", "value is missing", "valu")),
    "unknown key beside": (HEAT + EQUATION + "[[initial]]\nvalue = 0\nordr = 1", ("ordr", "did you mean 'order'")),
    "key of another kind": (HEAT + EQUATION + "[[boundary]]\nvalue = 0\na = 1", ("dirichlet", "'a'")),
    "the second of two": (HEAT + EQUATION + "[[boundary]]\nvalue=0\n[[boundary]]\nvalue=1\non='z'", ("[[boundary]] 2", "'z'")),
    "unknown kind": (HEAT + EQUATION + "[[boundary]]\nkind='drichlet'\nvalue=0", ("drichlet", "did you mean 'dirichlet'")),
    "no such face": (HEAT + EQUATION + "[[boundary]]\non='x=3'\nvalue=0", ("[[boundary]]", "x=3", "x=1")),
    "a name that is nothing": (HEAT + '[[equation]]\nexpression = "u.t = kk * u.xx"', ("column 7", "kk", "did you mean 'k'")),
    "no derivative along y": (HEAT + '[[equation]]\nexpression = "u.t = k * u.yy"', ("[[equation]]", "column 11", "x, t")),
    "no field": (HEAT + '[[equation]]\nexpression = "k = 3"', ("derivative", "[fields]")),
    "no number": (HEAT + EQUATION + "[[initial]]\nvalue = true", ("[[initial]], value", "number", "True")),
    "not a finite number": (HEAT + EQUATION + "[[initial]]\nvalue = nan", ("finite", "nan")),
    "an unknown in a value": (HEAT + EQUATION + '[[boundary]]\nvalue = "k * x"', ("k is not known", "expression")),
    "interval backwards": ("[domain]\nx = [1, 0]\n" + EQUATION, ("[domain]", "low < high")),
    "interval of one number": ("[domain]\nx = 1\n" + EQUATION, ("[domain], x", "[low, high]")),
    "an equation in the domain": ('[domain]\nx = [0, 1]\nequation = "u.xx"', ("above [domain]", "[[equation]]")),
    "a name twice": (HEAT + "[constants]\nx = 3\n" + EQUATION, ("'x'", "twice")),
    "a name that has a meaning": ("[domain]\npi = [0, 1]\n" + EQUATION, ("pi", "meaning")),
    "lambda": (HEAT.replace("k =", "lambda =") + EQUATION, ("[unknowns]", "lambda", "lam")),
    "a wrong prior": (
        HEAT.replace("k = 1", 'k = { prior = "N(1, 2)" }') + EQUATION,
        ("[unknowns], k, prior", "Normal(mean, sd)"),
    ),
    "no guess": (HEAT.replace("k = 1", "k = { positive = true }") + EQUATION, ("[unknowns], k", "guess")),
    "a negative positive guess": (HEAT.replace("k = 1", "k = { guess = -1, positive = true }") + EQUATION, ("positive guess",)),
    "no time": ("[domain]\nx = [0, 1]\n[[equation]]\nexpression='u.xx'\n[[initial]]\nvalue=0", ("[[initial]]", "time")),
    "no file": (HEAT + EQUATION + "[[data]]\nfile='no.csv'\nvalue='u'", ("[[data]]", "no.csv")),
    "neither file nor columns": (HEAT + EQUATION + "[[data]]\nvalue='u'", ("file", "columns")),
    "no such column": (HEAT + EQUATION + "[[data]]\nvalue='u'\ncolumns={x=[0],t=[1],T=[2]}", ("column", "'u'")),
    "columns of two lengths": (HEAT + EQUATION + "[[data]]\nvalue='u'\ncolumns={x=[0],t=[1],u=[2,3]}", ("u (2)",)),
    "sensors outside": (HEAT + EQUATION + "[[data]]\nvalue='u'\ncolumns={x=[9],t=[1],u=[2]}", ("[[data]]", "outside")),
    "sigma of zero": (HEAT + EQUATION + "[[data]]\nvalue='u'\nsigma=0\ncolumns={x=[0],t=[1],u=[2]}", ("[[data]]", "positive")),
    "coordinate without a column": (
        HEAT + EQUATION + "[[data]]\nvalue='u'\ncoordinates=['x']\ncolumns={x=[0],u=[2]}",
        ("coordinate t",),
    ),
    "which field": (
        "[domain]\nt=[0,1]\n[[equation]]\nexpression='u.t=v'\n[[equation]]\nexpression='v.t=-u'\n[[initial]]\nvalue=1",
        ("[[initial]]", "u, v"),
    ),
    "a list for a table": (HEAT.replace("k = 1", "") + "[constants]\nc = [1]\n" + EQUATION, ("[constants], c", "number")),
    "no exact for a field": (HEAT + EQUATION + "[exact]\nv = 'x'", ("[exact]", "u is missing")),
    "a name that is said nowhere": (HEAT + '[[equation]]\nexpression = "u.t = D * u.xx"', ("column 7", "'D'", "a constant")),
    "an index for a derivative": (
        HEAT + '[fields]\nu = {}\n[[equation]]\nexpression = "u_t = k * u_xx"',
        ("column 1", "u_t is written u.t"),
    ),
    "an unknown that is nowhere": (HEAT + '[[equation]]\nexpression = "u.t = u.xx"', ("unknown k", "in no equation")),
    "an = in a value": (HEAT + EQUATION + '[[boundary]]\nvalue = "u = 0"', ("[[boundary]], value", "column 3", "no =")),
    "too many points": (HEAT + EQUATION + "[points]\ncollocation = 1000000000", ("[points], collocation", "10000000")),
    "too high an order": (HEAT + EQUATION + "[[initial]]\nvalue = 0\norder = 300", ("[[initial]], order", "6")),
    "settings": (HEAT + EQUATION + "[settings]\nepochs = 3", ("--set",)),
    "an equation that is a number": ("equation = 3\n" + HEAT, ("[[equation]], expression", "quotes")),
    "points that are none": (HEAT + EQUATION + "[points]\ncollocation = -3", ("[points], collocation", "-3")),
    "nothing": ("", ("[domain]",)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_its_place(read, mistake):
    text, words = MISTAKES[mistake]
    with pytest.raises(InputError) as caught:
        read(text)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("mine.toml"), message
    for word in words:
        assert word in message, message
    assert message.count("mine.toml") == 1, message


def test_bytes_that_are_no_text(tmp_path, rejects):
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe\x00[domain]")
    with rejects("UTF-8"):
        find(str(tmp_path / "mine.toml"))
    with rejects("no file"):
        find(str(tmp_path / "other.toml"))
    (tmp_path / "mine.toml").write_bytes(b"a = " + b"[" * 100_000)
    with rejects("mine.toml"):
        find(str(tmp_path / "mine.toml"))


def test_files_that_are_nearly_problems_are_read_or_refused_in_one_line(tmp_path):
    """Mutations of the files above: never another exception than ours, and nothing is executed."""
    source = random.Random(0)
    pieces = ["[", "]", "[[", "=", '"', "{", "}", "\n", "nan", "1e999", "true", "u.xx", "__import__", "1979-05-27", "''", ","]
    refused, path = [], tmp_path / "mine.toml"
    for number in range(400):
        text = [COOLING, PLATE, WAVES][number % 3]
        for _ in range(source.randint(1, 4)):
            place, new = source.randrange(len(text)), source.choice([source.choice(pieces), source.choice(string.printable)])
            text = text[:place] + new + text[place + source.randint(0, 12) :]
        path.write_text(text, encoding="utf-8", newline="")
        try:
            read_document(path)
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 200
    assert not [message for message in refused if "\n" in message]
