"""Error bars for a PINN that DeepXDE has trained: 1D Poisson, 0.01 u_xx = f, u = sin^3(6 x).

DDE_BACKEND=pytorch python examples/attach_deepxde.py [FIGURE]      trains for some minutes, then attaches two bands
"""

import sys
import time

import deepxde as dde
import jax.numpy as jnp
import numpy as np
import torch

import epinn
from epinn.app.report.pictures import figures

# DeepXDE's part


def u_xx(x, sin=torch.sin, cos=torch.cos):
    return 216 * sin(6 * x) * cos(6 * x) ** 2 - 108 * sin(6 * x) ** 3


def train():
    dde.config.set_random_seed(0)
    interval = dde.geometry.Interval(-1, 1)
    boundary = dde.icbc.DirichletBC(interval, lambda x: np.sin(6 * x) ** 3, lambda x, on_boundary: on_boundary)
    data = dde.data.PDE(interval, lambda x, u: 0.01 * (dde.grad.hessian(u, x) - u_xx(x)), boundary, 100, 2)
    model = dde.Model(data, dde.nn.FNN([1, 32, 32, 32, 1], "tanh", "Glorot uniform"))
    model.compile("adam", lr=1e-3)
    model.train(iterations=10_000, display_every=5_000)
    model.compile("L-BFGS")
    model.train(display_every=5_000)
    return model


# epinn's part: the same equation once more, and the model as it is

problem = epinn.Problem(
    name="poisson1d",
    domain=epinn.Box(x=(-1, 1)),
    equation=lambda u, x: 0.01 * (u.xx - u_xx(x, jnp.sin, jnp.cos)),
    boundary=epinn.Dirichlet(lambda x: jnp.sin(6 * x) ** 3),
    exact=lambda x: jnp.sin(6 * x) ** 3,
    points=epinn.Points(collocation=100),
)

if __name__ == "__main__":
    started = time.perf_counter()
    model = train()
    trained = time.perf_counter() - started
    bands = []
    for method in ("epinet", "laplace"):
        started = time.perf_counter()
        bands.append(epinn.attach(model, problem, method=method, key=1))
        print(bands[-1].summary())
        print(f"training {trained:.0f} s, band {time.perf_counter() - started:.1f} s")
    picture = figures([band.evaluation for band in bands])["error"]
    picture.savefig(sys.argv[1] if len(sys.argv) > 1 else "attach_deepxde.png", dpi=150)
