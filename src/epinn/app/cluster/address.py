"""From what `--cluster` says to an executor: Dask's scheduler and workers, here or elsewhere."""

import contextlib
import logging
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any

from ...errors import InputError, one_line, shown
from ...extras import optional

PATIENCE = 10  # seconds that a scheduler has to answer
JOBS = 10  # of SLURM, where no number is given
KINDS = re.compile(r"(local|slurm)(?::([1-9]\d*))?")
DASHBOARD = "127.0.0.1:0"  # a port that is free, for nobody outside this machine
LEAVE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"  # Ctrl-C is for who waits for the workers
SETTINGS = "~/.config/dask/jobqueue.yaml"


def check(address: str) -> str:
    """The address, if it looks like one."""
    if not KINDS.fullmatch(address) and not re.fullmatch(r"[a-z]+://\S+:\d+", address):
        raise InputError(
            f"--cluster takes local, local:4, slurm:20, or a Dask scheduler's address (tcp://host:8786), not {shown(address)}."
        )
    return address


@contextlib.contextmanager
def workers_at(address: str, say: Callable[[str], object]) -> Iterator[Executor]:
    """An executor whose workers are at an address. Those that were started for it end with it."""
    check(address)
    distributed = optional("distributed", "clusters", "cluster")
    for name in ("distributed", "distributed.client"):  # lost workers are its daily business, and what matters is said here
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with _cluster(address, distributed) as cluster, _client(cluster, address, distributed) as client:
        say(_about(client))
        yield client.get_executor()


@contextlib.contextmanager
def _cluster(address: str, distributed: Any) -> Iterator[Any]:
    """Workers of our own, or the address of others'."""
    kind = KINDS.fullmatch(address)
    if kind is None:
        yield address
        return
    number = int(kind[2] or 0)
    if kind[1] == "slurm":
        with _slurm(number or JOBS) as cluster:
            yield cluster
        return
    # one thread each, since JAX has its own; and no limit of Dask's, since epinn has one for what is large
    options = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": DASHBOARD, "silence_logs": logging.CRITICAL}
    number = number or distributed.system.CPU_COUNT
    with distributed.LocalCluster(n_workers=number, preload=[LEAVE_INTERRUPTS], **options) as cluster:
        yield cluster


@contextlib.contextmanager
def _slurm(jobs: int) -> Iterator[Any]:
    """That many jobs, each with what the user's settings of dask-jobqueue give it."""
    jobqueue = optional("dask_jobqueue", "SLURM clusters", "cluster")
    if shutil.which("sbatch") is None:
        raise InputError("--cluster slurm needs the command sbatch, which is not here; run it where jobs are submitted from.")
    given = optional("dask", "clusters", "cluster").config.get("jobqueue.slurm")
    if missing := [name for name in ("cores", "memory") if given[name] is None]:
        raise InputError(f"say in {SETTINGS} what a job may use: jobqueue.slurm has no {' and no '.join(missing)}.")
    with jobqueue.SLURMCluster(
        worker_extra_args=[*given["worker-extra-args"], "--nthreads", "1"],
        scheduler_options={"dashboard_address": ":0"},
        silence_logs=logging.CRITICAL,
    ) as cluster:
        cluster.scale(jobs=jobs)
        yield cluster


@contextlib.contextmanager
def _client(cluster: Any, address: str, distributed: Any) -> Iterator[Any]:
    try:
        client = distributed.Client(cluster, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {address} ({one_line(error)}); start one with: dask scheduler"
        ) from None
    with client:
        yield client


def _about(client: Any) -> str:
    """How many workers there are, and where to watch them."""
    number = len(client.nthreads())
    said = {0: "no workers yet: the work begins when the first is there", 1: "1 worker"}.get(number, f"{number} workers")
    with contextlib.suppress(KeyError, AttributeError):  # a scheduler without a dashboard
        if link := client.dashboard_link:
            return f"{said}; dashboard: {link}"
    return said
