"""A checksum inside every file that is read back, so that damage is told and never computed with.

It is in the file itself, not beside it: file and checksum then appear together or not at all, however a process ends. Files are
JSON, or begin with it (safetensors), and have an entry `"sha256"`, which is the digest of the whole file with zeros in its
place. A format number of at least `SEALED` says that there must be one, so that damage to the entry itself is seen too.
"""

import binascii
import hashlib
import re

from ...errors import InputError

SEALED = 3  # the first format whose files have a checksum
ENTRY = "sha256"
BLANK = "0" * 64
_PLACE = re.compile(rf'"{ENTRY}": ?"([0-9a-f]{{64}})"'.encode())
_PNG = b"\x89PNG\r\n\x1a\n"


class Damaged(InputError):
    """A file is not as epinn wrote it."""


def sealed(content: bytes) -> bytes:
    """The content of a file whose entry is blank, with its checksum."""
    found = _PLACE.search(content)
    if found is None:
        raise ValueError(f"there is no entry {ENTRY!r} for a checksum.")
    start, end = found.span(1)
    return content[:start] + _digest(content, start, end) + content[end:]


def is_intact(content: bytes) -> bool | None:
    """Whether a file is as it was written; None if it has no checksum, as those of older versions."""
    found = _PLACE.search(content)
    return None if found is None else _digest(content, *found.span(1)) == found[1]


def is_whole_picture(content: bytes) -> bool:
    """Whether a PNG is as it was written: its format has a checksum in every chunk."""
    place = len(_PNG)
    kind = b"" if content.startswith(_PNG) else b"none"
    while kind not in (b"none", b"IEND"):
        end = place + 8 + int.from_bytes(content[place : place + 4])
        kind = content[place + 4 : place + 8]
        if binascii.crc32(content[place + 4 : end]) != int.from_bytes(content[end : end + 4]) or end + 4 > len(content):
            return False
        place = end + 4
    return kind == b"IEND" and place == len(content)


def _digest(content: bytes, start: int, end: int) -> bytes:
    view, digest = memoryview(content), hashlib.sha256()
    for part in (view[:start], BLANK.encode(), view[end:]):
        digest.update(part)
    return digest.hexdigest().encode()
