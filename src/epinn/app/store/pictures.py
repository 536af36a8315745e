"""Figures as PNG files: written whole or not at all, and checked when they are read back into a page."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

from .files import damaged, read_whole, write_atomically
from .seal import is_whole_picture

if TYPE_CHECKING:  # it takes a while to load, and only figures need it
    from matplotlib.figure import Figure

RESOLUTION = 150  # dots per inch


def save_picture(figure: "Figure", path: Path) -> None:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=RESOLUTION)
    write_atomically(path, buffer.getvalue())


def read_picture(path: Path) -> bytes:
    """A picture of a run folder."""
    content = read_whole(path)
    if not is_whole_picture(content):
        raise damaged(path, f"epinn resume {path.parent} draws it again")
    return content
