"""`epinn run`."""

from .experiment import plan_of, start
from .options import Problem, Request, Seeds, shared_options


@shared_options()
def run(request: Request, problem: Problem, seeds: Seeds = 1) -> None:
    """Solve a problem, attach a band, and write a folder with metrics, posterior and figures."""
    start(plan_of(request, problem, seeds), request)
