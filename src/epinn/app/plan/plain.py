"""Plain data: what JSON can hold, read with care, and a digest of it."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

DEEPEST = 200  # nested levels; what epinn writes has a few dozen, and Python's recursion ends at about a thousand


def finite(value: Any) -> Any:
    """Plain data that every JSON reader understands: tuples and arrays as lists, NaN and infinity as null."""
    if isinstance(value, Mapping):
        return {str(key): finite(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [finite(child) for child in value]
    if hasattr(value, "tolist"):
        return finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def digest(content: Any) -> str:
    """Ten hexadecimal digits that differ for different plain data."""
    return hashlib.sha256(json.dumps(finite(content), sort_keys=True).encode()).hexdigest()[:10]


def parse_json(text: str) -> Any:
    """The content of JSON text. What is nested so deeply that walking through it would fail is a ValueError, as is no JSON."""
    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level, depth = [content], 0
    while level:
        if depth > DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} levels deep")
        level = [child for node in level for child in _children(node)]
        depth += 1
    return content


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []
