"""Figures: which ones there are, that methods share their scales, and that every kind can be rendered."""

import io

import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib._pylab_helpers import Gcf
from matplotlib.figure import Figure

from epinn.app.report.pictures import figures, picture
from epinn.errors import InputError
from epinn.judge.evaluation import Evaluation
from epinn.posterior.statistics import Prediction
from epinn.problem.conditions import Data
from epinn.problem.domain import Box
from epinn.problem.problem import Problem
from epinn.problem.shorthand import Unknown
from epinn.problems import heat1d_inverse


def problem(fields="u", exact=None, data=(), unknowns=None, **intervals):
    return Problem(
        Box(**intervals), equation=lambda: 0.0, fields=fields, exact=exact, data=data, unknowns=unknowns or {}, name="made up"
    )


def evaluation(problem: Problem, k: int = 0, *, spread: bool = True, count: int = 9) -> Evaluation:
    """What a method might find: the k-th is worse and less certain than the one before."""
    points = np.asarray(problem.domain.grid(count))
    truth = None if problem.exact is None else np.asarray(problem.exact_at(points))
    values = np.cos(points.sum(axis=1))[:, None] * np.ones(len(problem.fields)) if truth is None else truth
    draws = 0.1 + spread * 0.01 * (k + 1) * np.linspace(-2, 2, 500)
    found = Prediction(np.asarray(draws.mean()), np.asarray(draws.std() if spread else 0.0), samples=draws)
    return Evaluation(
        problem=problem,
        label=f"method {k}",
        points=points,
        shape=(count,) * problem.domain.dimension,
        prediction=Prediction(values + 0.1 * k, np.full_like(values, 0.05 * (k + 1))),
        truth=truth,
        unknowns=dict.fromkeys(problem.sought, found),
        unknowns_truth={name: problem.parameters.get(name, Unknown(exact=0.1)).exact for name in problem.sought},
        seconds=0.0,
    )


def several(problem: Problem, methods: int = 2, **options) -> list[Evaluation]:
    return [evaluation(problem, k, **options) for k in range(methods)]


def render(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=40)
    return file.getvalue()


def titles(figure: Figure) -> list[str]:
    return [title for ax in figure.axes if (title := ax.get_title(loc="left"))]


def subtitles(figure: Figure) -> list[str]:
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def sine(x):
    return jnp.sin(3 * x)


ONE = problem(x=(-1, 1), exact=sine, data=Data([-0.5, 0.5], [-1.5, 3.0], sigma=0.1))
TWO_FIELDS = problem(t=(0, 2), fields=("u", "v"), exact=lambda t: (jnp.sin(t), 50 + t), data=Data([1.0], [0.8], field="v"))
PLANE = problem(x=(-1, 1), y=(0, 1), exact=lambda x, y: x * jnp.cos(y), data=Data([[0.0, 0.5]], [0.1]))
SPACE = problem(x=(-1, 1), y=(0, 2), t=(0, 1), exact=lambda x, y, t: x + 10 * y + 100 * t)
UNSOLVED = problem(x=(0, 1), t=(0, 4))
INFERRED = problem(x=(0, 1), exact=sine, unknowns={"a": Unknown(exact=0.1), "b": 1.0})
HEAT = heat1d_inverse()

KEYS = [
    (ONE, 4, {"field", "error"}),
    (TWO_FIELDS, 2, {"field", "error"}),
    (PLANE, 1, {"field"}),
    (SPACE, 2, {"field", "times", "error"}),
    (UNSOLVED, 2, {"field", "slices", "error"}),
    (INFERRED, 1, {"field", "error", "unknowns", "corner"}),
    (HEAT, 2, {"field", "field_kappa", "slices", "error", "unknowns"}),
]


@pytest.mark.parametrize(("problem", "methods", "keys"), KEYS)
def test_every_kind_is_there_and_renders(problem, methods, keys):
    made = figures(several(problem, methods))
    assert set(made) == keys
    assert all(render(figure).startswith(b"\x89PNG") for figure in made.values())


