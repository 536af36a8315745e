"""The lid-driven cavity at a Reynolds number of 1000."""

from ..families import cavity

CASE = cavity(1000, seeds=1)
