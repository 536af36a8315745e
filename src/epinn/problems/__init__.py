"""The six equations of the paper, each a function `name(noise=..., key=...)` that returns a Problem.

`noise` is the standard deviation of the simulated measurements in parts of max |u|, with 0 for no measurements at all, and
`key` draws it. `collocation` and `sensors` count points, `sampling` says how those of the equation are spread, and with
`resample` = k they are drawn anew every k steps.
"""

from collections.abc import Callable

from ..problem.problem import Problem
from .burgers import burgers
from .heat1d_inverse import heat1d_inverse
from .poisson1d import poisson1d
from .poisson1d_nonlinear import poisson1d_nonlinear
from .poisson2d_nonlinear import poisson2d_nonlinear
from .porous1d import porous1d

SHIPPED: dict[str, Callable[..., Problem]] = {
    factory.__name__.replace("_", "-"): factory
    for factory in (poisson1d, poisson1d_nonlinear, porous1d, poisson2d_nonlinear, heat1d_inverse, burgers)
}

__all__ = [factory.__name__ for factory in SHIPPED.values()]
