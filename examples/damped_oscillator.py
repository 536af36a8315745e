"""A damped oscillator with unknown damping c: u'' + c u' + 9 u = 0, from 40 noisy readings of u.

python examples/damped_oscillator.py                     this script
epinn compare examples/damped_oscillator.py:problem      the same from the command line, all methods
"""

import jax.numpy as jnp
import numpy as np

import epinn

C, K, SIGMA = 0.6, 9.0, 0.05
OMEGA = np.sqrt(K - C**2 / 4)


def exact(t):
    return jnp.exp(-C / 2 * t) * (jnp.cos(OMEGA * t) + C / (2 * OMEGA) * jnp.sin(OMEGA * t))


times = np.linspace(0.1, 5, 40)
readings = np.asarray(exact(times)) + SIGMA * np.random.default_rng(0).normal(size=40)

problem = epinn.Problem(
    name="damped-oscillator",
    domain=epinn.Box(t=(0, 5)),
    equation=lambda u, c: (u.tt + c * u.t) / K + u,  # divided by K: a residual of the size of u weighs like the data
    initial=[epinn.Initial(1.0), epinn.Initial(0.0, order=1)],
    data=epinn.Data(times, readings, sigma=SIGMA),
    unknowns={"c": epinn.Unknown(guess=1.0, positive=True, exact=C)},
    exact=exact,
)

if __name__ == "__main__":
    pinn = epinn.fit(problem, key=0)
    band = epinn.attach(pinn, problem, method="epinet", key=1)
    grid = np.linspace(0, 5, 201)
    mean, std = band.predict(grid)
    damping = band.unknowns()["c"]
    energy = band.evaluate(lambda u: u.t**2 / 2 + K * u**2 / 2, at=grid)
    print(f"c = {damping.mean:.3f} ± {damping.std:.3f} (true {C})")
    print(f"RMSE of u {np.sqrt(np.mean((mean - exact(grid)) ** 2)):.4f}, mean std {std.mean():.4f}")
    print(f"energy at the end {energy.mean[-1]:.3f} ± {energy.std[-1]:.3f}")
