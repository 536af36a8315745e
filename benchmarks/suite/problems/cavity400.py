"""The lid-driven cavity at a Reynolds number of 400."""

from ..families import cavity

CASE = cavity(400)
