"""Seconds per Adam step of the paper's 1D E-PINN in eager PyTorch.

    u(x, z) = base(x) + learnable([x, h(x)], z) + alpha * prior([x, h(x)], z),    z ~ N(0, I)

Only the parameters of `learnable` are trained; derivatives with respect to x go through all three networks.
"""

import common
import numpy as np
import torch
from pytorch import ALL_POINTS, TUNED, adam, loss, mlp

INDEX_DIM = 8
ALPHA = 0.05


class Epinet(torch.nn.Module):
    def __init__(self, base: torch.nn.Sequential) -> None:
        super().__init__()
        self.body, self.head = base[:-1], base[-1]
        inputs = 1 + self.head.in_features + INDEX_DIM
        self.learnable = mlp([inputs, 32, 32, 32, INDEX_DIM])
        self.prior = mlp([inputs, 5, 5, INDEX_DIM])
        for linear in self.prior[::2]:
            torch.nn.init.xavier_uniform_(linear.bias[:, None])
        for frozen in (self.body, self.head, self.prior):
            frozen.requires_grad_(False)

    def forward(self, x: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        h = self.body(x)
        inputs = torch.cat([x, h, z.expand(len(x), -1)], 1)
        return self.head(h) + (self.learnable(inputs) + ALPHA * self.prior(inputs)) @ z[:, None]


def trained_base() -> torch.nn.Sequential:
    """A network close to the solution: fitted to its values, which is quicker than to the equation."""
    base = mlp(common.LAYERS)
    optimizer = torch.optim.LBFGS(base.parameters(), max_iter=2000, line_search_fn="strong_wolfe")
    x, u = ALL_POINTS.detach(), torch.from_numpy(common.exact(common.ALL_POINTS))

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        error = torch.nn.functional.mse_loss(base(x), u)
        error.backward()
        return error

    optimizer.step(closure)
    return base


def main() -> None:
    epinet = Epinet(trained_base())
    parameters = list(epinet.learnable.parameters())
    optimizer = adam(parameters)

    def run(steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            z = torch.randn(INDEX_DIM)
            # Tuned, the gradient with respect to the points, which nobody needs, is not computed: faster by a seventh.
            loss(lambda x, z=z: epinet(x, z)).backward(inputs=parameters if TUNED else None)
            optimizer.step()

    def mean(x: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return torch.stack([epinet(torch.from_numpy(x), z) for z in torch.randn(100, INDEX_DIM)]).mean(0).numpy()

    common.report("PyTorch, epinet", "torch", run, mean)


if __name__ == "__main__":
    main()
