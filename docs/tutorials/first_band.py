# %% [markdown]
# # A first band in five minutes
#
# A cooling fin of aluminium, 300 mm long, is hot at one end and loses heat to the air along its way. Twelve thermocouples,
# good to half a kelvin, are glued to it. How hot is the hot end, where none of them sits, and how much heat flows into the
# fin? A physics-informed network answers such questions from the equation and the readings together. This page puts error
# bars on its answer.

# %%
import matplotlib.pyplot as plt
import numpy as np

import epinn

# %% [markdown]
# The readings. They are made up, so that we know the truth in the end: 60 K above the air at the hot end, decaying over 120
# mm.

# %%
AIR, LENGTH = 293.15, 120.0  # kelvin, millimetres


def truth(x):
    return AIR + 60 * np.sinh((300 - x) / LENGTH) / np.sinh(300 / LENGTH)


x_read = np.linspace(30, 290, 12)
T_read = truth(x_read) + 0.5 * np.random.default_rng(0).normal(size=12)

# %% [markdown]
# ## The problem, as on paper
#
# Heat that flows along the fin is lost to the air: $\partial_x^2 T = (T - T_\mathrm{air})/\ell^2$. The far end is as cold
# as the air. Nothing is said about the hot end. `T.xx` is the second derivative of the field `T`; units are yours, here
# kelvin and millimetres.

# %%
problem = epinn.Problem(
    name="cooling fin",
    domain=epinn.Box(x=(0, 300)),
    fields="T",
    equation=lambda T: T.xx - (T - AIR) / LENGTH**2,
    boundary=epinn.Dirichlet(AIR, on="x=300"),
    data=epinn.Data(x_read, T_read, sigma=0.5),
)

# %% [markdown]
# ## A network, and its band
#
# `fit` trains the network, `attach` finds out how far it could be off before the equation, the boundary value or the readings
# objected. Both take a `key`, the seed of whatever is random in them.

# %%
pinn = epinn.fit(problem, key=0)
band = epinn.attach(pinn, problem, key=1)
print(band.summary())

# %% [markdown]
# The **verdict** comes first: nothing that could be checked speaks against this band. [What the other words
# mean](../questions.md#what-do-the-words-of-the-verdict-mean), and [an example of each](verdict_says_no.md).

# %% tags=["first"]
# The fin's temperature with its 95% band, and the band alone, magnified
x = np.linspace(0, 300, 201)
mean, std = band.predict(x)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.plot(x, mean, color="C0", label="network")
left.fill_between(x, mean - 1.96 * std, mean + 1.96 * std, color="C0", alpha=0.3, label="95% band")
left.errorbar(x_read, T_read, 0.5, fmt="k.", capsize=2, label="thermocouples ± 1 sd")
left.set(xlabel="x (mm)", ylabel="T (K)")
left.legend()
right.fill_between(x, -1.96 * std, 1.96 * std, color="C0", alpha=0.3, label="95% band")
right.plot(x, truth(x) - mean, "k--", label="truth − network")
right.axhline(0, color="C0")
right.set(xlabel="x (mm)", ylabel="difference from the network (K)")
right.legend()
plt.show()

# %% [markdown]
# The band is narrow at the cold end, which is given, and among the readings, which the equation averages; it opens towards
# the hot end, where there are none. `std` is **one standard deviation**; the 95% band is the mean ± 1.96 of them.

# %%
hot, error = mean[0], std[0]
print(f"hot end: {hot:.2f} ± {error:.2f} K, in truth {truth(0.0):.2f} K")

# %% [markdown]
# ## Anything else that follows from it
#
# What you want is often not the field but something computed from it. `evaluate` takes any operator at points, or any
# function of the solution, and its answer has a standard deviation too. Here the heat that enters the fin, for a conductivity
# of 200 W/(m K) and a cross-section of 60 mm²:

# %%
K, AREA = 0.2, 60.0  # W/(mm K), mm²
heat = band.evaluate(lambda T: -K * AREA * T.x, at=np.array([0.0]))
expected = K * AREA * 60 / LENGTH / np.tanh(300 / LENGTH)
print(f"heat: {heat.mean[0]:.3f} ± {heat.std[0]:.3f} W, in truth {expected:.3f} W")

# %% [markdown]
# ## Keep it
#
# `band.report("fin.html")` writes one page with verdict, tables and figures that can be sent to anyone;
# `band.save("fin.safetensors")` keeps the band itself, and `epinn.load("fin.safetensors", problem)` brings it back.
#
# Next: [your own equation](own_equation.md), or [unknown coefficients from a CSV file](unknown_coefficients.md).
