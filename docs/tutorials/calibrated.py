# %% [markdown]
# # Is it calibrated?
#
# A 95% band promises to hold the truth 95 times out of 100. Whether it keeps its promise cannot be seen from one experiment:
# the band and the truth are close to each other everywhere or nowhere, by luck. So the experiment is repeated, with new noise
# and a new network each time, and the times are counted. `epinn calibrate` does that for any problem with a known solution.

# %%
import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

# %% [markdown]
# ## A problem that can be repeated
#
# The [cooling fin](first_band.md) once more, in a file of its own: as a function of `key`, which draws the readings anew, and
# with its `exact` solution.

# %%
_ = Path("fin.py").write_text("""
import jax
import jax.numpy as jnp
import numpy as np
import epinn

AIR, LENGTH = 293.15, 120.0

def exact(x):
    return AIR + 60 * jnp.sinh((300 - x) / LENGTH) / jnp.sinh(300 / LENGTH)

def problem(key=0):
    key = jax.random.key(key) if isinstance(key, int) else key
    x = np.linspace(30, 290, 12)
    noise = 0.5 * np.asarray(jax.random.normal(key, (12,)))
    return epinn.Problem(
        name="cooling fin",
        domain=epinn.Box(x=(0, 300)),
        fields="T",
        equation=lambda T: T.xx - (T - AIR) / LENGTH**2,
        boundary=epinn.Dirichlet(AIR, on="x=300"),
        data=epinn.Data(x, np.asarray(exact(x)) + noise, sigma=0.5),
        exact=exact,
        points=epinn.Points(collocation=40),
    )
""")

# %% [markdown]
# ## Twenty-five experiments
#
# Networks are trained side by side, so that 25 take little longer than a few. Two methods are
# compared, on the same networks: the default, and one that we would not use.

# %%
# !epinn calibrate fin.py:problem --redraws 25 --method epinet,dropout --set base.hidden=16,16 --out fin 2> log

# %% [markdown]
# ## How to read it
#
# On the diagonal a band keeps its promise at every level, 50% as well as 95%. Above it, bands are too wide; below, too
# narrow. A field varies as one piece, so that every repetition counts once: 25 of them tell a
# coverage of 95% to ± 4%, a hundred to ± 2%.

# %% tags=["first"]
# How often the band holds the truth, at every level, for two methods; and how far the truth was off, experiment by experiment
files = sorted(Path("fin").glob("redraws*.json"))
redraws = [redraw for path in files for redraw in json.loads(path.read_text())["redraws"]]
levels = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot([0, 1], [0, 1], "k--", lw=1, label="promised")
for method in ("epinet", "dropout"):
    distances = np.array([redraw["distances"] for redraw in redraws if redraw["method"] == method])  # in standard deviations
    coverage = [np.mean(distances <= norm.ppf((1 + level) / 2)) for level in levels]
    left.plot(levels, coverage, "o-", label=method)
    right.semilogy(np.sort(distances[:, 0]), "o", ms=4, label=method)
    print(f"{method}: the 95% band held the truth in {coverage[-2]:.0%} of places and experiments")
left.set(xlabel="level of the band", ylabel="how often it held the truth", aspect="equal")
left.legend()
right.axhline(1.96, color="k", ls="--", lw=1)
right.set(xlabel="experiments, sorted", ylabel="error at the hot end / its standard deviation")
right.legend()
plt.show()

# %% [markdown]
# The error at the hot end should be below 1.96 standard deviations (dashed) in 95% of the experiments.
#
# ## What else it says
#
# The folder has `calibration.png` (this figure, made by epinn), and coverage along the domain and of unknown coefficients.
# `epinn resume fin` goes on after an interruption, and more `--redraws` are added to those that are there. A hundred
# repetitions of eight problems, by all methods: [calibration](../results/calibration/README.md).
#
# Of your own experiment you do not know the truth. Then calibrate a made-up one that resembles it: same sensors, same noise,
# a solution of the size that you expect. And hold out some readings of the real one.
