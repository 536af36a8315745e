"""`epinn methods`."""

from .listing import print_rows


def methods() -> None:
    """List the methods."""
    from ...methods import METHODS

    print_rows((name, method.summary) for name, method in METHODS.items())
