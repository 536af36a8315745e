"""Arrays and numbers from Python: domains, measurements, values, priors, points to predict at, networks that are none."""

import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import epinn
from epinn.errors import EpinnWarning
from epinn.problem.checks import as_points

TYPES = ("f8", "f4", "f2", "i8", "u1", "?", "c16", "U3", "S3", "O", "M8[s]", "m8[s]", "V4")
SHAPES = ((), (0,), (1,), (3,), (4,), (3, 1), (3, 2), (2, 3), (0, 2), (3, 0), (3, 2, 1), (1,) * 9, (4, 4), (2000, 2))
ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        1,
        -1,
        0.5,
        1e308,
        -1e308,
        1e-320,
        10**400,
        2**64,
        float("nan"),
        float("inf"),
        1j,
        "x",
        "",
        "unknown",
        b"x",
    ),
    *([], [[]], [1, [2]], [None], ["a"], {}, {"x": 1}, set(), object(), Exception, len, range(3), ..., (0, 1), (1, 0), (0, 0)),
    *((0, np.nan), (0, np.inf), ("0", "1"), (0, 1, 2), [0.0, 1e-300], [0, [1]], np.ma.masked_array([1.0, 2.0], [0, 1])),
)
ONE = epinn.Box(x=(0, 1))
DISC = epinn.Disc(x=0.5, y=0.5, radius=1)
TWO = epinn.Box(x=(0, 1), t=(0, 2))


def attempt(random: Random, place: Path) -> Callable[[], Any]:
    made = random.choice(MAKERS)
    given = [_value(random) for _ in range(4)]

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EpinnWarning)
            made(*given)

    return run


def _value(random: Random) -> Any:
    """Something that somebody may pass where numbers are meant; fine numbers too, so that the others are looked at."""
    kind = random.random()
    if kind < 0.35:
        return random.choice(((0.5,), [0.2, 0.4, 0.6], np.full(3, 0.5), np.full((3, 2), 0.5), 0.1, np.full((3, 1), 0.1)))
    if kind < 0.65:
        return random.choice(ODD)
    found = np.random.default_rng(random.randrange(2**32)).uniform(0, 1, random.choice(SHAPES))
    if found.size and random.random() < 0.5:
        found.flat[random.randrange(found.size)] = random.choice((np.nan, np.inf, -np.inf, 1e300, -5.0, 1e-320))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = found.astype(random.choice(TYPES))
        except (TypeError, ValueError):
            return found.tolist()
    return random.choice((found, found.tolist(), found.T, found[::-1] if found.ndim else found, np.asfortranarray(found)))


def _problem(**parts: Any) -> None:
    epinn.Problem(**({"domain": ONE, "equation": _equation, "points": epinn.Points(collocation=4)} | parts)).check()


def _equation(u: Any) -> Any:
    return u.xx


def _lists(value: Any) -> Any:
    return value if isinstance(value, list | tuple | dict | str) else [value]


