"""Packages that need not be installed: imported when they are needed, and asked for in one line where they are missing."""

from importlib import import_module
from typing import Any

from .errors import InputError


def optional(module: str, what: str, extra: str) -> Any:
    """A module of a package that is an extra; `what` is the thing that needs it, in the plural."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise InputError(f"{what} need the package {package}: pip install 'epinn[{extra}]'.") from error
