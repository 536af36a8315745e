"""Compiled programs, kept between processes."""

import os
import warnings
from pathlib import Path


def keep_compiled_programs() -> None:
    """Keep compiled programs in the user's cache folder, so that only the first run on a machine waits for them."""
    import jax

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epinn" / "compiled"
    jax.config.update("jax_compilation_cache_dir", str(cache))  # type: ignore[no-untyped-call]  # JAX has no type for it
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)  # type: ignore[no-untyped-call]
    # what another process is just writing is compiled here too, which costs a moment
    warnings.filterwarnings("ignore", "Error (reading|writing) persistent compilation cache entry")
