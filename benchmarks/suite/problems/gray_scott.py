"""PINNacle's Gray-Scott equations: two substances that react along thin fronts."""

import jax.numpy as jnp
import numpy as np

import epinn

from ..case import Case, Reference
from ..references import cosine

FEED, KILL = 0.04, 0.1
DIFFUSIVITIES = (1e-5, 5e-6)
END = 200.0
REACH = 0.64  # nothing has happened further out by the end: u = 1 and v = 0 there


def problem(seed: int) -> epinn.Problem:
    return epinn.Problem(
        name="gray_scott",
        domain=epinn.Box(x=(-1, 1), y=(-1, 1), t=(0, END)),
        fields=("u", "v"),
        equation={
            "u": lambda u, v: u.t - 1e-5 * (u.xx + u.yy) - FEED * (1 - u) + u * v**2,
            "v": lambda u, v: v.t - 5e-6 * (v.xx + v.yy) + KILL * v - u * v**2,
        },
        boundary=[epinn.Neumann(0.0, field="u"), epinn.Neumann(0.0, field="v")],
        initial=[
            epinn.Initial(lambda x, y: 1 - jnp.exp(-80 * ((x + 0.05) ** 2 + (y + 0.02) ** 2)), field="u"),
            epinn.Initial(lambda x, y: jnp.exp(-80 * ((x - 0.05) ** 2 + (y - 0.02) ** 2)), field="v"),
        ],
    )


def solve(times: np.ndarray, intervals: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes along a side of the inner square, and u and v on them: shape (times, 2, x, y)."""
    axis = np.linspace(-REACH, REACH, intervals + 1)
    x, y = axis[:, None], axis
    u = 1 - np.exp(-80 * ((x + 0.05) ** 2 + (y + 0.02) ** 2))
    v = np.exp(-80 * ((x - 0.05) ** 2 + (y - 0.02) ** 2))

    def reaction(fields: np.ndarray) -> np.ndarray:
        u, v = fields
        meeting = u * v**2
        return np.stack([FEED * (1 - u) - meeting, meeting - KILL * v])

    return axis, cosine.solve(np.stack([u, v]), DIFFUSIVITIES, reaction, 2 * REACH, times, steps=steps)


def reference() -> Reference:
    times = np.linspace(0, END, 11)
    axis, inner = solve(times, intervals=256, steps=20)
    coarse = np.linspace(-1, 1, 41)  # every tenth node of the inner square is among them
    nodes = np.rint((coarse + REACH) / (axis[1] - axis[0])).astype(int)
    inside = np.abs(coarse) < REACH
    values = np.tile(np.array([1.0, 0.0])[:, None, None], (len(times), 1, len(coarse), len(coarse)))
    values[:, :, *np.ix_(inside, inside)] = inner[:, :, *np.ix_(nodes[inside], nodes[inside])]
    t, x, y = np.meshgrid(times, coarse, coarse, indexing="ij")
    return Reference(np.stack([x, y, t], axis=-1).reshape(-1, 3), np.moveaxis(values, 1, -1).reshape(-1, 2))


CASE = Case("gray_scott", "Gray-Scott in 2D (PINNacle's GS)", problem, reference, seeds=1)
