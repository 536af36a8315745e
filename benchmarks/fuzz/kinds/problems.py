"""Problems as TOML files."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from epinn.app.plan.toml.document import read_document

from .. import mutate

EXAMPLES = (
    files("epinn.app.plan.toml").joinpath("example.toml").read_text(encoding="utf-8"),
    """
equation = "u.xx = -1"
boundary = 0
[domain]
x = [0, 1]
[points]
collocation = 16
""",
    """
name = "rod"
[domain]
x = [0, 0.5, 2]
t = [0, "2 * pi"]
[constants]
L = 2
[unknowns]
kappa = { guess = 1.0, positive = true, prior = "Normal(1, 0.5)" }
[definitions]
q = "kappa * u.x"
[[equation]]
expression = "u.t = (kappa * u.x).x"
sigma = 0.1
[[boundary]]
kind = "robin"
a = 1
b = 2
value = "sin(t)"
on = "x = L"
[[initial]]
value = "sin(pi * x)"
order = 0
hard = false
[[data]]
columns = { x = [0.1, 0.2], t = [1, 2], u = [0.5, 0.6], s = [0.1, 0.1] }
value = "u"
sigma = "s"
over = { t = 0.5 }
[points]
collocation = 16
boundary = 4
sampling = "sobol"
""",
    """
equation = ["u.x + v.y = 0", "u.xx + u.yy = p.x", "v.xx + v.yy = p.y"]
[domain]
x = [0, 1]
y = [0, 1]
[fields]
u = {}
v = { hidden = [8, 8], activation = "sin" }
p = { of = ["x", "y"], positive = true }
[[boundary]]
field = "u"
value = 1.0
on = "y=1"
[[boundary]]
kind = "periodic"
along = "x"
field = "v"
[[boundary]]
kind = "expression"
expression = "u.x = 0"
on = ["x"]
[[data]]
file = "lab.csv"
value = "u"
coordinates = { x = "a", y = "b" }
units = { x = ["mm", "m"] }
[exact]
u = "x"
v = "y"
p = "0"
[points]
collocation = 16
boundary = 4
""",
)
TOKENS = (
    *("[domain]", "[[equation]]", "[[boundary]]", "[[data]]", "[fields]", "[unknowns]", "[points]", "[exact]", "[constants]"),
    *(
        "name",
        "file",
        "value",
        "on",
        "kind",
        "field",
        "along",
        "order",
        "sigma",
        "weight",
        "tolerance",
        "over",
        "units",
        "sheet",
    ),
    *("collocation", "sampling", "resample", "hidden", "positive", "constant", "prior", "guess", "columns", "coordinates"),
    *('"neumann"', '"u"', '"x"', '"unknown"', '"lab.csv"', '"/dev/zero"', '".."', '"\\u0000"', "true", "[]", "{}", "[0, 1]"),
    *("1979-05-27", "07:32:00", "0", "-1", "1e400", "nan", "inf", "9" * 25, "[[1], 2]", "{ x = 1 }", '"' + "x" * 3000 + '"'),
)


def attempt(random: Random, place: Path) -> Callable[[], Any]:
    path = place / "problem.toml"
    (place / "lab.csv").write_text("a [mm],b [m],u\n100,0.5,1\n200,0.25,2\n")
    text = mutate.text(random.choice(EXAMPLES), random, TOKENS)
    encoded = text.encode("utf-8", "replace")
    path.write_bytes(mutate.content(encoded, random) if random.random() < 0.1 else encoded)
    return lambda: read_document(path)
