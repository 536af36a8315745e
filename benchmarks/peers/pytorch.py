"""Seconds per Adam step of the paper's 1D PINN in eager PyTorch."""

import itertools
from collections.abc import Callable, Iterable, Sequence

import common
import torch

torch.set_num_threads(1)
torch.manual_seed(0)
TUNED = common.arguments().tuned
if TUNED:
    common.without_onednn(torch)

ENDS = torch.from_numpy(common.ENDS)
INTERIOR = torch.from_numpy(common.INTERIOR).requires_grad_()
ALL_POINTS = torch.from_numpy(common.ALL_POINTS).requires_grad_()
SOURCE = torch.from_numpy(common.source(common.INTERIOR))
END_VALUES = torch.from_numpy(common.exact(common.ENDS))


def mlp(sizes: Sequence[int]) -> torch.nn.Sequential:
    modules: list[torch.nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        linear = torch.nn.Linear(inputs, outputs)
        torch.nn.init.xavier_uniform_(linear.weight)
        torch.nn.init.zeros_(linear.bias)
        modules += [linear, torch.nn.Tanh()]
    return torch.nn.Sequential(*modules[:-1])


def loss(function: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """As it is usually written, with a batch for each condition; tuned, one for both (u_xx partly in vain)."""
    x = ALL_POINTS if TUNED else INTERIOR
    u = function(x)
    ones = torch.ones_like(u)
    (u_x,) = torch.autograd.grad(u, x, ones, create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x, x, ones, create_graph=True)
    u_xx, at_ends = (u_xx[2:], u[:2]) if TUNED else (u_xx, function(ENDS))
    equation = torch.nn.functional.mse_loss(common.DIFFUSION * u_xx, SOURCE)
    return equation + common.BOUNDARY_WEIGHT * torch.nn.functional.mse_loss(at_ends, END_VALUES)


def adam(parameters: Iterable[torch.nn.Parameter]) -> torch.optim.Adam:
    return torch.optim.Adam(parameters, common.LEARNING_RATE, fused=True if TUNED else None)


def main() -> None:
    network = mlp(common.LAYERS)
    optimizer = adam(network.parameters())

    def run(steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            loss(network).backward()
            optimizer.step()

    common.report("PyTorch", "torch", run, lambda x: network(torch.from_numpy(x)).detach().numpy())


if __name__ == "__main__":
    main()
