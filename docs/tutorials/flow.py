# %% [markdown]
# # A flow, and the pressure that nobody measured
#
# Water flows past a grid of rods. Particle tracking has given its velocity at 60 places behind the grid, to 3%; the pressure
# was not measured at all, and the viscosity is not known either. The Navier-Stokes equations tie them together: from
# velocities alone come the pressure field, up to a constant, and the viscosity, with their standard deviations. The wake of a
# grid has an exact solution (Kovasznay, 1948), so that we can see how well.

# %%
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import epinn

# %% [markdown]
# ## The truth and the measurements
#
# Lengths in millimetres, velocities in mm/s: rods every 10 mm, 4 mm/s on average, a kinematic viscosity of 1 mm²/s, which is
# that of water at 20 °C. So the Reynolds number is 40.

# %%
PITCH, SPEED, VISCOSITY = 10.0, 4.0, 1.0
REYNOLDS = SPEED * PITCH / VISCOSITY
RATE = REYNOLDS / 2 - np.sqrt(REYNOLDS**2 / 4 + 4 * np.pi**2)


def exact(x, y):
    """Velocities in mm/s, and pressure over density in mm²/s²."""
    decay, angle = jnp.exp(RATE * x / PITCH), 2 * np.pi * y / PITCH
    u = SPEED * (1 - decay * jnp.cos(angle))
    v = SPEED * RATE / (2 * np.pi) * decay * jnp.sin(angle)
    return u, v, SPEED**2 * (1 - decay**2) / 2


rng = np.random.default_rng(0)
places = rng.uniform((-5, -5), (10, 5), size=(60, 2))
u_true, v_true, _ = map(np.asarray, exact(*places.T))
NOISE = 0.03 * SPEED
u_read, v_read = u_true + NOISE * rng.normal(size=60), v_true + NOISE * rng.normal(size=60)

# %% [markdown]
# ## The problem
#
# Three fields, three equations, one unknown number. Nothing is known at the edges of the window but that there is flow. The
# pressure counts from its value at one corner, which is set to zero.

# %%
problem = epinn.Problem(
    name="wake of a grid",
    domain=epinn.Box(x=(-5, 10), y=(-5, 5)),
    fields=("u", "v", "p"),
    equation={
        "mass": lambda u, v: u.x + v.y,
        "momentum x": lambda u, v, p, nu: u * u.x + v * u.y + p.x - nu * (u.xx + u.yy),
        "momentum y": lambda u, v, p, nu: u * v.x + v * v.y + p.y - nu * (v.xx + v.yy),
    },
    data=[
        epinn.Data(places, u_read, sigma=NOISE, field="u"),
        epinn.Data(places, v_read, sigma=NOISE, field="v"),
        epinn.Data(np.array([[10.0, -5.0]]), np.array([0.0]), sigma=0.01, field="p", name="level of p"),
    ],
    points=epinn.Points(collocation=200),
    unknowns={"nu": epinn.Unknown(guess=2.0, positive=True)},
)
small = epinn.Base(hidden=(20, 20))  # for a page that is read in a minute; by default three layers of 32
band = epinn.attach(epinn.fit(problem, key=0, base=small), problem, key=1)
print(band.summary())

# %% tags=["first"]
# Speed with the places of measurement; the pressure, its standard deviation and its true error
x, y = np.meshgrid(np.linspace(-5, 10, 76), np.linspace(-5, 5, 51))
points = np.stack([x.ravel(), y.ravel()], axis=1)
mean, std = band.predict(points)
_, _, p_true = map(np.asarray, exact(*points.T))
p_true = p_true - float(exact(10.0, -5.0)[2])

figure, panels = plt.subplots(2, 2, figsize=(10, 5.6), layout="constrained", sharex=True, sharey=True)
widest = 1.05 * max(std[:, 2].max(), np.abs(mean[:, 2] - p_true).max())
shown = [
    ("speed (mm/s)", np.hypot(mean[:, 0], mean[:, 1]), {}),
    ("pressure / density (mm²/s²)", mean[:, 2], {}),
    ("its standard deviation", std[:, 2], {"cmap": "magma", "vmin": 0, "vmax": widest}),
    ("its true error", np.abs(mean[:, 2] - p_true), {"cmap": "magma", "vmin": 0, "vmax": widest}),
]
for panel, (title, values, colours) in zip(panels.flat, shown, strict=True):
    figure.colorbar(panel.pcolormesh(x, y, values.reshape(x.shape), shading="nearest", **colours), ax=panel)
    panel.set(title=title, aspect="equal")
panels[0, 0].streamplot(
    x[0], y[:, 0], *(mean[:, i].reshape(x.shape) for i in (0, 1)), color="white", linewidth=0.6, density=0.8
)
panels[0, 0].plot(*places.T, "r.", ms=4)
plt.show()

# %% [markdown]
# The two lower panels have the same colours: what the band does not know, and what is really wrong. Both are largest next to
# the rods, where the flow turns back, and vanish in the corner at which the pressure is set. The drop below is negative: behind
# a grid the flow slows down, and the pressure rises.

# %%
inside = np.abs(mean[:, 2] - p_true) < 1.96 * std[:, 2]
nu = band.unknowns()["nu"]
print(f"viscosity: {nu.mean:.3f} ± {nu.std:.3f} mm²/s, in truth {VISCOSITY}")
print(f"true pressure within the 95% band at {inside.mean():.0%} of the points")
drop = band.evaluate(lambda solution: solution(jnp.array([[-5.0, 0.0]]))[0, 2] - solution(jnp.array([[5.0, 0.0]]))[0, 2])
expected = float(exact(-5.0, 0.0)[2] - exact(5.0, 0.0)[2])
print(f"pressure drop along the middle: {drop.mean:.2f} ± {drop.std:.2f} mm²/s², in truth {expected:.2f}")

# %% [markdown]
# Flows are where networks are most often not done: see [the suite](../results/suite/README.md) for what is solved by default
# settings and what is not. A verdict of "not converged" there is to be taken seriously.
