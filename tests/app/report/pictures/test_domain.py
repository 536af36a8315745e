"""The picture of a problem before it is solved shows its points, sensors and breaks."""

import numpy as np
import pytest

import epinn
from epinn.app.report.pictures.domain import domain_picture
from epinn.app.report.pictures.panels import as_png

pytestmark = pytest.mark.usefixtures("quick_compile")


def marks(figure):
    """The places of the marks in a figure, by the names in its legend."""
    (ax,) = figure.axes
    return {marked.get_label(): np.asarray(marked.get_offsets()) for marked in ax.collections}


def test_sensors_are_at_their_values_where_there_is_one_coordinate():
    problem = epinn.Problem(
        domain=epinn.Box(t=(0, 1, 4)),
        equation=lambda u: u.t + u,
        initial=epinn.Initial(3.0),
        data=[epinn.Data([1.0, 2.0], [2.0, 1.0], over={"t": 0.5}), epinn.Data([3.0], [0.5], held_out=True)],
        name="decay",
    )
    figure = domain_picture(problem)
    found = marks(figure)
    assert np.allclose(found["data"], [[1, 2], [2, 1]])
    assert np.allclose(found["data, held out"], [[3, 0.5]])
    assert np.allclose(found["initial"], [[0, 3]])
    assert np.allclose(found["equation"][:, 1], 0)
    assert any(np.allclose(line.get_xdata(), 1) for line in figure.axes[0].lines)  # the break
    assert as_png(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("coordinates", [("x", "t"), ("t", "x"), ("x", "y", "t")])
def test_points_are_where_they_are_in_the_domain(coordinates):
    box = epinn.Box(**{name: (0, 2) if name == "t" else (-1, 1) for name in coordinates})
    problem = epinn.Problem(
        domain=box, equation=lambda u: u.t - u.xx, boundary=epinn.Dirichlet(0.0), initial=epinn.Initial(0.0)
    )
    found = marks(domain_picture(problem))
    across = found["boundary"][:, 0]
    assert set(np.round(across, 6)) >= {-1.0, 1.0}
    if len(coordinates) == 2:
        assert np.allclose(found["initial"][:, 1], 0)  # time goes up
