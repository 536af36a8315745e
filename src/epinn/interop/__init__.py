"""Networks trained elsewhere, made ready for error bars."""

from .adopt import adopt

__all__ = ["adopt"]
