# %% [markdown]
# # A plate with a hole
#
# A steel plate of 200 mm × 100 mm is held at 300 K on its left and 350 K on its right; its other edges, and a hole of 40 mm
# in its middle, are insulated. Domains that are no boxes are put together from simple figures, and conditions call their
# edges by name. (It needs `pip install 'epinn[geometry]'`.)

# %%
import matplotlib.pyplot as plt
import numpy as np

import epinn

# %%
plate = epinn.Rectangle(x=(0, 200), y=(0, 100)) - epinn.Disc(x=100, y=50, radius=20, name="hole")

problem = epinn.Problem(
    name="drilled plate",
    domain=plate,
    fields="T",
    equation=lambda T: T.xx + T.yy,
    boundary=[
        epinn.Dirichlet(300.0, on="x=0"),
        epinn.Dirichlet(350.0, on="x=200"),
        epinn.Neumann(0.0, on="y, hole"),  # no heat through the long edges and the hole
    ],
    points=epinn.Points(collocation=300, boundary=40),
)
small = epinn.Base(hidden=(20, 20))  # for a page that is read in a minute; by default three layers of 32
band = epinn.attach(epinn.fit(problem, key=0, base=small), problem, key=1)
print(band.summary())

# %% [markdown]
# ## Temperature, and what is not known of it
#
# There are no measurements here. The band is the error that the network itself still has, estimated from what it leaves of
# the equation and the conditions.

# %% tags=["first"]
# Temperature of the plate with isotherms, and the standard deviation of the band
x, y = np.meshgrid(np.linspace(0, 200, 161), np.linspace(0, 100, 81))
points = np.stack([x.ravel(), y.ravel()], axis=1)
inside = np.hypot(points[:, 0] - 100, points[:, 1] - 50) >= 20
mean, std = np.full(len(points), np.nan), np.full(len(points), np.nan)
mean[inside], std[inside] = band.predict(points[inside])

figure, panels = plt.subplots(1, 2, figsize=(10, 3.1), layout="constrained")
for panel, values, name, colours in zip(panels, (mean, 1e3 * std), ("T (K)", "sd (mK)"), ("inferno", "viridis"), strict=True):
    image = panel.pcolormesh(x, y, values.reshape(x.shape), cmap=colours, shading="nearest")
    figure.colorbar(image, ax=panel, label=name)
    panel.set(xlabel="x (mm)", ylabel="y (mm)", aspect="equal")
panels[0].contour(x, y, mean.reshape(x.shape), levels=np.arange(302, 350, 4), colors="white", linewidths=0.6)
plt.show()

# %% [markdown]
# ## A check that needs no exact solution
#
# As much heat must leave on the left as enters on the right, and pass through any section in between. For a plate 5 mm thick,
# of 50 W/(m K), the total is an integral of a derivative along a line, with a standard deviation like everything else:

# %%
K, THICKNESS = 0.05, 5.0  # W/(mm K), mm


def through(where):
    """The heat through the section at x (W), by Gauss-Legendre quadrature over the parts of it that are plate."""
    half = np.sqrt(max(20.0**2 - (where - 100) ** 2, 0.0))
    parts = [(0.0, 50 - half), (50 + half, 100.0)] if half else [(0.0, 100.0)]
    nodes, weights = np.polynomial.legendre.leggauss(16)
    y = np.concatenate([low + (high - low) * (nodes + 1) / 2 for low, high in parts])
    w = np.concatenate([(high - low) / 2 * weights for low, high in parts])
    flux = band.evaluate(lambda T: K * THICKNESS * T.x, at=np.stack([np.full_like(y, where), y], axis=1), samples=200)
    total = flux.samples @ w
    return total.mean(), total.std()


for where in (1.0, 60.0, 100.0, 140.0, 199.0):
    heat, error = through(where)
    print(f"x = {where:5.0f} mm: {heat:.4f} ± {error:.4f} W")

# %% [markdown]
# Without the hole it would be 0.05 · 5 · 100 · 50/200 = 6.25 W: the hole costs about an eighth of it.
#
# ## Time, and other figures
#
# `plate.during(t=(0, 60))` is the same plate for a minute, with the coordinates x, y and t. `Ellipse` and `Polygon` are there
# too, and `|` and `&` beside `-`: [all shapes and the names of their edges](../guide.md#shapes). For ParaView,
# `band.to_vtu("plate.vtu")` writes mean, sd and the ends of the band over a grid.
