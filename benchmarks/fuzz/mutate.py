"""Texts, bytes and plain data that are nearly right: an example, changed in random places."""

import re
from collections.abc import Sequence
from random import Random
from typing import Any

NUMBERS = ("0", "-1", "1e308", "-1e308", "1e-320", "1e999", "nan", "inf", "-inf", "9" * 30, "9" * 5000, "0x10", "1_0", "1e", "")
LETTERS = "\0\n\t\r '\"\\[]{}()=#,;.:*^−·é∂π²½½Ⅳ\u202e\u0301\ud7ff😀𝑥_"
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3, 2**31, 2**63, 2**64, -(2**70), 10**400, 0.0, -0.5, 1e-320, 1e308),
    *(float("nan"), float("inf"), "", " ", "x", "u", "none", "../../x", "/dev/zero", "\0", "é" * 300, "line\nline"),
    *([], {}, [[]], [None], {"": None}, [1, 2, 3], {"x": [0, 1]}, [[[[1]]]], "a" * 100_000),
)


def text(source: str, random: Random, words: Sequence[str] = ()) -> str:
    """The text with one to four changes."""
    for _ in range(random.choice((1, 1, 2, 4))):
        source = _changed(source, random, words)
    return source


def _changed(source: str, random: Random, words: Sequence[str]) -> str:
    begin = random.randint(0, len(source))
    end = min(len(source), begin + random.choice((0, 1, 1, 3, 10, 40)))
    match random.randrange(9):
        case 0:
            return source[:begin] + source[end:]
        case 1:
            return source[:end] + source[begin:end] * random.choice((1, 2, 50)) + source[end:]
        case 2:
            return source[:begin] + random.choice(LETTERS) + source[end:]
        case 3:
            return source[:begin] + chr(random.choice((random.randrange(128), random.randrange(0xD7FF)))) + source[end:]
        case 4:
            return source[:begin]
        case 5:
            lines = source.splitlines(keepends=True)
            random.shuffle(lines)
            return "".join(lines[: random.choice((len(lines), len(lines), max(1, len(lines) // 2)))])
        case 6:
            return _replaced(source, r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?", random.choice(NUMBERS), random)
        case _ if words:
            return _replaced(source, r"[A-Za-z_]+|\S+", random.choice(words), random)
    return source[:begin] + source[end:] + source[begin:end]


def _replaced(source: str, pattern: str, by: str, random: Random) -> str:
    """The text with one part that fits the pattern replaced."""
    places = [found.span() for found in re.finditer(pattern, source)]
    if not places:
        return by
    begin, end = random.choice(places)
    return source[:begin] + by + source[end:]


def content(source: bytes, random: Random) -> bytes:
    """Bytes with one to eight changes."""
    found = bytearray(source)
    for _ in range(random.choice((1, 1, 2, 8))):
        place = random.randrange(len(found) + 1)
        match random.randrange(6):
            case 0 | 1 if place < len(found):
                found[place] ^= 1 << random.randrange(8)
            case 2:
                del found[place:]
            case 3:
                found[place:place] = random.randbytes(random.choice((1, 4, 64)))
            case 4:
                del found[place : place + random.choice((1, 8, 100))]
            case _:
                found[place : place + 8] = random.choice((b"\xff" * 8, b"\0" * 8, (2**62).to_bytes(8, "little"), b"\x7f" * 8))
    return bytes(found)


def plain(source: Any, random: Random) -> Any:
    """Plain data, of which one to three values or names are others."""
    for _ in range(random.choice((1, 1, 2, 3))):
        source = _changed_somewhere(source, random)
    return source


def _changed_somewhere(node: Any, random: Random) -> Any:
    is_inner = isinstance(node, dict | list) and len(node) > 0
    if not is_inner or random.random() < 0.08:
        return random.choice(VALUES)
    if isinstance(node, list):
        place = random.randrange(len(node))
        if random.random() < 0.15:
            return random.choice((node[:place] + node[place + 1 :], [*node, node[place]], node * 3))
        return [_changed_somewhere(child, random) if i == place else child for i, child in enumerate(node)]
    name = random.choice(list(node))
    if random.random() < 0.25:
        others = {key: value for key, value in node.items() if key != name}
        return others if random.random() < 0.6 else others | {random.choice(("", "x", "__class__", name * 2)): node[name]}
    return {key: _changed_somewhere(child, random) if key == name else child for key, child in node.items()}
