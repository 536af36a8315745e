"""Seconds per Adam step of the paper's 1D PINN in DeepXDE, with PyTorch behind it."""

import os

os.environ["DDE_BACKEND"] = "pytorch"

import common
import deepxde as dde
import torch

torch.set_num_threads(1)
TUNED = common.arguments().tuned
if TUNED:
    common.without_onednn(torch)
dde.config.set_random_seed(0)


def residual(x: torch.Tensor, u: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return common.DIFFUSION * dde.grad.hessian(u, x) - source


def main() -> None:
    data = dde.data.PDE(
        dde.geometry.Interval(-1, 1),
        residual,
        dde.icbc.PointSetBC(common.ENDS, common.exact(common.ENDS)),
        anchors=common.INTERIOR,
        num_test=1,
        auxiliary_var_function=common.source,
    )
    model = dde.Model(data, dde.nn.FNN(common.LAYERS, "tanh", "Glorot uniform"))
    optimizer = torch.optim.Adam(model.net.parameters(), common.LEARNING_RATE, fused=True) if TUNED else "adam"
    model.compile(optimizer, lr=common.LEARNING_RATE, loss_weights=[1, common.BOUNDARY_WEIGHT], verbose=0)

    def run(steps: int) -> None:
        model.train(iterations=steps, display_every=10**9, verbose=0)

    common.report("DeepXDE", "deepxde", run, model.predict)


if __name__ == "__main__":
    main()
