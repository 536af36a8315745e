"""Cases that differ in a number only."""

import jax.numpy as jnp
import numpy as np

import epinn

from .case import Case, Reference
from .references.cavity import cavity as cavity_reference


def cavity(reynolds: int, seeds: int = 3) -> Case:
    """The lid-driven cavity."""
    nu = 1 / reynolds

    def problem(seed: int) -> epinn.Problem:
        return epinn.Problem(
            name=f"cavity{reynolds}",
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

    title = f"Lid-driven cavity, Re = {reynolds}"
    return Case(f"cavity{reynolds}", title, problem, lambda: cavity_reference(reynolds), seeds=seeds)


def poisson(dimension: int) -> Case:
    """PINNacle's Poisson equation in many dimensions."""
    coordinates = [f"x{i + 1}" for i in range(dimension)]

    def exact(p):
        return sum(jnp.sin(np.pi / 2 * getattr(p, x)) for x in coordinates)

    def problem(seed: int) -> epinn.Problem:
        return epinn.Problem(
            name=f"poisson{dimension}d",
            domain=epinn.Box(**dict.fromkeys(coordinates, (0, 1))),
            equation=lambda u, p: sum(u.diff(x, x) for x in coordinates) + np.pi**2 / 4 * exact(p),
            boundary=epinn.Dirichlet(exact),
        )

    def reference() -> Reference:
        points = np.random.default_rng(0).uniform(size=(20_000, dimension))
        return Reference(points, np.sin(np.pi / 2 * points).sum(axis=1, keepdims=True))

    return Case(f"poisson{dimension}d", f"Poisson in {dimension} dimensions (PINNacle's PNd)", problem, reference)
