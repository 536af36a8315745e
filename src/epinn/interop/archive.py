"""Archives from strangers: refused before they are unpacked where that would fill the memory."""

import zipfile
from pathlib import Path

from ..errors import InputError

TIMES, SMALL = 10, 2**20  # how many times as large an archive may get; bytes of one that may get that large in any case


def refuse_bomb(path: Path, archive: zipfile.ZipFile) -> None:
    """Refuse an archive that is far larger when it is unpacked. Numbers hardly get smaller, and PyTorch does not even try."""
    size = sum(entry.file_size for entry in archive.infolist())
    if size > TIMES * max(path.stat().st_size, SMALL):
        raise InputError(f"{path} unpacks to {size / 2**20:,.0f} MB, far more than a network of its size: save it again.")
