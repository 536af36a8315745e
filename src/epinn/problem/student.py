"""Student's t noise: a few readings may lie far off without deciding everything.

Minus twice the log density of a reading whose residual is z, in units of sigma, is (f + 1) log(1 + z^2 / f) with f degrees of
freedom. Its square root, with the sign of z, takes the place of z wherever squares are summed: Gauss-Newton then needs to know
nothing else. With infinite f all of it is that of Gaussian noise.
"""

import math

import jax.numpy as jnp
from jax.scipy.special import digamma
from jaxtyping import Array, Float

GAUSSIAN = math.inf  # degrees of freedom
NOISES = {"gaussian": GAUSSIAN, "student": 4.0}  # with four a reading in a hundred is further off than 4.6 sigma
TINY = 1e-12  # a square below which the root is as straight as z itself


def root(z: Float[Array, "*n"], freedom: float) -> Float[Array, "*n"]:
    """What has the square -2 log density, up to a constant."""
    if freedom == GAUSSIAN:
        return z
    square = jnp.maximum(z**2, TINY)
    return z * jnp.sqrt((freedom + 1) * jnp.log1p(square / freedom) / square)


def slope(z: Float[Array, "*n"], freedom: float) -> Float[Array, "*n"]:
    """The derivative of the root."""
    if freedom == GAUSSIAN:
        return jnp.ones_like(z)
    square = jnp.maximum(z**2, TINY)
    return weight(z, freedom) * jnp.sqrt(square / ((freedom + 1) * jnp.log1p(square / freedom)))


def weight(z: Float[Array, "*n"], freedom: float) -> Float[Array, "*n"]:
    """What a reading counts for beside one of Gaussian noise: the gradient is that of weighted squares."""
    return jnp.ones_like(z) if freedom == GAUSSIAN else (freedom + 1) / (freedom + z**2)


def curvature(z: Float[Array, "*n"], freedom: float) -> Float[Array, "*n"]:
    """The information that a reading has, in units of 1 / sigma^2: next to nothing where it is far off, and on average
    Fisher's, (f + 1) / (f + 3). The second derivative itself would be negative there."""
    fisher_over_mean = 1.0 if freedom == GAUSSIAN else freedom / (freedom + 2)  # of the squared weights
    return fisher_over_mean * weight(z, freedom) ** 2


def mean_square_of_root(freedom: float) -> Float[Array, ""]:
    """Of noise that is just what it is said to be."""
    if freedom == GAUSSIAN:
        return jnp.ones(())
    return (freedom + 1) * (digamma((freedom + 1) / 2) - digamma(freedom / 2))


def deviation(freedom: float) -> float:
    """The standard deviation of the noise, in units of sigma."""
    return 1.0 if freedom == GAUSSIAN else math.sqrt(freedom / (freedom - 2))
