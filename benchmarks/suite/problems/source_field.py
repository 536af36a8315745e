"""The source of a Poisson equation, an unknown field, from 200 noisy measurements of the solution."""

import numpy as np

import epinn

from ..case import Case, Reference

SIGMA = 0.005  # a hundredth of the largest value
STRENGTHS = {(1, 1): 10.0, (2, 1): 6.0}  # of the source, by half waves along x and y


def problem(seed: int) -> epinn.Problem:
    points, values = measured(seed)
    return epinn.Problem(
        name="source_field",
        domain=epinn.Box(x=(0, 1), y=(0, 1)),
        fields=("u", "q"),
        equation=lambda u, q: u.xx + u.yy + q,
        boundary=epinn.Dirichlet(0.0, field="u"),
        data=epinn.Data(points, values, sigma=SIGMA, field="u"),
    )


def solution(points: np.ndarray) -> np.ndarray:
    """u and q: a source made of waves has a solution made of the same waves."""
    x, y = points.T
    waves = {(m, n): np.sin(m * np.pi * x) * np.sin(n * np.pi * y) for m, n in STRENGTHS}
    u = sum(strength / (np.pi**2 * (m**2 + n**2)) * waves[m, n] for (m, n), strength in STRENGTHS.items())
    q = sum(strength * waves[key] for key, strength in STRENGTHS.items())
    return np.stack([u, q], axis=1)


def measured(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Where was measured, and what."""
    generator = np.random.default_rng(seed)
    points = generator.uniform(size=(200, 2))
    return points, solution(points)[:, 0] + SIGMA * generator.normal(size=200)


def reference() -> Reference:
    axis = np.linspace(0, 1, 101)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    return Reference(points, solution(points))


CASE = Case("source_field", "Source of a Poisson equation, an unknown field", problem, reference)
