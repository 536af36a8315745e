"""Error bars for a PINN written in plain PyTorch: 1D Poisson, 0.01 u_xx = f, with u = 0 at both ends built into the network.

python examples/attach_pytorch.py [FIGURE]
"""

import math
import sys
import time

import jax.numpy as jnp
import torch

import epinn

# PyTorch's part


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [(1, 32), (32, 32), (32, 32)]
        self.hidden = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in sizes)
        self.last = torch.nn.Linear(32, 1)

    def forward(self, x):
        h = x
        for layer in self.hidden:
            h = torch.tanh(layer(h))
        return (1 - x**2) * self.last(h)


def train(adam=4_000, lbfgs=1_000):
    torch.manual_seed(0)
    network, x = Network(), torch.linspace(-1, 1, 100).reshape(-1, 1).requires_grad_()
    source = -((2 * math.pi) ** 2) * torch.sin(2 * math.pi * x.detach())

    def loss():
        u = network(x)
        (u_x,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
        return torch.mean((0.01 * (u_xx - source)) ** 2)

    first = torch.optim.Adam(network.parameters(), lr=1e-3)
    second = torch.optim.LBFGS(network.parameters(), max_iter=lbfgs, line_search_fn="strong_wolfe", tolerance_change=1e-12)

    def step(optimizer):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    for _ in range(adam):
        first.step(lambda: step(first))
    second.step(lambda: step(second))
    return network


# epinn's part: the same equation once more, with the values at the ends, and the module as it is

problem = epinn.Problem(
    name="poisson1d",
    domain=epinn.Box(x=(-1, 1)),
    equation=lambda u, x: 0.01 * (u.xx + (2 * jnp.pi) ** 2 * jnp.sin(2 * jnp.pi * x)),
    boundary=epinn.Dirichlet(0.0),
    exact=lambda x: jnp.sin(2 * jnp.pi * x),
    points=epinn.Points(collocation=100),
)

if __name__ == "__main__":
    started = time.perf_counter()
    network = train()
    trained = time.perf_counter() - started
    started = time.perf_counter()
    band = epinn.attach(network, problem, method="epinet", key=1)
    print(band.summary())
    print(f"training {trained:.0f} s, band {time.perf_counter() - started:.1f} s")
    band.plot().savefig(sys.argv[1] if len(sys.argv) > 1 else "attach_pytorch.png", dpi=150)
