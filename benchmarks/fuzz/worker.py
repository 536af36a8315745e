"""Inputs of one kind in a process of its own, which may crash: where it is and what it has found is in a file."""

import json
import os
import resource
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from .judge import judged
from .kinds import KINDS

MOST = 12 * 2**30  # bytes of address space: the rest of the machine belongs to others


def work(kind: str, seed: int, begin: int, end: int, seconds: float, log: Path) -> None:
    """Try the inputs of a kind from one number to another."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    counts: Counter[str] = Counter()
    make = KINDS[kind]
    with tempfile.TemporaryDirectory() as place, log.open("a") as out:
        state = os.open(log.with_suffix(".now"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for i in range(begin, end):
            os.pwrite(state, json.dumps({"at": i, **counts}).ljust(200).encode(), 0)
            random = Random(f"{kind} {seed} {i}")
            verdict = judged(make(random, Path(place)), seconds)
            counts[verdict.kind] += 1
            if verdict.kind == "found":
                out.write(json.dumps({"input": i, "note": verdict.note, "said": verdict.said[:300]}) + "\n")
                out.flush()
        os.pwrite(state, json.dumps({"at": end, **counts}).ljust(200).encode(), 0)
