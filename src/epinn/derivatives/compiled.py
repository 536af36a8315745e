"""How functions are compiled."""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx

F = TypeVar("F", bound=Callable[..., Any])


def runs_once(function: F) -> F:
    """Compile a function that would be compiled longer than it runs: quickly compiled, slow to run."""
    options = {"xla_backend_optimization_level": 0}
    compiled: F = eqx.filter_jit(function, compiler_options=options)  # type: ignore[call-overload]  # not in its annotations
    return compiled
