"""One thread on one core, as for the peers; what the machine is; and where results go. To be imported before JAX."""

import json
import os
import platform
import re
from pathlib import Path

RESULTS = Path("docs/results/speed")


def use_one_core() -> None:
    """Before JAX is loaded. BENCH_CORE says which core; `all` leaves everything as it is, as one wants for a GPU."""
    if os.environ.get("BENCH_CORE") == "all":
        return
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["OMP_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(os.environ.get("BENCH_CORE", min(os.sched_getaffinity(0))))})


def describe() -> str:
    """The accelerator if there is one, else the processor."""
    import jax

    device = jax.devices()[0]
    if device.platform != "cpu":
        return device.device_kind
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", info.read_text()) if info.is_file() else None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{found.group(1) if found else platform.machine()}, {cores} core{'s' if cores != 1 else ''}"


def save(folder: Path, name: str, found: dict) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
