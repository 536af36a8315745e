"""How far a converted network is from its source."""

import jax
import jax.numpy as jnp
import numpy as np

from epinn.derivatives.jet import Jet, lower_closure, opaque

POINTS = 11  # no converter traces with a batch of this size
TOLERANCE = {np.dtype(np.float32): 1e-6, np.dtype(np.float64): 1e-10}


def points_in(dtype, dimension=2, count=POINTS):
    return np.random.default_rng(0).uniform(-1, 1, (count, dimension)).astype(dtype)


def by_jax(converted, points):
    """Values (n, fields), first and unmixed second derivatives (n, fields, d), in the precision of the points."""
    dimension = points.shape[1]
    seconds = [tuple(2 * int(i == axis) for i in range(dimension)) for axis in range(dimension)]
    firsts = [tuple(n // 2 for n in order) for order in seconds]
    variable = Jet.variable(jnp.asarray(points), lower_closure(seconds))
    parameters = {name: jnp.asarray(value, points.dtype) for name, value in converted.parameters.items()}
    jet = jax.jit(lambda p, x: opaque(lambda point: converted.function(p, point), x))(parameters, variable)
    return np.asarray(jet.value), *(np.stack([jet[order] for order in part], -1) for part in (firsts, seconds))


def values(converted, points):
    parameters = {name: jnp.asarray(value, points.dtype) for name, value in converted.parameters.items()}
    return np.asarray(jax.vmap(lambda point: converted.function(parameters, point))(points))


def by_source(converted, points):
    return converted.reference(points), *(converted.derivatives(points) if converted.derivatives else ())


def disagreement(converted, points):
    """The largest differences, relative to the largest number, of values, first and second derivatives."""
    with jax.enable_x64(points.dtype == np.float64):
        ours = by_jax(converted, points) if converted.derivatives else (values(converted, points),)
    theirs = by_source(converted, points)
    assert all(mine.dtype == points.dtype for mine in ours)
    return [float(np.max(np.abs(a - b)) / (np.max(np.abs(b)) or 1)) for a, b in zip(ours, theirs, strict=False)]


def rounding(converted, points):
    """The relative error of single precision alone, the source's or ours, whichever is larger."""
    double = points.astype(np.float64)
    with jax.enable_x64(True):
        exact = by_jax(converted, double) if converted.derivatives else (values(converted, double),)
    ours = by_jax(converted, points) if converted.derivatives else (values(converted, points),)
    pairs = zip((ours, by_source(converted, points)), (exact, by_source(converted, double)), strict=True)
    lost = [[float(np.max(np.abs(a - b)) / (np.max(np.abs(b)) or 1)) for a, b in zip(*pair, strict=True)] for pair in pairs]
    return [max(both) for both in zip(*lost, strict=True)]