MAKERS: tuple[Callable[[Any, Any, Any, Any], Any], ...] = (
    lambda a, b, c, d: epinn.Box(x=a, t=b),
    lambda a, b, c, d: epinn.Box(x=(a, b)).points(3),
    lambda a, b, c, d: epinn.Box(x=(0, 1)).broken({"x": a}),
    lambda a, b, c, d: epinn.Box(x=(0, 1)).faces(a),
    lambda a, b, c, d: ONE.points(a, b),
    lambda a, b, c, d: ONE.grid(a),
    lambda a, b, c, d: _problem(data=epinn.Data(a, b, sigma=c)),
    lambda a, b, c, d: _problem(domain=TWO, data=epinn.Data(a, b, sigma=c)),
    lambda a, b, c, d: _problem(domain=TWO, data=epinn.Data(np.full((3, 2), 0.5), a, over=b)),
    lambda a, b, c, d: _problem(domain=TWO, data=epinn.Data(np.full((3, 2), 0.5), [1, 2, 3], over={"t": a})),
    lambda a, b, c, d: _problem(domain=TWO, data=epinn.Data(a, b, coordinates=c)),
    lambda a, b, c, d: _problem(data=epinn.Data([0.5], [1.0], sigma=0.1, tolerance=a, weight=b, name=c, held_out=d)),
    lambda a, b, c, d: _problem(data=epinn.Data([0.5], [1.0], field=a)),
    lambda a, b, c, d: _problem(data=epinn.Data([0.5], [1.0], operator=a)),
    lambda a, b, c, d: _problem(data=epinn.Data(a, b)),
    lambda a, b, c, d: _problem(data=a),
    lambda a, b, c, d: _problem(boundary=a),
    lambda a, b, c, d: _problem(boundary=epinn.Dirichlet(a, points=b, sigma=c)),
    lambda a, b, c, d: _problem(boundary=epinn.Dirichlet(a, on=b, hard=c)),
    lambda a, b, c, d: _problem(boundary=epinn.Neumann(a, points=b, normals=c)),
    lambda a, b, c, d: _problem(boundary=epinn.Robin(a, b, c)),
    lambda a, b, c, d: _problem(boundary=epinn.Periodic(a, b)),
    lambda a, b, c, d: _problem(boundary=epinn.Periodic("x", a)),
    lambda a, b, c, d: _problem(domain=TWO, initial=epinn.Initial(a, order=b)),
    lambda a, b, c, d: _problem(domain=TWO, initial=epinn.Initial(a, points=b)),
    lambda a, b, c, d: _problem(domain=TWO, initial=a, boundary=b),
    lambda a, b, c, d: _problem(equation=epinn.Equation(_equation, a, b)),
    lambda a, b, c, d: _problem(equation=epinn.Equation(_equation, points=[0.5], given={"k": a})),
    lambda a, b, c, d: _problem(equation=epinn.Equation(_equation, sigma=a, tolerance=b, weight=c)),
    lambda a, b, c, d: _problem(equation=a),
    lambda a, b, c, d: _problem(equation=lambda u: u.xx + a),
    lambda a, b, c, d: _problem(equation=lambda u: a),
    lambda a, b, c, d: _problem(unknowns=_lists(a)),
    lambda a, b, c, d: _problem(unknowns={"k": a}),
    lambda a, b, c, d: _problem(unknowns={"k": epinn.Unknown(a, positive=bool(_is(b)), exact=c)}),
    lambda a, b, c, d: epinn.Normal(a, b),
    lambda a, b, c, d: epinn.Unknown(1.0, a),
    lambda a, b, c, d: epinn.Unknown(a, epinn.Normal(1.0, 1.0), b, c).raw_prior(),
    lambda a, b, c, d: _problem(fields=_lists(a)),
    lambda a, b, c, d: _problem(positive=_lists(a)),
    lambda a, b, c, d: _problem(fields=[epinn.Field(a, b)]),
    lambda a, b, c, d: _problem(fields=[epinn.Field("u", of=a, hidden=b, activation=c)]),
    lambda a, b, c, d: _problem(exact=a),
    lambda a, b, c, d: _problem(exact=lambda x: a),
    lambda a, b, c, d: _problem(domain=a),
    lambda a, b, c, d: _problem(points=a),
    lambda a, b, c, d: _problem(name=a),
    lambda a, b, c, d: _problem(points=epinn.Points(a, b, c)),
    lambda a, b, c, d: _problem(points=epinn.Points(4, resample=a, times=b)),
    lambda a, b, c, d: epinn.Disc(x=a, y=b, radius=c),
    lambda a, b, c, d: epinn.Ellipse(x=0, y=a, radii=b, angle=c),
    lambda a, b, c, d: epinn.Rectangle(x=a, y=b, name=c),
    lambda a, b, c, d: _problem(domain=DISC, boundary=epinn.Dirichlet(a, on=b)),
    lambda a, b, c, d: _problem(domain=DISC, data=epinn.Data(a, b, sigma=c)),
    lambda a, b, c, d: epinn.Polygon(a),
    lambda a, b, c, d: DISC.during(t=a),
    lambda a, b, c, d: as_points(a, TWO),
    lambda a, b, c, d: as_points(a, ONE),
    lambda a, b, c, d: epinn.Base(hidden=a, activation=b),
    lambda a, b, c, d: epinn.Base(epochs=a, learning_rate=b),
    lambda a, b, c, d: epinn.Base(prior=a, tolerance=b, fourier=c),
    lambda a, b, c, d: epinn.adopt(a, SMALL),
    lambda a, b, c, d: epinn.adopt((a, b), SMALL),
    lambda a, b, c, d: epinn.adopt(lambda x: a, SMALL),
    lambda a, b, c, d: epinn.adopt("/nowhere", SMALL, architecture=a, features=b, unknowns=c),
    lambda a, b, c, d: epinn.attach(a, SMALL, b, settings=c),
    lambda a, b, c, d: epinn.load(a, b),
    lambda a, b, c, d: epinn.fit(a),
)


def _is(value: Any) -> bool:
    return value is True


SMALL = epinn.Problem(domain=ONE, equation=_equation, points=epinn.Points(collocation=4))
