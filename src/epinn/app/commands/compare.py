"""`epinn compare`."""

from .experiment import plan_of, start
from .options import Problem, Request, Seeds, shared_options


@shared_options(method="epinet,dropout,hmc")
def compare(request: Request, problem: Problem, seeds: Seeds = 1) -> None:
    """Run several methods on the same base PINN: a table with one row per method, and the figure."""
    start(plan_of(request, problem, seeds), request)
