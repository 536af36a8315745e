"""The lid-driven cavity at a Reynolds number of 100."""

from ..families import cavity

CASE = cavity(100)
