# %% [markdown]
# # Is it calibrated?
#
# A 95% band promises to hold the truth 95 times out of 100. Whether it keeps its promise cannot be seen from one experiment:
# the band and the truth are close to each other everywhere or nowhere, by luck. So the experiment is repeated, with new noise
# and a new network each time, and the times are counted. `epinn calibrate` does that for any problem with a known solution.

# %%
import json
from pathlib import Path

# %% [markdown]
# ## A problem that can be repeated
#
# The [cooling fin](first_band.md) once more, in a file of its own: as a function of `key`, which draws the readings anew, and
# with its `exact` solution.

# %%
Path("fin.py").write_text("""
import jax
import jax.numpy as jnp
import numpy as np
import epinn

AIR, LENGTH = 293.15, 120.0

def exact(x):
    return AIR + 60 * jnp.sinh((300 - x) / LENGTH) / jnp.sinh(300 / LENGTH)

def problem(key):
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
# ## Fifty experiments
#
# Networks are trained side by side, 25 at a time on a CPU, so that fifty take little longer than a few. Two methods are
# compared, on the same networks: the default, and one that we would not use.

# %%
# !epinn calibrate fin.py:problem --redraws 50 --method epinet,dropout --set base.hidden=16,16 --out fin 2> log

# %% [markdown]
# ## How to read it
#
# On the diagonal a band keeps its promise at every level, 50% as well as 95%. Above it, bands are too wide; below, too
# narrow. A field varies as one piece, so that every repetition counts once: fifty say a coverage of 95% to ± 3%.

# %% tags=["first"]
# How often the band holds the truth, at every level: two methods
redraws = [redraw for path in sorted(Path("fin").glob("redraws*.json")) for redraw in json.loads(path.read_text())["redraws"]]
print(len(redraws), sorted(redraws[0]))
