"""Straight and elliptic edges in closed form: points and normals on them are exact."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

Pair = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """The points `at + s * along + cos(s) * cosine + sin(s) * sine` for s from 0 to `end`, a figure's inside on the left.

    A straight edge has nothing but `along`, an ellipse nothing but the other two; `tag` tells edges of one figure apart.
    """

    at: Pair
    along: Pair
    cosine: Pair
    sine: Pair
    end: float
    tag: str = ""

    @classmethod
    def edge(cls, begin: Pair, end: Pair, tag: str) -> "Curve":
        """A straight one."""
        return cls(begin, (end[0] - begin[0], end[1] - begin[1]), (0.0, 0.0), (0.0, 0.0), 1.0, tag)

    @property
    def is_straight(self) -> bool:
        return self.along != (0.0, 0.0)

    @property
    def table(self) -> Float[np.ndarray, "4 2"]:
        """Its vectors in rows."""
        return np.array([self.at, self.along, self.cosine, self.sine])

    def points(self, s: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 2"]:
        return np.asarray(place(s, self.table, np))

    def normals(self, s: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 2"]:
        """Unit normals that point out of the figure."""
        return np.asarray(rightward(self.slopes(s), np))

    def slopes(self, s: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 2"]:
        """Derivatives of the points by s."""
        return np.asarray(slope(s, self.table, np))

    def near(self, points: Float[np.ndarray, "n 2"], distance: float) -> np.ndarray:
        """Which points lie on it, up to a distance."""
        away = points - np.asarray(self.at)
        if not self.is_straight:
            axes = np.stack([self.cosine, self.sine], axis=1)
            radius = np.linalg.norm(np.linalg.solve(axes, away.T), axis=0)
            return np.asarray(np.abs(radius - 1) * np.linalg.norm(axes, axis=0).min() < distance)
        length = np.hypot(*self.along)
        unit = np.asarray(self.along) / length
        ahead, beside = away @ unit, away @ np.array([unit[1], -unit[0]])
        return np.asarray((np.abs(beside) < distance) & (ahead > -distance) & (ahead < length + distance))


# Points are also placed inside compiled code, where arrays are those of JAX: the last argument is `numpy` or `jax.numpy`.


def place(s: Any, tables: Any, xp: Any) -> Any:
    """Points of curves, one row each; tables (4, 2) of one curve for all, or (n, 4, 2)."""
    s = s[:, None]
    return tables[..., 0, :] + s * tables[..., 1, :] + xp.cos(s) * tables[..., 2, :] + xp.sin(s) * tables[..., 3, :]


def slope(s: Any, tables: Any, xp: Any) -> Any:
    """Their derivatives."""
    s = s[:, None]
    return tables[..., 1, :] - xp.sin(s) * tables[..., 2, :] + xp.cos(s) * tables[..., 3, :]


def rightward(slopes: Any, xp: Any) -> Any:
    """Unit vectors to the right of where a curve goes."""
    right = xp.stack([slopes[:, 1], -slopes[:, 0]], axis=1)
    return right / xp.linalg.norm(right, axis=1, keepdims=True)