def test_panels_are_titled_with_label_and_metrics():
    figure = figures(several(ONE))["field"]
    assert titles(figure) == ["method 0", "method 1"]
    assert subtitles(figure) == [
        "sharpness 0.20 · coverage 1.00 · RMSE 0",
        "sharpness 0.40 · coverage 1.00 · RMSE 0.10",
    ]


def test_without_exact_solution_only_sharpness_is_told_and_no_error_is_drawn():
    made = figures(several(UNSOLVED))
    assert subtitles(made["field"]) == ["sharpness 0.20", "sharpness 0.40"]
    assert len(made["field"].axes) == 2 * 2 + 2  # mean and spread of two methods, two colour bars
    assert "exact" not in [text.get_text() for text in made["slices"].legends[0].get_texts()]


def test_curves_share_their_scale_and_show_all_sensors():
    first, second = figures(several(ONE))["field"].axes
    assert first.get_ylim() == second.get_ylim()
    assert first.get_ylim()[1] > 3.0
    assert len(first.collections[-1].get_offsets()) == 2


def test_one_legend_names_what_is_drawn():
    (legend,) = figures(several(ONE, 3))["field"].legends
    assert [text.get_text() for text in legend.get_texts()] == ["± 2σ", "mean", "exact", "sensors"]


def test_several_fields_have_a_row_and_a_scale_each():
    axes = figures(several(TWO_FIELDS))["field"].axes
    assert [ax.get_ylabel() for ax in axes] == ["u", "", "v", ""]
    assert axes[0].get_ylim() == axes[1].get_ylim() != axes[2].get_ylim() == axes[3].get_ylim()


def test_every_field_has_its_magnified_band():
    axes = figures(several(TWO_FIELDS))["error"].axes
    assert [ax.get_ylabel() for ax in axes] == ["u − mean", "", "v − mean", ""]
    np.testing.assert_allclose(axes[2].lines[0].get_ydata(), 0.0, atol=1e-6)  # v, of the method without error
    np.testing.assert_allclose(axes[3].lines[0].get_ydata(), -0.1, atol=1e-5)
    assert subtitles(figures(several(TWO_FIELDS))["error"])[2:] == ["mean σ of v 0.050", "mean σ of v 0.10"]


def test_slices_have_their_magnified_bands_too():
    made = figures(several(problem(x=(0, 1), t=(0, 4), fields=("u", "v"), exact=lambda x, t: (t + 0 * x, x * t))))
    assert {"error", "error_v"} < set(made)
    labels = [ax.get_ylabel().replace("\u00a0", " ") for ax in made["error_v"].axes]
    assert labels == ["v(x, t = 2) − mean", "", "v(x, t = 4) − mean", ""]


@pytest.mark.slow
@pytest.mark.parametrize(("shown", "panels"), [(ONE, 2), (TWO_FIELDS, 4), (PLANE, 6), (SPACE, 6)])
def test_one_picture_holds_all_fields_and_their_magnified_bands(shown, panels):
    figure = picture([evaluation(shown)])
    assert len(figure.axes) == panels  # in 2D three maps with their colour bars
    assert render(figure).startswith(b"\x89PNG")
    assert titles(figure)[0] == "method 0"


@pytest.mark.slow
@pytest.mark.parametrize(("methods", "columns"), [(1, 1), (3, 3), (4, 2), (5, 3), (6, 3)])
def test_many_methods_wrap(methods, columns):
    figure = figures(several(TWO_FIELDS, methods))["field"]
    assert len(figure.axes) == 2 * methods
    assert {ax.get_subplotspec().get_gridspec().ncols for ax in figure.axes} == {columns}
    assert len({ax.get_ylim() for ax in figure.axes}) == 2
    assert [name for ax in figure.axes if (name := ax.get_ylabel())] == ["u", "v"] * (1 if methods <= 3 else 2)


