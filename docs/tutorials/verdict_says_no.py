# %% [markdown]
# # When the verdict says no
#
# A band that is wrong is worse than none, so every band comes with a verdict: `trustworthy`, `too narrow`, `too wide`,
# `ambiguous`, `not converged` or `not checked`, and why. This page makes things go wrong on purpose, on the
# [cooling fin](first_band.md), and shows what is said and what to do about it.

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

import epinn

warnings.simplefilter("ignore", epinn.EpinnWarning)  # a fit that is none warns; here we look at the verdicts instead
AIR, LENGTH = 293.15, 120.0


def truth(x):
    return AIR + 60 * np.sinh((300 - x) / LENGTH) / np.sinh(300 / LENGTH)


rng = np.random.default_rng(0)
x_read = np.linspace(30, 290, 24)
T_read = truth(x_read) + 0.5 * rng.normal(size=24)
EVEN = np.arange(24) % 2 == 0


def fin(sigma=0.5, length=LENGTH, offset=0.0):
    """The fin with half of its readings to learn from, and the other half to judge by."""
    return epinn.Problem(
        name="cooling fin",
        domain=epinn.Box(x=(0, 300)),
        fields="T",
        equation=lambda T: T.xx - (T - AIR) / length**2,
        boundary=epinn.Dirichlet(AIR, on="x=300"),
        data=[
            epinn.Data(x_read[EVEN], T_read[EVEN], sigma=sigma),
            epinn.Data(x_read[~EVEN], T_read[~EVEN] + offset, sigma=sigma, held_out=True),
        ],
        points=epinn.Points(collocation=40),
    )


def fit(problem, key):
    return epinn.fit(problem, key=key, base=epinn.Base(hidden=(16, 16)))  # small, to be quick


def said(band):
    print(f"{band.verdict.word}\n  {band.verdict.reasons}")


# %% [markdown]
# ## As it should be
#
# Twelve readings are learned from, twelve are held out.

# %%
good = epinn.attach(fit(fin(), key=0), fin(), key=1)
said(good)

# %% [markdown]
# ## Too narrow: something is missing
#
# Suppose that the held-out thermocouples are of another make, and read 1 K too high. Nobody told the network, so that its band
# does not hold what they say.

# %%
boast = epinn.attach(good.pinn, fin(offset=1.0), key=1)
said(boast)

# %% [markdown]
# **What to do.** Look for what the problem does not know: here an offset of some sensors, elsewhere a term of the equation or a
# `sigma` that is too small (left out, it is inferred). Or let the readings that were held out set the width:
# `method="conformal"` scales a band until enough of them are inside.
#
# ## Too wide: the noise is smaller than was said
#
# The other way round, 2 K instead of half a kelvin. Nothing is wrong with such a band but that it could be narrower.

# %%
timid = epinn.attach(fit(fin(sigma=2.0), key=0), fin(sigma=2.0), key=1)
said(timid)

# %% [markdown]
# **What to do.** Leave `sigma` out, and it is inferred from the readings themselves. With `vi` and `dropout` a band may
# also be too wide because the method cannot do better: take [another one](../methods.md).
#
# ## Not converged: the equation is wrong
#
# A fin of which somebody thinks that it loses its heat over 60 mm instead of 120. No temperature meets both this equation and
# the readings.

# %%
wrong = epinn.attach(fit(fin(length=60.0), key=0), fin(length=60.0), key=1)
said(wrong)

# %% [markdown]
# **What to do.** Residuals of measurements that are many times their noise mean that equation and measurements contradict each
# other: a coefficient, a unit, a missing term, or a noise that was far understated. Training longer, which the advice mentions
# first, helps only if a larger network or another key comes out better. If it is a coefficient, make it unknown,
# `unknowns={"length": 60.0}`, and let the readings decide.
#
# ## Not converged: the network is not trained
#
# Two hundred steps of Adam, and nothing else.

# %%
untrained = epinn.Base(hidden=(16, 16), epochs=200, newton=0, restarts=0)
hasty = epinn.attach(epinn.fit(fin(), key=0, base=untrained), fin(), key=1)
said(hasty)

# %% [markdown]
# **What to do.** What the advice says: train further. With the defaults (Gauss-Newton after a short start) this happens rarely
# on small problems; on hard ones `base.newton_work` allows more steps.
#
# ## Not checked: what was given contradicts itself
#
# A plate that is hot on one edge and cold on the next has no temperature at the corner between them. In a box where heat
# spreads that is no trouble: the solution is found up to the corner. Where something is carried along instead, in a stream
# or a wave, and in other shapes, nothing is asked there, and how far that reaches is not known: such a band is "not checked" at
# best. **What to do.** Let one value go over into the other within as short a stretch as it really does, or hold out a few
# measurements.
#
# ## All of them

# %% tags=["first"]
# Five bands of the same fin, each beside the truth, with their verdicts
x = np.linspace(0, 300, 201)
bands = {
    "as it should be": good,
    "sensors with an offset": boast,
    "noise overstated": timid,
    "wrong equation": wrong,
    "hardly trained": hasty,
}
COLOURS = {"trustworthy": "tab:green", "too wide": "tab:orange"}
figure, panels = plt.subplots(1, 5, figsize=(12, 3.2), layout="constrained", sharex=True)
for panel, (title, band) in zip(panels, bands.items(), strict=True):
    mean, std = band.predict(x)
    colour = COLOURS.get(band.verdict.word, "tab:red")
    panel.fill_between(x, mean - truth(x) - 1.96 * std, mean - truth(x) + 1.96 * std, color=colour, alpha=0.3)
    panel.plot(x, mean - truth(x), color=colour)
    panel.axhline(0, color="k", ls="--", lw=1)
    panel.set_title(f"{title}\n“{band.verdict.word}”", fontsize=10)
    panel.set_xlabel("x (mm)")
panels[0].set_ylabel("network and 95% band − truth (K)")
plt.show()

# %% [markdown]
# A verdict never rests on the truth, which nobody has; here we have it. The second band is as good as the first: a verdict
# can say that band and readings disagree, not which of them is wrong. What it can *not* see at all: a second solution of a
# nonlinear equation (fit with several keys and compare), and an equation that is wrong where nothing was measured.
