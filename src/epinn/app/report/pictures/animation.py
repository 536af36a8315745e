"""Time as an animation: mean and band of every field, frame by frame, as one GIF file."""

import io
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from ....judge.evaluation import Evaluation
from ....problem.region import TIME
from .curves import curve, line, share_scales
from .maps import bar, proportion_of, quantities, show, upright
from .panels import PER_ROW, TITLE, dress, legend, panel_grid, title
from .times import at_time, is_plane_in_time, times_of

FRAMES = 26  # at most
SECONDS = 5.0  # from the first frame to the last
PAUSE = 1.2  # seconds at the end, before it begins again
DPI = 100
COLOURS = 256
NEARLY_WHITE = 248
SAMPLES = 5  # frames that the colours of all are chosen from


def animation(evaluations: Sequence[Evaluation]) -> bytes | None:
    """Mean and band in time: curves over one space coordinate, maps over two. Nothing for problems of another kind."""
    domain = evaluations[0].problem.domain
    if TIME not in domain.coordinates or len(domain.space) not in (1, 2):
        return None
    times = times_of(evaluations[0])
    chosen = np.unique(np.linspace(0, len(times) - 1, min(FRAMES, len(times))).round().astype(int)).tolist()
    figure, draw = (_maps if is_plane_in_time(evaluations[0]) else _curves)(evaluations)
    return _as_gif(list(_frames(figure, draw, chosen, times)))


Drawing = tuple[Figure, Callable[[int], None]]  # a figure, and what shows it at one of the times


def _curves(evaluations: Sequence[Evaluation]) -> Drawing:
    """A row for every field, a column for every method; scales are those of all times."""
    problem = evaluations[0].problem
    along = problem.domain.space[0]
    fields = [name for name in problem.fields if name not in problem.sought] or list(problem.fields)
    figure, axes, width = panel_grid(len(fields), len(evaluations))
    panels = [
        (ax, evaluation, name)
        for row, name in zip(axes, fields, strict=True)
        for ax, evaluation in zip(row, evaluations, strict=True)
    ]
    times = times_of(evaluations[0])
    at_all = [[line(evaluations[0], name, along, **{TIME: time}) for time in times] for name in fields]

    for row, name, lines in zip(axes, fields, at_all, strict=True):
        for ax, evaluation in zip(row, evaluations, strict=True):
            for one in lines:
                curve(ax, evaluation, one)
            dress(ax, along, name)
            title(ax, evaluation.label if name == fields[0] else "", "", width)
    share_scales(axes, [lines[0] for lines in at_all])
    for ax in axes.flat:
        ax.set(xlim=ax.get_xlim(), ylim=ax.get_ylim())  # fixed, whatever is drawn
    legend(figure, axes)

    def draw(index: int) -> None:
        for ax, evaluation, name in panels:
            _empty(ax)
            curve(ax, evaluation, at_all[fields.index(name)][index])

    return figure, draw


def _empty(ax: Axes) -> None:
    for artist in (*ax.lines, *ax.collections):
        artist.remove()


def _maps(evaluations: Sequence[Evaluation]) -> Drawing:
    """Mean and standard deviation of every field in rows, a column for every method; colours are those of all times."""
    problem = evaluations[0].problem
    domain = problem.domain
    plane = [domain.axis(name) for name in domain.space]
    rows = [row for name in problem.fields for row in quantities(evaluations, name)[:2]]
    width = 3.2 if len(evaluations) == 1 else 2.6 if len(evaluations) <= PER_ROW else 2.2
    height = width * proportion_of(domain, plane)
    figure = Figure((width * len(evaluations) + 1.1, height * len(rows) + 0.9), DPI, layout="constrained")
    axes = figure.subplots(len(rows), len(evaluations), sharex=True, sharey=True, squeeze=False)
    images = []
    for panels, (name, values, style) in zip(axes, rows, strict=True):
        for ax, evaluation, heights in zip(panels, evaluations, values, strict=True):
            image = show(ax, evaluation, at_time(evaluation, heights, 0), plane, style)
            images.append((image, evaluation, heights))
            dress(ax, *domain.space)
            ax.label_outer()
        bar(panels, image, name)
    for ax, evaluation in zip(axes[0], evaluations, strict=True):
        title(ax, evaluation.label, "", width)

    def draw(index: int) -> None:
        for image, evaluation, heights in images:
            image.set_data(upright(at_time(evaluation, heights, index), plane))

    return figure, draw


def _frames(figure: Figure, draw: Callable[[int], None], chosen: Sequence[int], times: np.ndarray) -> Iterator[Image.Image]:
    """The figure at the chosen times; its layout is found once, which takes longer than to draw it."""
    canvas, digits = FigureCanvasAgg(figure), _digits(times)
    clock = figure.suptitle(f"{TIME} = {times[chosen[-1]]:.{digits}f}", fontsize=TITLE, x=0.98, ha="right", parse_math=False)
    figure.set_dpi(DPI)
    for number, index in enumerate(chosen):
        draw(index)
        clock.set_text(f"{TIME} = {times[index]:.{digits}f}")
        canvas.draw()  # type: ignore[no-untyped-call]  # matplotlib has no types for it, nor for what follows
        if number == 0:
            figure.set_layout_engine("none")
        pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
        yield Image.fromarray(pixels[..., :3].copy())


def _digits(times: np.ndarray) -> int:
    """Decimals that tell neighbouring times apart."""
    return int(np.clip(1 - np.floor(np.log10(times[1] - times[0])), 0, 12))


def _as_gif(frames: Sequence[Image.Image]) -> bytes:
    """All frames in the same colours, so that a frame needs only what has changed since the one before."""
    some = [frames[i] for i in np.linspace(0, len(frames) - 1, SAMPLES).astype(int)]
    joined = Image.fromarray(np.concatenate([np.asarray(frame) for frame in some]))
    palette = _with_white(joined.quantize(COLOURS))
    first, *others = (frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    pause = 1000 * SECONDS / max(1, len(frames) - 1)
    durations = [int(pause)] * len(others) + [int(1000 * PAUSE)]
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=others, duration=durations, loop=0, optimize=False)
    return buffer.getvalue()


def _with_white(image: Image.Image) -> Image.Image:
    """The same with white in the place of what is nearly white: the edges of letters are averaged into it."""
    colours = np.reshape(image.getpalette() or [], (-1, 3))
    colours[colours.min(axis=1) >= NEARLY_WHITE] = 255
    image.putpalette(colours.ravel().tolist())
    return image
