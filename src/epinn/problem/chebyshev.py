"""Chebyshev series of functions on a box from -1 to 1 along every coordinate, by values at points that cluster at its ends."""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.polynomial import chebyshev

HIGHEST = 256  # degree along a coordinate
LINES = 4  # along each coordinate, on which is seen what degree it takes
MOST = 16384  # coefficients
NEGLIGIBLE = 1e-13  # coefficients that are left out
SMALL = 1e-10  # coefficients so small, in parts of the largest or of 1, are nothing

Function = Callable[[np.ndarray], np.ndarray]  # of points, one value for each


def series(function: Function, dimension: int) -> np.ndarray | None:
    """The coefficients of a smooth function; None if they do not end. What happens between all points that are looked at is not
    seen: compare it with the function."""
    degrees = [_degree(function, axis, dimension) for axis in range(dimension)]
    if math.prod(degree + 1 for degree in degrees) > MOST:
        return None
    nodes = [_nodes(degree) for degree in degrees]
    points = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, dimension)
    found = function(points).reshape([degree + 1 for degree in degrees])
    if not np.all(np.isfinite(found)):
        return None
    for axis, degree in enumerate(degrees):
        found = along(_to_coefficients(degree), found, axis)
    small = SMALL * max(1.0, float(np.abs(found).max()))
    ends = all(np.abs(np.take(found, -1, axis)).max() < small for axis in range(dimension))
    return _trimmed(found) if ends else None


def series_of_one(function: Function) -> np.ndarray:
    """The same for a smooth function of one coordinate."""
    return _trimmed(_to_coefficients(HIGHEST) @ function(_nodes(HIGHEST)))


def evaluated(coefficients: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The sum of a series at points."""
    found = np.broadcast_to(coefficients, (len(points), *coefficients.shape))
    for axis in range(points.shape[1]):
        found = np.einsum("nd,nd...->n...", chebyshev.chebvander(points[:, axis], coefficients.shape[axis] - 1), found)
    return np.asarray(found)


def along(matrix: np.ndarray, coefficients: np.ndarray, axis: int) -> np.ndarray:
    """A matrix applied along one axis."""
    return np.moveaxis(np.tensordot(matrix, coefficients, axes=(1, axis)), 0, axis)


def at_end(number: int, end: float, order: int) -> np.ndarray:
    """The values of so many polynomials at an end of their coordinate, -1 or 1, or of their derivatives (up to the second)."""
    n = np.arange(number)
    size = (np.ones(number), n**2, n**2 * (n**2 - 1) / 3)[order]
    return np.asarray(size * end ** (n + order))


def padded(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Series of different degrees, filled up with zeros, as one array."""
    shape = np.max([array.shape for array in arrays], axis=0)
    return np.stack([np.pad(a, [(0, n - m) for n, m in zip(shape, a.shape, strict=True)]) for a in arrays])


def _degree(function: Function, axis: int, dimension: int) -> int:
    """The degree that a function needs along a coordinate, going by some lines through the box; MOST if its series does not
    end."""
    nodes = _nodes(HIGHEST)
    points = np.repeat(np.random.default_rng(0).uniform(-1, 1, (LINES, 1, dimension)), len(nodes), axis=1)
    points[:, :, axis] = nodes
    values = function(points.reshape(-1, dimension)).reshape(LINES, -1)
    if not np.all(np.isfinite(values)):
        return MOST
    found = np.abs(along(_to_coefficients(HIGHEST), values, 1)).max(axis=0)
    size = max(1.0, float(found.max()))
    if found[3 * HIGHEST // 4 :].max() > SMALL * size:
        return MOST
    return max(int(np.flatnonzero(found > NEGLIGIBLE * size).max(initial=0)) + 2, 4)


@functools.cache
def _nodes(degree: int) -> np.ndarray:
    """Chebyshev points from 1 to -1, ends included."""
    return np.asarray(np.cos(np.pi * np.arange(degree + 1) / degree))


@functools.cache
def _to_coefficients(degree: int) -> np.ndarray:
    """What makes coefficients of values at the points of a degree."""
    return np.asarray(np.linalg.inv(chebyshev.chebvander(_nodes(degree), degree)))


def _trimmed(coefficients: np.ndarray) -> np.ndarray:
    """Without what is nothing at the end of each axis."""
    matters = np.abs(coefficients) > NEGLIGIBLE * max(1.0, float(np.abs(coefficients).max()))
    for axis in range(coefficients.ndim):
        some = np.flatnonzero(matters.any(axis=tuple(other for other in range(matters.ndim) if other != axis)))
        coefficients = np.take(coefficients, range(int(some.max(initial=0)) + 1), axis)
    return coefficients
