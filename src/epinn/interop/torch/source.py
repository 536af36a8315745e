"""A PyTorch module in its own framework: its precision, its values and its own derivatives, which an import is checked by."""

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import InputError

MODE_POINTS = 7  # at which training and evaluation mode are compared
MODE_MATTERS = 1e-5  # relative, above the rounding of single precision


def import_torch() -> Any:
    """PyTorch, which is an extra."""
    try:
        import torch
    except ImportError as error:
        raise InputError("networks of PyTorch need PyTorch: pip install 'epinn[torch]'.") from error
    return torch


@contextlib.contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """The module in evaluation mode; every part gets its own mode back."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def mode_notes(module: Any, dimension: int) -> tuple[str, ...]:
    """A sentence where a module is in training mode, and computes something else there than in evaluation mode."""
    if not any(part.training for part in module.modules()):
        return ()
    torch, changed = import_torch(), 0.0
    with contextlib.suppress(Exception), torch.random.fork_rng(devices=[]), torch.no_grad():  # some cannot be copied or run
        training, evaluated = copy.deepcopy(module), copy.deepcopy(module).eval()
        device = next((tensor.device for tensor in (*module.parameters(), *module.buffers())), None)
        x = torch.rand(MODE_POINTS, dimension, dtype=floating_type(module), device=device)
        expected = only_tensor(evaluated(x), len(x))
        difference = (only_tensor(training(x), len(x)) - expected).abs().max()
        changed = float(difference / expected.abs().max())
    if changed < MODE_MATTERS:
        return ()
    return (
        "the module was given in training mode, and its band is for what it computes in evaluation mode, model.eval(): "
        f"with dropout or batch norm the two differ, here by {changed:.1%} of the largest value.",
    )


def floating_type(module: Any) -> Any:
    """The one precision of all parameters and buffers."""
    torch = import_torch()
    buffers = [tensor for tensor in module.buffers() if tensor.is_floating_point() and tensor.ndim]
    types = {tensor.dtype for tensor in (*module.parameters(), *buffers)} or {torch.get_default_dtype()}
    if len(types) > 1 or not types <= {torch.float32, torch.float64}:
        found = " and ".join(sorted(str(kind).removeprefix("torch.") for kind in types))
        raise InputError(f"the network's parameters and buffers are in {found}: call module.float() or module.double() first.")
    return types.pop()


def only_tensor(output: Any, points: int) -> Any:
    """What the module returns, as one tensor with a row for each point."""
    torch = import_torch()
    while isinstance(output, tuple | list | dict) and len(output) == 1:
        output = next(iter(output.values() if isinstance(output, dict) else output))
    if not isinstance(output, torch.Tensor):
        count = f"{len(output)} things" if isinstance(output, tuple | list | dict) else f"a {type(output).__name__}"
        raise InputError(f"the network returns {count}: wrap it so that it returns one tensor with a column for each field.")
    if output.ndim not in (1, 2) or len(output) != points:
        raise InputError(
            f"the network returns {tuple(output.shape)} for {points} points: wrap it so that it returns (points, fields)."
        )
    return output.reshape(points, -1)


def reference(module: Any) -> Callable[[np.ndarray], np.ndarray]:
    """The module's own values at points (n, d), in its own precision; at points in double precision, in that if it can."""
    torch = import_torch()

    def values(at: Any, x: Any) -> np.ndarray:
        with evaluating(at), torch.no_grad():
            found: np.ndarray = only_tensor(at(x), len(x)).cpu().numpy()
            return found

    return lambda points: _in_precision_of(points, module, values)


def derivatives(module: Any) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The module's own first and unmixed second derivatives, (n, fields, d); NaN where PyTorch cannot differentiate twice."""
    torch = import_torch()

    def by_autograd(at: Any, x: Any) -> tuple[np.ndarray, np.ndarray]:
        x.requires_grad_()
        with evaluating(at), torch.enable_grad():
            u = only_tensor(at(x), len(x))
            slopes = [_gradient(column, x) for column in u.unbind(1)]
            curvatures = [_curvature(slope, x) for slope in slopes]
        first, second = (torch.stack(part, 1).detach().cpu().numpy() for part in (slopes, curvatures))
        return first, second

    return lambda points: _in_precision_of(points, module, by_autograd)


def _in_precision_of(points: np.ndarray, module: Any, compute: Callable[[Any, Any], Any]) -> Any:
    """In double precision, which tells a wrong rule from a rounding error, where points and module allow it."""
    torch = import_torch()
    device = next((tensor.device for tensor in (*module.parameters(), *module.buffers())), None)
    own = floating_type(module)
    if points.dtype == np.float64 and own != torch.float64:
        with contextlib.suppress(Exception):  # some modules cannot be copied, some insist on single precision
            return compute(copy.deepcopy(module).double(), torch.tensor(points, dtype=torch.float64, device=device))
    return compute(module, torch.tensor(points, dtype=own, device=device))


def _gradient(column: Any, x: Any) -> Any:
    torch = import_torch()
    if not column.requires_grad:
        return torch.zeros_like(x)
    try:
        (slope,) = torch.autograd.grad(column.sum(), x, create_graph=True, allow_unused=True)
    except RuntimeError as error:
        raise InputError(f"PyTorch cannot differentiate the network: {str(error).splitlines()[0]}") from error
    return torch.zeros_like(x) if slope is None else slope


def _curvature(slope: Any, x: Any) -> Any:
    torch = import_torch()
    try:
        return torch.stack([_gradient(slope[:, j], x)[:, j] for j in range(x.shape[1])], 1)
    except InputError:
        return torch.full_like(x, torch.nan)
