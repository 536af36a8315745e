# %% [markdown]
# # Error bars for a network that you have
#
# You have trained a physics-informed network in PyTorch or DeepXDE, and somebody asks how wrong it may be. `epinn.attach`
# takes it as it is: nothing is trained again, you only write the equation down once more. Here are one of each, trained for a
# moment only, so that there is something to see.

# %%
import os

os.environ["DDE_BACKEND"] = "pytorch"

import contextlib
import io

import matplotlib.pyplot as plt
import numpy as np
import torch
from scipy.integrate import cumulative_simpson

import epinn

# %% [markdown]
# The physics: a bar of 100 mm, heated along its length, with both ends at 300 K. In kelvin and millimetres, $\partial_x^2 T
# = -s(x)$, with a source that has a bump.


# %%
def source(x, xp=np):
    return 0.05 * xp.exp(-(((x - 60) / 15) ** 2))  # K/mm²


# %% [markdown]
# ## PyTorch
#
# A module as people write them: scaled input, the two ends built in, a few hundred steps of L-BFGS.


# %%
class Bar(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(1, 24), torch.nn.Tanh(), torch.nn.Linear(24, 24), torch.nn.Tanh(), torch.nn.Linear(24, 1)
        )

    def forward(self, x):
        z = x / 50 - 1
        return 300 + 20 * (1 - z**2) * self.net(z)


def train(model, steps):
    x = torch.linspace(0, 100, 60).reshape(-1, 1).requires_grad_()

    def loss():
        T = model(x)
        (slope,) = torch.autograd.grad(T.sum(), x, create_graph=True)
        (bend,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
        return torch.mean((bend + source(x, torch)) ** 2) * 1e4

    optimiser = torch.optim.LBFGS(model.parameters(), max_iter=steps, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        value = loss()
        value.backward()
        return value

    optimiser.step(closure)
    return model


torch.manual_seed(0)
early, late = train(Bar(), 12), train(Bar(), 300)

# %% [markdown]
# ## The same physics, once more
#
# The network takes its inputs in the order of the box and gives its outputs in the order of `fields`.

# %%
import jax.numpy as jnp

problem = epinn.Problem(
    name="heated bar",
    domain=epinn.Box(x=(0, 100)),
    fields="T",
    equation=lambda T, x: T.xx + source(x, jnp),
    boundary=epinn.Dirichlet(300.0),
)
bands = {"PyTorch, 12 steps": epinn.attach(early, problem, key=1), "PyTorch, 300 steps": epinn.attach(late, problem, key=1)}
for name, band in bands.items():
    print(f"{name}: {band.verdict}\n")

# %% [markdown]
# Each import is compared with PyTorch itself first, value and two derivatives, to 1e-6; a network that does not agree is
# refused.
#
# ## DeepXDE
#
# A `dde.Model` goes in as it is too. Its conditions are soft, so that the ends are only nearly at 300 K, and the band knows.

# %%
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    import deepxde as dde

    dde.config.set_random_seed(0)
    bar = dde.geometry.Interval(0, 100)
    ends = dde.icbc.DirichletBC(bar, lambda x: 300 * np.ones((len(x), 1)), lambda x, on_boundary: on_boundary)
    data = dde.data.PDE(bar, lambda x, T: 100 * (dde.grad.hessian(T, x) + source(x, torch)), ends, 60, 2)
    network = dde.nn.FNN([1, 24, 24, 1], "tanh", "Glorot uniform")
    network.apply_feature_transform(lambda x: x / 50 - 1)
    network.apply_output_transform(lambda x, T: 300 + 20 * T)
    model = dde.Model(data, network)
    model.compile("adam", lr=5e-3)
    model.train(iterations=3000, display_every=3000)

bands["DeepXDE, 3,000 steps"] = epinn.attach(model, problem, key=1)
print(bands["DeepXDE, 3,000 steps"].summary())

# %% [markdown]
# ## Beside the truth
#
# The bar can be integrated by hand, so that we see the errors that the bands speak of.

# %% tags=["first"]
# Three networks: their true error within the 95% band that each was given
x = np.linspace(0, 100, 401)
fine = np.linspace(0, 100, 20001)
twice = cumulative_simpson(cumulative_simpson(source(fine), x=fine, initial=0), x=fine, initial=0)
exact = np.interp(x, fine, 300 - twice + twice[-1] * fine / 100)

figure, panels = plt.subplots(1, 3, figsize=(11, 3.3), layout="constrained")
for panel, (name, band) in zip(panels, bands.items(), strict=True):
    mean, std = band.predict(x)
    panel.fill_between(x, -1.96 * std, 1.96 * std, alpha=0.3, label="95% band")
    panel.plot(x, exact - mean, "k--", lw=1, label="truth − network")
    panel.set(title=name, xlabel="x (mm)")
panels[0].set_ylabel("difference from the network (K)")
panels[0].legend()
plt.show()

# %% [markdown]
# The better the network, the narrower its band. It is the error that the network's own residuals imply, for this equation.
#
# ONNX files, state dicts, Flax, Equinox, Haiku, Keras, PINA and PhysicsNeMo work the same way, and from the command line
# `epinn attach network.onnx --problem bar.py:problem`: [all of them, and their limits](../attach.md).
