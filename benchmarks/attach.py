"""A PINN trained by DeepXDE beside one of epinn's own on 1D Poisson: bands, metrics, and what they cost on one core.

DDE_BACKEND=pytorch python benchmarks/attach.py [--out docs/results/attach]      some minutes, most of them DeepXDE's
"""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))

from machine import describe, save, use_one_core

use_one_core()

from attach_deepxde import problem, train

import epinn
from epinn.judge.evaluation import evaluate

METHODS = ("epinet", "laplace")


def timed(function, *arguments, **options):
    """The result, and the seconds that the core worked on it: others may use the machine, too."""
    started = time.process_time()
    result = function(*arguments, **options)
    return result, time.process_time() - started


def row(name, base, method):
    """One band; made twice, since the first time includes compilation, and the import where it is one."""
    (band, first), (_, again) = (timed(epinn.attach, base, problem, method=method, key=1) for _ in range(2))
    look, looking = timed(evaluate, band)
    found = {key: value for key, value in look.metrics().items() if key in ("sharpness", "coverage", "rmse")}
    return {"network": name, "method": method, **found, "attach_s": first, "attach_again_s": again, "predict_s": looking}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "results" / "attach")
    out = parser.parse_args().out
    model, by_deepxde = timed(train)
    own, by_epinn = timed(epinn.fit, problem, key=0)
    networks = {"DeepXDE": model, "epinn": own}
    rows = [row(name, base, method) for name, base in networks.items() for method in METHODS]
    save(out, "deepxde", {"machine": describe(), "training_s": {"DeepXDE": by_deepxde, "epinn": by_epinn}, "rows": rows})
    for one in rows:
        numbers = ", ".join(f"{name} {value:.3g}" for name, value in one.items() if not isinstance(value, str))
        print(f"{one['network']:<8} {one['method']:<8} {numbers}")
    print(f"training: DeepXDE {by_deepxde:.0f} s, epinn {by_epinn:.0f} s")


if __name__ == "__main__":
    main()
