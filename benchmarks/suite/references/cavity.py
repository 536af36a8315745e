"""The lid-driven cavity: the steady stream function, by Chebyshev polynomials and Newton's method.

The stream function has one equation, nu lap lap psi = u (lap psi)_x + v (lap psi)_y with u = psi_y and v = -psi_x, and no
pressure. Its least value is -0.118936 at a Reynolds number of 1000, as in Botella and Peyret, Benchmark spectral results on the
lid-driven cavity flow (1998); `ghia.py` has the tables of others.
"""

import numpy as np
from numpy.polynomial import chebyshev

from ..case import Reference

STEPS = (100, 400, 1000)  # each Reynolds number is the start for the next; from rest Newton's method would not get to the last
COARSE, FINE = 24, 56  # degrees
CORNER = 0.05  # the lid meets the walls at a jump in u, near which no polynomial is any good


def cavity(reynolds: int) -> Reference:
    """u and v inside, in columns u, v, p; of the pressure nothing is said."""
    psi = np.zeros((COARSE + 1, COARSE + 1))
    for step in STEPS[: STEPS.index(reynolds) + 1]:
        psi = _newton(step, psi)
    nodes = _nodes(FINE)
    coefficients = _coefficients(_newton(reynolds, chebyshev.chebgrid2d(nodes, nodes, _coefficients(psi))))
    axis = np.linspace(0, 1, 101)[1:-1]
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    x, y = points.T
    points = points[np.hypot(np.minimum(x, 1 - x), 1 - y) > CORNER]
    u, v = velocity(coefficients, points)
    return Reference(points, np.stack([u, v, np.full_like(u, np.nan)], axis=1))


def velocity(coefficients: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """u and v at points of the unit square, which the polynomials see as -1 to 1."""
    x, y = 2 * points.T - 1
    along_x, along_y = (2 * chebyshev.chebval2d(x, y, chebyshev.chebder(coefficients, axis=axis)) for axis in (0, 1))
    return along_y, -along_x


def _nodes(degree: int) -> np.ndarray:
    return np.cos(np.pi * np.arange(degree + 1) / degree)


def _coefficients(values: np.ndarray) -> np.ndarray:
    """Of the polynomial through values at the nodes along x and y."""
    degree = len(values) - 1
    back = np.linalg.inv(chebyshev.chebvander(_nodes(degree), degree))
    return back @ values @ back.T


def _derivative(degree: int) -> np.ndarray:
    """From values at the nodes to those of the derivative along the side of the unit square (Trefethen 2000)."""
    k, x = np.arange(degree + 1), _nodes(degree)
    c = np.where((k == 0) | (k == degree), 2.0, 1.0) * (-1.0) ** k
    found = np.outer(c, 1 / c) / (x[:, None] - x + np.eye(degree + 1))
    return 2 * (found - np.diag(found.sum(axis=1)))


def _newton(reynolds: float, start: np.ndarray) -> np.ndarray:
    """The stream function at the nodes: zero on the walls, so that only what is inside is unknown."""
    degree, inside = len(start) - 1, slice(1, -1)
    d = _derivative(degree)
    d1, d2, d3, d4 = (np.linalg.matrix_power(d, order)[inside, inside] for order in (1, 2, 3, 4))
    one = np.eye(degree - 1)
    along_x, along_y = np.kron(d1, one), np.kron(one, d1)
    curl_x, curl_y = np.kron(d3, one) + np.kron(d1, d2), np.kron(d2, d1) + np.kron(one, d3)  # those of lap psi
    friction = (np.kron(d4, one) + 2 * np.kron(d2, d2) + np.kron(one, d4)) / reynolds
    rows, slopes, targets = _no_slip(d)
    psi = start[inside, inside].ravel()
    for _ in range(20):
        u, v, wx, wy = along_y @ psi, -(along_x @ psi), curl_x @ psi, curl_y @ psi
        residual = friction @ psi - u * wx - v * wy
        jacobian = friction - u[:, None] * curl_x - wx[:, None] * along_y - v[:, None] * curl_y + wy[:, None] * along_x
        residual[rows], jacobian[rows] = slopes @ psi - targets, slopes
        change = np.linalg.solve(jacobian, -residual)
        psi = psi + change
        if np.abs(change).max() < 1e-8:
            return np.pad(psi.reshape(degree - 1, degree - 1), 1)
    raise RuntimeError(f"Newton's method does not converge at Re = {reynolds:g}.")


def _no_slip(d: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The velocity along the walls, one on the lid, in the place of the equation at the nodes next to them."""
    inner = len(d) - 2
    number = np.arange(inner**2).reshape(inner, inner)
    rows, slopes, targets = [], [], []
    for wall, beside in ((0, 0), (-1, inner - 1)):  # the first node is at x = 1 or y = 1
        for j in range(inner):
            slope = np.zeros((inner, inner))
            slope[:, j] = d[wall, 1:-1]
            rows.append(number[beside, j])
            slopes.append(slope.ravel())
            targets.append(0.0)
        for i in range(1, inner - 1):
            slope = np.zeros((inner, inner))
            slope[i] = d[wall, 1:-1]
            rows.append(number[i, beside])
            slopes.append(slope.ravel())
            targets.append(1.0 if wall == 0 else 0.0)
    return np.array(rows), np.array(slopes), np.array(targets)
