"""2D advection-diffusion with an outflow side: u_x - 0.1 (u_xx + u_yy) = 0 on the unit square.

The value is given on three sides and the normal derivative on the fourth (x=1).

    python examples/advection_diffusion.py                     this script
    epinn run examples/advection_diffusion.py:problem          the same from the command line
"""

import jax.numpy as jnp
import numpy as np

import epinn

D = 0.1
RATE = (1 - np.sqrt(1 + 4 * D**2 * np.pi**2)) / (2 * D)  # the decaying root of r = D (r^2 - pi^2)


def exact(x, y):
    return jnp.exp(RATE * x) * jnp.sin(jnp.pi * y)


problem = epinn.Problem(
    name="advection-diffusion",
    domain=epinn.Box(x=(0, 1), y=(0, 1)),
    equation=lambda u: u.x - D * (u.xx + u.yy),
    boundary=[
        epinn.Dirichlet(exact, on="x=0, y=0, y=1"),
        epinn.Neumann(lambda x, y: RATE * exact(x, y), on="x=1"),
    ],
    exact=exact,
    points=epinn.Points(collocation=400, boundary=32),
)

if __name__ == "__main__":
    pinn = epinn.fit(problem, key=0, base=epinn.Base(epochs=5000))
    band = epinn.attach(pinn, problem, method="epinet", key=1, settings={"epochs": 3000})
    grid = problem.domain.grid(41)
    mean, std = band.predict(grid, draws=1000)
    error = np.sqrt(np.mean((mean - exact(*np.asarray(grid).T)) ** 2))
    outflow = np.stack([np.ones(21), np.linspace(0, 1, 21)], axis=1)
    flux = band.evaluate(lambda u: -D * u.x + u, at=outflow, draws=1000)
    print(f"RMSE {error:.5f}, mean std {std.mean():.5f}")
    print(f"flux through x=1: {flux.mean.mean():.4f} ± {flux.std.mean():.4f} on average along the side")
