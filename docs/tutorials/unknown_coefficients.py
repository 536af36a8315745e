# %% [markdown]
# # Unknown coefficients from a CSV file
#
# A bar of steel, 200 mm long and insulated at its ends, was warmed in its middle and left to itself in a room of 20 °C. Five
# thermocouples logged its temperature every half minute into a CSV file. How fast does heat spread in this steel, and how
# fast is it lost to the air? The equation is known, its two coefficients are not: an inverse problem. Their standard
# deviations come with them.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import epinn

print("\n".join(Path("bar.csv").read_text().splitlines()[:4]))

# %% [markdown]
# ## The file
#
# Times are in minutes, temperatures in degrees Celsius, and the file says so in its header. The problem is to be in
# millimetres, seconds and kelvin; `units` says that, and epinn converts. (Units need `pip install 'epinn[data]'`; reading the
# file does not.)

# %%
readings = epinn.Data.from_file(
    "bar.csv",
    coordinates={"x": "position", "t": "time"},
    value="T",
    sigma=0.2,  # of the thermocouples, in kelvin; leave it out if nobody knows, and it is inferred
    units={"x": "mm", "t": "s", "T": "K"},
)
print(len(readings.values), "readings between", f"{np.min(readings.values):.1f} and {np.max(readings.values):.1f} K")

# %% [markdown]
# ## The problem
#
# $\partial_t T = a\,\partial_x^2 T - b\,(T - T_\mathrm{room})$ with unknown diffusivity $a$ (mm²/s) and loss $b$ (1/s). The
# initial temperature is not known either, so we say nothing about it: the readings at time 0 and the equation must do.
#
# A `guess` is where the search starts, and says nothing else; what you know beforehand would be a
# [prior](../questions.md#what-is-a-prior-here).

# %%
ROOM = 293.15

problem = epinn.Problem(
    name="steel bar",
    domain=epinn.Box(x=(0, 200), t=(0, 300)),
    fields="T",
    equation=lambda T, a, b: T.t - a * T.xx + b * (T - ROOM),
    boundary=epinn.Neumann(0.0),
    data=readings,
    points=epinn.Points(collocation=400),
    unknowns={"a": epinn.Unknown(guess=5.0, positive=True), "b": epinn.Unknown(guess=1e-3, positive=True)},
)
small = epinn.Base(hidden=(20, 20))  # for a page that is read in a minute; by default three layers of 32
band = epinn.attach(epinn.fit(problem, key=0, base=small), problem, key=1)
print(band.summary())

# %% [markdown]
# What stands behind ± is **one standard deviation**. The bar was made up with $a$ = 14 mm²/s and $b$ = 0.002 /s.

# %% tags=["first"]
# A bar that cools: five thermocouples, the temperature at the start between them, and two unknown coefficients
times = np.linspace(0, 300, 121)
positions = np.unique(np.round(readings.points[:, 0], 6))
found = band.unknowns(samples=2000)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained", width_ratios=(4, 3, 3))
for number, x in enumerate(positions):
    mean, std = band.predict(np.stack([np.full_like(times, x), times], axis=1))
    here = np.isclose(readings.points[:, 0], x)
    left.fill_between(times, mean - 1.96 * std, mean + 1.96 * std, color=f"C{number}", alpha=0.4)
    left.plot(times, mean, color=f"C{number}", lw=1, label=f"{x:.0f} mm")
    left.plot(readings.points[here, 1], readings.values[here], ".", color=f"C{number}")
left.set(xlabel="t (s)", ylabel="T (K)", title="five thermocouples")
left.legend(title="position", ncols=2)
along = np.linspace(0, 200, 201)
mean, std = band.predict(np.stack([along, np.zeros(201)], axis=1))
middle.fill_between(along, mean - 1.96 * std, mean + 1.96 * std, color="C0", alpha=0.3, label="95% band")
middle.plot(along, mean, color="C0", label="network")
middle.plot(along, ROOM + 60 * np.exp(-(((along - 100) / 45) ** 2)), "k--", lw=1, label="truth")
start = readings.points[:, 1] == 0
middle.plot(readings.points[start, 0], readings.values[start], "k.", label="readings")
middle.set(xlabel="x (mm)", title="temperature at the start")
middle.legend()
right.plot(found["a"].samples, 1e3 * found["b"].samples, ".", ms=3, alpha=0.3)
right.plot(14, 2, "k*", ms=14, label="truth")
right.set(xlabel="a (mm²/s)", ylabel="b (10⁻³/s)", title="two coefficients")
right.legend()
plt.show()

# %% [markdown]
# In the middle is the temperature at the start, which nobody gave: the band is narrow at the five readings and wide between
# them, since that is how much the later readings tell of it. On the right are draws: each is a pair of coefficients and a
# temperature field that go together. So whatever follows from both has the right spread too, with their correlation in it.
# How long until the middle has lost half of its excess, say, or the conductivity, if the heat capacity is 3.6 J/(cm³ K):

# %%
conductivity = 3.6e6 * found["a"].samples * 1e-6  # W/(m K)
print(f"conductivity: {conductivity.mean():.1f} ± {conductivity.std():.1f} W/(m K)")
print(f"a: {found['a'].mean:.2f} ± {found['a'].std:.2f} mm²/s")
print(f"b: {1e3 * found['b'].mean:.3f} ± {1e3 * found['b'].std:.3f} per 1000 s")

# %% [markdown]
# ## With your own file
#
# - Semicolons, tabs, decimal commas, Excel, Parquet, NetCDF and MAT are read too: [from files](../guide.md#conditions).
# - A row with a gap is left out, and a warning says which.
# - Nobody knows the noise? Leave `sigma` out. It is then inferred, and `band.noise` says what was found.
# - Keep some readings back, `held_out=True`, and the verdict says whether they lie in the band.
# - Without Python: `epinn new bar.toml` writes such a problem as a text file to be changed, `epinn run bar.toml` solves it.
#
# ## Where the file came from
#
# The readings were made by finite differences and a random generator; this code makes the same file again.


# %%
def bar(a=14.0, b=0.002, step=0.02, cells=200):
    """Temperatures (°C) over the bar every 30 s, by the explicit scheme on cells of 1 mm."""
    x = np.arange(cells) + 0.5
    T = 20 + 60 * np.exp(-(((x - 100) / 45) ** 2))
    rows = []
    for i in range(round(300 / step) + 1):
        if i % round(30 / step) == 0:
            rows.append(np.interp([20, 60, 100, 130, 170], x, T))
        wide = np.pad(T, 1, mode="edge")
        T = T + step * (a * (wide[2:] - 2 * T + wide[:-2]) - b * (T - 20))
    return np.array(rows)


noise = 0.2 * np.random.default_rng(7).normal(size=(11, 5))
lines = [
    f"{i / 2:.1f},{x},{T:.2f}" for i, row in enumerate(bar() + noise) for x, T in zip((20, 60, 100, 130, 170), row, strict=True)
]
assert Path("bar.csv").read_text() == "\n".join(["time [min],position [mm],T [degC]", *lines]) + "\n"
