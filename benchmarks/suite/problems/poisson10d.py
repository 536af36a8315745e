"""PINNacle's Poisson equation in 10 dimensions."""

from ..families import poisson

CASE = poisson(10)
