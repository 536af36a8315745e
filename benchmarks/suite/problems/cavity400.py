"""The lid-driven cavity at a Reynolds number of 400."""

import epinn

from ..case import Case, Reference
from ..references.cavity import cavity

REYNOLDS = 400


def problem(seed: int) -> epinn.Problem:
    nu = 1 / REYNOLDS
    return epinn.Problem(
        name="cavity400",
        domain=epinn.Box(x=(0, 1), y=(0, 1)),
        fields=("u", "v", "p"),
        equation={
            "momentum x": lambda u, v, p: u * u.x + v * u.y + p.x - nu * (u.xx + u.yy),
            "momentum y": lambda u, v, p: u * v.x + v * v.y + p.y - nu * (v.xx + v.yy),
            "mass": lambda u, v: u.x + v.y,
        },
        boundary=[
            epinn.Dirichlet(1.0, on="y=1", field="u"),  # the lid
            epinn.Dirichlet(0.0, on="x, y=0", field="u"),
            epinn.Dirichlet(0.0, field="v"),
            epinn.Dirichlet(0.0, field="p", points=[(0.0, 0.0)]),  # the equations know the pressure but for a constant
        ],
    )


def reference() -> Reference:
    return cavity(REYNOLDS)


CASE = Case("cavity400", "Lid-driven cavity, Re = 400", problem, reference)
