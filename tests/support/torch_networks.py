"""The networks people write in PyTorch: one of each kind, with two coordinates."""

import math

import torch
from torch import nn
from torch.nn import functional as F

DIMENSION = 2


def stack(activation, width=16, inputs=DIMENSION, outputs=1, depth=2):
    layers = [nn.Linear(inputs, width), activation()]
    for _ in range(depth - 1):
        layers += [nn.Linear(width, width), activation()]
    return nn.Sequential(*layers, nn.Linear(width, outputs))


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(5.0 * x)


class Fourier(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("frequencies", torch.randn(DIMENSION, 8))
        self.body = stack(nn.Tanh, inputs=16)

    def forward(self, x):
        phase = 2 * math.pi * x @ self.frequencies
        return self.body(torch.cat([torch.sin(phase), torch.cos(phase)], dim=-1))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(DIMENSION, 16), nn.Linear(16, 2)
        self.blocks = nn.ModuleList(stack(nn.Tanh, inputs=16, outputs=16, depth=1) for _ in range(2))

    def forward(self, x):
        h = torch.tanh(self.first(x))
        for block in self.blocks:
            h = h + block(h)
        return self.last(h)


class Gated(nn.Module):
    """The modified MLP of Wang et al.: two gates mixed by every layer."""

    def __init__(self):
        super().__init__()
        self.u, self.v, self.first = (nn.Linear(DIMENSION, 16) for _ in range(3))
        self.hidden, self.last = nn.Linear(16, 16), nn.Linear(16, 1)

    def forward(self, x):
        u, v, h = torch.tanh(self.u(x)), torch.tanh(self.v(x)), torch.tanh(self.first(x))
        z = torch.tanh(self.hidden(h))
        return self.last((1 - z) * u + z * v)


class HardConstraint(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = stack(nn.Tanh)

    def forward(self, x):
        a, t = x[:, 0:1], x[:, 1:2]
        return (1 - a**2) * t * self.body(torch.cat([(a + 1) / 2, t], 1)) + torch.sin(math.pi * a)


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(DIMENSION, 32), nn.Linear(16, 16), nn.Linear(16, 1)

    def forward(self, x):
        h = self.first(x)
        a, b = torch.chunk(h, 2, dim=-1)
        h = a.mul(2.0).add_(1.0) * torch.tanh(b)
        h = self.second(h)
        h[:, 0] *= 2.0
        h[:, 1:3] = torch.sin(h[:, 1:3].clone())
        return self.last(torch.tanh_(h))


class LayerNormed(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(DIMENSION, 16), nn.LayerNorm(16), nn.GELU(approximate="tanh"), nn.Linear(16, 1))

    def forward(self, x):
        return self.body(x)


class Einsum(nn.Module):
    """Separable: a sum of products of one-dimensional networks."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(stack(nn.Tanh, inputs=1, outputs=6) for _ in range(DIMENSION))
        self.weight = nn.Parameter(torch.randn(6, 2))

    def forward(self, x):
        a, b = (part(x[:, i : i + 1]) for i, part in enumerate(self.parts))
        return torch.einsum("nr,nr,rf->nf", a, b, self.weight)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 3 * x**2


class CustomFunction(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(DIMENSION, 16), nn.Linear(16, 1)

    def forward(self, x):
        return self.last(torch.tanh(Cube.apply(self.first(x))))


class Adaptive(nn.Module):
    """A trained slope in every activation, one output without a column, dropout that evaluation switches off."""

    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(1.3))
        self.first, self.last, self.drop = nn.Linear(DIMENSION, 16), nn.Linear(16, 1), nn.Dropout(0.5)

    def forward(self, x):
        return self.last(self.drop(torch.tanh(self.slope * self.first(x)))).squeeze()


class Scaled(nn.Module):
    """Scaling by buffers, two networks side by side, softmax between experts, tied weights."""

    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.tensor([-1.0, 0.0]))
        self.register_buffer("high", torch.tensor([1.0, 2.0]))
        self.experts = nn.ModuleList(stack(nn.SiLU) for _ in range(3))
        self.choice = nn.Linear(DIMENSION, 3)
        self.again = self.choice

    def forward(self, x):
        x = 2 * (x - self.low) / (self.high - self.low) - 1
        weights = F.softmax(self.choice(x) + self.again(-x), dim=-1)
        return (weights * torch.cat([expert(x) for expert in self.experts], -1)).sum(-1, keepdim=True)


class Periodic(nn.Module):
    """Reshapes, stacking, indexing, a power that is no integer, and constants made on the way."""

    def __init__(self):
        super().__init__()
        self.body = stack(nn.Tanh, inputs=6)

    def forward(self, x):
        orders = torch.arange(1, 4, dtype=x.dtype, device=x.device)
        waves = torch.cos(x[:, :1] * orders + torch.zeros(x.shape[0], 1))
        others = torch.stack([x[:, 1] ** k for k in range(1, 4)], dim=-1)
        h = torch.cat([waves, others], -1).view(x.shape[0], 2, 3).transpose(1, 2).reshape(x.size(0), -1)
        return self.body(h[:, [5, 4, 3, 2, 1, 0]]) * (1 + x[:, 0:1].square()) ** 0.5


def weight_normed():
    network = stack(nn.Tanh)
    for i in (0, 2):
        nn.utils.parametrizations.weight_norm(network[i])
    return network


def batch_normed():
    network = nn.Sequential(nn.Linear(DIMENSION, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 1))
    network.train()(torch.rand(50, DIMENSION))
    return network


NETWORKS = {
    "tanh": lambda: stack(nn.Tanh),
    "silu": lambda: stack(nn.SiLU),
    "gelu": lambda: stack(nn.GELU),
    "softplus": lambda: stack(nn.Softplus),
    "relu": lambda: stack(nn.ReLU),
    "SIREN": lambda: stack(Sine),
    "Fourier features": Fourier,
    "residual": Residual,
    "gated": Gated,
    "hard constraint": HardConstraint,
    "weight norm": weight_normed,
    "in place, chunk": InPlace,
    "layer norm": LayerNormed,
    "einsum": Einsum,
    "custom function": CustomFunction,
    "adaptive slope": Adaptive,
    "scaled experts": Scaled,
    "periodic": Periodic,
    "batch norm": batch_normed,
    "elu": lambda: stack(nn.ELU),
    "mish": lambda: stack(nn.Mish),
    "sigmoid, glu": lambda: nn.Sequential(nn.Linear(DIMENSION, 32), nn.GLU(), nn.Sigmoid(), nn.Linear(16, 1)),
}
