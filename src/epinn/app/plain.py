"""Plain data: what JSON can hold, and a digest of it."""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any


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
