"""PINNacle's Poisson equation in 5 dimensions."""

from ..families import poisson

CASE = poisson(5)
