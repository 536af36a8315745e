# %% [markdown]
# # Your own equation
#
# The wall of a furnace: 120 mm of brick, then 80 mm of insulation, 1,100 K inside. The outer face gives its heat to a room of
# 300 K, by air and by radiation. How hot does the outer face become, and how much heat is lost? This page writes that down
# piece by piece; there are no measurements in it, so that the band is the error of the network itself.

# %%
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import epinn

BRICK, INSULATION = 0.8, 0.15  # conductivity, W/(m K)
INSIDE, ROOM = 1100.0, 300.0  # K
AIR, EMISSIVITY, STEFAN = 10.0, 0.9, 5.67e-8  # W/(m² K), none, W/(m² K⁴)

# %% [markdown]
# ## The equation
#
# The flux $q = -k\,\partial_x T$ does not change along the wall: $\partial_x (k\,\partial_x T) = 0$. An equation is a
# function whose arguments are named after what it needs: fields (`T`) and coordinates (`x`). Derivatives are attributes:
# `T.x`, `T.xx`. The derivative of a product is written as on paper, with the field first. Use `jax.numpy` inside, and
# `jnp.where` instead of `if`.


# %%
def conduction(T, x):
    k = jnp.where(x < 120, BRICK, INSULATION)
    return (T.x * k).x


# %% [markdown]
# The conductivity jumps, and so will the slope of the temperature. A smooth network cannot bend, so that epinn gives each
# material a network of its own, continuous in temperature and flux where they meet; it finds the jump by itself.
#
# ## The boundary
#
# Inside, the temperature is known: `Dirichlet`. Outside, what arrives by conduction leaves by air and radiation, which is
# nonlinear and no standard condition: `Boundary` takes any operator. Lengths are in millimetres, so that `1e3 * T.x` is in
# K/m.


# %%
def loss(T):
    return AIR * (T - ROOM) + EMISSIVITY * STEFAN * (T**4 - ROOM**4)  # W/m²


problem = epinn.Problem(
    name="furnace wall",
    domain=epinn.Box(x=(0, 200)),
    fields="T",
    equation=conduction,
    boundary=[
        epinn.Dirichlet(INSIDE, on="x=0"),
        epinn.Boundary(lambda T: INSULATION * 1e3 * T.x + loss(T), on="x=200"),
    ],
    points=epinn.Points(collocation=60),
)
small = epinn.Base(hidden=(12, 12))  # for a page that is read in a minute; by default three layers of 32
band = epinn.attach(epinn.fit(problem, key=0, base=small), problem, key=1)
print(band.summary())

# %% [markdown]
# ## What comes out
#
# Two straight lines, of course, and a nonlinear equation for one number, which we can also solve by hand: the same flux
# passes through both layers and leaves at the outer face.

# %%
resistance = 0.120 / BRICK + 0.080 / INSULATION  # m² K/W
outer = brentq(lambda T: (INSIDE - T) / resistance - loss(T), ROOM, INSIDE)
mean, std = band.predict(np.array([200.0]))
flux = band.evaluate(lambda T: -INSULATION * 1e3 * T.x, at=np.array([160.0]))
print(f"outer face: {mean[0]:.3f} ± {std[0]:.3f} K, by hand {outer:.3f} K")
print(f"heat lost:  {flux.mean[0]:.2f} ± {flux.std[0]:.2f} W/m², by hand {loss(outer):.2f} W/m²")

# %% tags=["first"]
# Temperature through brick and insulation, and the band beside the true error
x = np.linspace(0, 200, 401)
mean, std = band.predict(x)
steep = (INSIDE - outer) / resistance
exact = np.where(x < 120, INSIDE - steep * x / 1e3 / BRICK, outer + steep * (200 - x) / 1e3 / INSULATION)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.axvspan(0, 120, color="firebrick", alpha=0.15)
left.axvspan(120, 200, color="goldenrod", alpha=0.15)
left.plot(x, mean)
left.text(60, 420, "brick", ha="center")
left.text(160, 1000, "insulation", ha="center")
left.set(xlabel="x (mm)", ylabel="T (K)", xlim=(0, 200))
right.fill_between(x, -1.96 * std, 1.96 * std, alpha=0.3, label="95% band")
right.plot(x, exact - mean, "k--", label="by hand − network")
right.set(xlabel="x (mm)", ylabel="difference from the network (K)", xlim=(0, 200))
right.legend()
plt.show()

# %% [markdown]
# The two networks meet to within a few hundredths of a kelvin, and the band knows that.
#
# ## From here to yours
#
# | you have | write |
# |---|---|
# | time | a coordinate called `t`, and `initial=epinn.Initial(lambda x: ...)`; `u.t` in the equation |
# | several fields | `fields=("u", "v", "p")`, `equation={"mass": ..., "momentum": ...}`, `Dirichlet(0.0, field="u")` |
# | unknown coefficients | `unknowns={"k": 0.1}`, and `k` in the equation; [the next page](unknown_coefficients.md) |
# | an unknown function | a field: `fields=("T", epinn.Field("k", of="x"))` |
# | a shape | `epinn.Rectangle(...) - epinn.Disc(...)`; [a plate with a hole](plate_with_a_hole.md) |
# | no wish to program | a text file: `epinn new wall.toml`, `epinn check wall.toml`, `epinn run wall.toml` |
#
# All of it is in the [guide](../guide.md). Before a long run, `epinn check wall.py:problem` says what was understood, draws
# points and sensors, and estimates time and memory.
