"""The diagram names every part, and can be read: texts keep apart, and nothing is cut off."""

import io
from itertools import combinations, pairwise

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from epinn.app.paper.diagram import diagram
from epinn.app.plan.presets import PAPER

PIXELS = 900  # the width at which it must be readable


@pytest.fixture(scope="module")
def figure() -> Figure:
    """The diagram, drawn as wide as a page shows it."""
    made = diagram()
    made.set_dpi(PIXELS / made.get_figwidth())
    FigureCanvasAgg(made).draw()
    return made


def texts(figure: Figure) -> list[Text]:
    return [text for text in figure.axes[0].texts if text.get_text()]


def drawn(figure: Figure) -> list[Bbox]:
    """Where texts, boxes, circles, arrows, lines and areas lie, in pixels."""
    ax = figure.axes[0]
    return [artist.get_window_extent() for artist in [*texts(figure), *ax.patches, *ax.lines, *ax.collections]]


def test_is_a_figure_that_can_be_saved():
    file, made = io.BytesIO(), diagram()
    assert isinstance(made, Figure)
    made.savefig(file, format="png", dpi=40)
    assert file.getvalue().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "name",
    [
        "base PINN, frozen",
        "epinet",
        "learnable network $e^L$",
        "prior network $e^P$, frozen",
        "$x$",
        "$z$",
        "$h(x)$",
        r"$u_\xi(x)$",
        "$u(x, z)$",
        r"$z \sim \mathcal{N}(0, I)$",
        f"$d_z = {PAPER['epinet.index_dim']}$",
        r"$\times\alpha$",
        rf"$\alpha = {PAPER['epinet.alpha']}$",
        "stop-gradient: parameters frozen, derivatives in $x$ pass through",
        "mean and band",
    ],
)
def test_names_the_part(figure, name):
    assert name in [text.get_text().replace("\n", " ") for text in texts(figure)]


def test_texts_do_not_overlap(figure):
    places = [(text.get_text(), text.get_window_extent()) for text in texts(figure)]
    assert not [(a, b) for (a, first), (b, second) in combinations(places, 2) if first.overlaps(second)]


def test_nothing_lies_outside(figure):
    page = figure.bbox
    outside = [box for box in drawn(figure) if box.x0 < 0 or box.y0 < 0 or box.x1 > page.x1 or box.y1 > page.y1]
    assert len(drawn(figure)) > 50
    assert not outside


def test_texts_are_within_their_boxes_or_beside_them(figure):
    shapes = [p.get_window_extent() for p in figure.axes[0].patches if isinstance(p, FancyBboxPatch | Circle)]
    for text in texts(figure):
        box = text.get_window_extent()
        for shape in (shape for shape in shapes if shape.overlaps(box)):
            inside = shape.x0 <= box.x0 and shape.y0 <= box.y0 and box.x1 <= shape.x1 and box.y1 <= shape.y1
            assert inside, text.get_text()


def test_arrows_do_not_cross_texts(figure):
    ax = figure.axes[0]
    for arrow in (patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)):
        parts = ax.transData.transform_path(arrow.get_path()).to_polygons(closed_only=False)
        for ends in (ends for part in parts for ends in pairwise(part)):
            assert not [text.get_text() for text in texts(figure) if text.get_window_extent().overlaps(Bbox(ends))]
