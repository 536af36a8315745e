"""Names with a text each, in two columns."""

from collections.abc import Iterable

import typer


def print_rows(rows: Iterable[tuple[str, str]]) -> None:
    """One line a row."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        typer.echo(f"{name:<{width}}  {text}")
