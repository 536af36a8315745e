"""`python -m benchmarks.suite run [NAME ...] --out DIR` computes, `python -m benchmarks.suite page DIR [DIR ...]` writes the
page."""

import argparse
import os
from pathlib import Path

RESULTS = Path("docs/results/suite")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suite", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="fit cases by default settings, each in a process of its own")
    run.add_argument("names", nargs="*", metavar="NAME", help="cases; all by default")
    run.add_argument("--jobs", type=int, default=1, help="how many processes at a time")
    run.add_argument("--cluster", metavar="ADDRESS", help="local:4, slurm:20 or a Dask scheduler's address, instead of --jobs")
    run.add_argument("--label", default="", help="what the page calls these results")
    run.add_argument("--limit", type=float, default=600.0, help="seconds after which a case is given up")
    one = commands.add_parser("one", help="one case in this process, as `run` starts it")
    one.add_argument("name", metavar="NAME")
    for command in (run, one):
        command.add_argument("--seeds", type=int, help="how many; by default what the case says")
        command.add_argument("--out", type=Path, default=RESULTS / "own", help=f"where results go ({RESULTS / 'own'})")
    page = commands.add_parser("page", help="the page, from the results in some folders, those of the first in full")
    page.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    page.add_argument("--to", type=Path, default=RESULTS, help=f"where README.md goes ({RESULTS})")
    return parser.parse_args()


def main() -> None:
    given = _arguments()
    # several processes share a GPU, so none may take all of its memory; JAX reads this when it starts
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if given.command == "page":
        from .page import write

        write(given.folders, given.to)
    elif given.command == "one":
        from .one import compute

        compute(given.name, given.seeds, given.out)
    else:
        from .run import run

        run(given.names, given.seeds, given.out, given.jobs, given.label, given.limit, given.cluster)


if __name__ == "__main__":
    main()
