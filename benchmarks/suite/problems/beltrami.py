"""A Beltrami flow: an exact unsteady solution of the Navier-Stokes equations in three dimensions.

Ethier and Steinman, Exact fully 3D Navier-Stokes solutions for benchmarking (1994), with a = d = 1 and a Reynolds number of 1.
"""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference


def u_exact(x, y, z, t):
    return -(jnp.exp(x) * jnp.sin(y + z) + jnp.exp(z) * jnp.cos(x + y)) * jnp.exp(-t)


def v_exact(x, y, z, t):
    return -(jnp.exp(y) * jnp.sin(z + x) + jnp.exp(x) * jnp.cos(y + z)) * jnp.exp(-t)


def w_exact(x, y, z, t):
    return -(jnp.exp(z) * jnp.sin(x + y) + jnp.exp(y) * jnp.cos(z + x)) * jnp.exp(-t)


def p_exact(x, y, z, t):
    squares = jnp.exp(2 * x) + jnp.exp(2 * y) + jnp.exp(2 * z)
    mixed = (
        jnp.sin(x + y) * jnp.cos(z + x) * jnp.exp(y + z)
        + jnp.sin(y + z) * jnp.cos(x + y) * jnp.exp(z + x)
        + jnp.sin(z + x) * jnp.cos(y + z) * jnp.exp(x + y)
    )
    return -0.5 * (squares + 2 * mixed) * jnp.exp(-2 * t)


EXACT = {"u": u_exact, "v": v_exact, "w": w_exact, "p": p_exact}


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="beltrami",
        domain=epinn.Box(x=(-1, 1), y=(-1, 1), z=(-1, 1), t=(0, 1)),
        fields=("u", "v", "w", "p"),
        equation={
            "momentum x": lambda u, v, w, p: u.t + u * u.x + v * u.y + w * u.z + p.x - (u.xx + u.yy + u.zz),
            "momentum y": lambda u, v, w, p: v.t + u * v.x + v * v.y + w * v.z + p.y - (v.xx + v.yy + v.zz),
            "momentum z": lambda u, v, w, p: w.t + u * w.x + v * w.y + w * w.z + p.z - (w.xx + w.yy + w.zz),
            "mass": lambda u, v, w: u.x + v.y + w.z,
        },
        boundary=[epinn.Dirichlet(exact, field=name) for name, exact in EXACT.items()],
        # the pressure follows from the velocities at every instant: it has no initial value
        initial=[
            epinn.Initial(lambda x, y, z: u_exact(x, y, z, 0.0), field="u"),
            epinn.Initial(lambda x, y, z: v_exact(x, y, z, 0.0), field="v"),
            epinn.Initial(lambda x, y, z: w_exact(x, y, z, 0.0), field="w"),
        ],
    )


def reference() -> Reference:
    points = np.random.default_rng(0).uniform((-1, -1, -1, 0), 1, size=(20_000, 4))
    return Reference(points, np.stack([np.asarray(exact(*points.T)) for exact in EXACT.values()], axis=1))


CASE = Case("beltrami", "Beltrami flow, unsteady Navier-Stokes in 3D", problem, reference, seeds=1)
