"""E-PINN: `method` has its settings, `paper` the paper's network and loss, `calibrated` the one that is linear in the base."""

from .method import EpinetMethod

__all__ = ["EpinetMethod"]
