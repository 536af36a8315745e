"""`epinn problems`."""

from .listing import print_rows


def problems() -> None:
    """List the shipped problems."""
    from ...problems import SHIPPED

    print_rows((name, (factory.__doc__ or "").strip().partition("\n")[0]) for name, factory in SHIPPED.items())