def test_maps_share_one_colour_scale_per_row():
    axes = figures(several(PLANE, 3))["field"].axes
    images = [ax.images[0] for ax in axes if ax.images]
    rows = [images[:3], images[3:6], images[6:]]
    assert all(len({image.get_clim() for image in row}) == 1 for row in rows)
    assert rows[0][0].get_clim()[0] == -rows[0][0].get_clim()[1]  # a mean of both signs
    assert rows[1][0].get_clim()[0] == rows[2][0].get_clim()[0] == 0


@pytest.mark.parametrize("intervals", [{"x": (0, 1), "t": (0, 4)}, {"t": (0, 4), "x": (0, 1)}])
def test_time_goes_up_whatever_the_order_of_coordinates(intervals):
    made = figures(several(problem(**intervals, exact=lambda x, t: t + 0 * x), 1))
    ax = made["field"].axes[0]
    assert made["field"].axes[2].get_xlabel() == "x"
    assert ax.get_ylabel() == "t"
    assert ax.get_ylim() == (0, 4)
    shown = np.asarray(ax.images[0].get_array())
    assert np.allclose(shown, np.linspace(0, 4, 9)[:, None])
    assert [a.get_ylabel().replace("\u00a0", " ").count("t = ") for a in made["slices"].axes] == [1, 1]


def test_slices_are_at_half_time_and_at_the_end():
    axes = figures(several(problem(x=(0, 1), t=(0, 4), exact=lambda x, t: t + 0 * x)))["slices"].axes
    assert [ax.get_ylabel().replace("\u00a0", " ") for ax in axes] == ["u(x, t = 2)", "", "u(x, t = 4)", ""]
    assert [ax.lines[1].get_ydata()[0] for ax in axes] == [2, 2, 4, 4]
    assert len({ax.get_ylim() for ax in axes}) == 1


def test_above_two_dimensions_lines_cross_in_the_centre():
    axes = figures(several(SPACE, 1))["field"].axes
    assert [ax.get_xlabel() for ax in axes] == ["x", "y", "t"]
    starts = [ax.lines[1].get_ydata()[0] for ax in axes]
    assert np.allclose(starts, [-1 + 10 + 50, 0 + 0 + 50, 0 + 10 + 0])


def test_unknowns_share_their_scale_and_say_what_was_found():
    figure = figures(several(INFERRED))["unknowns"]
    first, second, *_ = figure.axes
    assert first.get_xlim() == second.get_xlim()
    assert subtitles(figure)[:2] == ["a = 0.100 ± 0.012", "a = 0.100 ± 0.023"]
    lines = [(ax.get_xlabel(), len(ax.lines)) for ax in figure.axes]
    assert lines == [("a", 2), ("a", 2), ("b", 1), ("b", 1)]  # mean and exact value, if there is one


def test_stray_draws_do_not_stretch_the_scale():
    found = evaluation(INFERRED)
    found.unknowns["a"].samples[0] = 1e3
    assert figures([found])["unknowns"].axes[0].get_xlim()[1] < 1


@pytest.mark.slow
def test_an_unknown_without_spread_is_one_bar():
    figure = figures([evaluation(INFERRED, 0), evaluation(INFERRED, 1, spread=False)])["unknowns"]
    assert render(figure)
    assert [len(ax.patches) for ax in figure.axes] == [40, 1, 40, 1]
    assert figures([evaluation(INFERRED, spread=False)])["unknowns"].axes[0].get_xlim() == pytest.approx((0.094, 0.106))


def test_what_is_not_finite_is_left_out():
    good, bad = several(HEAT, count=5)
    bad.prediction.mean[::2] = np.nan
    bad.unknowns["kappa"].samples[:] = np.nan
    made = figures([good, bad])
    assert all(render(made[key]) for key in ("field", "unknowns"))
    assert np.all(np.isfinite([ax.get_ylim() for ax in made["slices"].axes]))


def test_evaluations_must_be_of_one_problem():
    with pytest.raises(InputError, match="at least one"):
        figures([])
    with pytest.raises(InputError, match="one problem"):
        figures([evaluation(ONE), evaluation(PLANE)])


def test_pyplot_knows_nothing_of_the_figures():
    figures(several(ONE))
    assert not Gcf.get_all_fig_managers()
