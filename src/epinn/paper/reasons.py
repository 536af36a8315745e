"""Why a published value lies outside our range: what we know, said where it applies. The evidence is in docs/paper.md."""

from .tables import Comparison


def reason(one: Comparison, metric: str) -> str:
    """One sentence on a value that lies outside."""
    return "not explained"
