"""Compiled programs, kept between processes."""

import hashlib
import os
import platform
import warnings
from pathlib import Path

USUAL, LEAST = 1.0, 0.0  # seconds that a program must take to be compiled to be kept: JAX's, and ours, since there are many


def keep_compiled_programs() -> None:
    """Keep compiled programs in the user's cache folder, so that only the first process on a machine waits for them: they are
    most of a short run. Where JAX has been told of a folder (`jax_compilation_cache_dir`), that stays."""
    import jax  # imported here: the command line answers many a call without it

    if jax.config.jax_compilation_cache_dir is not None:  # type: ignore[attr-defined]  # it is made when JAX is imported
        return
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # a user without a home, in a container perhaps
        return
    cache = folder / "epinn" / "compiled" / _processor()
    jax.config.update("jax_compilation_cache_dir", str(cache))  # type: ignore[no-untyped-call]  # JAX has no type for it
    if jax.config.jax_persistent_cache_min_compile_time_secs == USUAL:  # type: ignore[attr-defined]
        jax.config.update("jax_persistent_cache_min_compile_time_secs", LEAST)  # type: ignore[no-untyped-call]
    # what another process is just writing, or a folder that cannot be written to, costs time and nothing else
    warnings.filterwarnings("ignore", "Error (reading|writing) persistent compilation cache entry")


def _processor() -> str:
    """What this machine's processor can do, in short: homes may be shared by machines of several kinds, and what is compiled
    for one may not run on another."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # not Linux
        lines = []
    able = next((line for line in lines if line.lower().startswith(("flags", "features"))), platform.processor())
    return f"{platform.machine()}-{hashlib.sha256(able.encode()).hexdigest()[:8]}"
