"""What a user holds in the hand: a posterior that can be asked how far to trust it, shown, reported and saved."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from jaxtyping import PRNGKeyArray

from ... import __version__
from ...derivatives.network import Solution
from ...errors import InputError
from ...judge.assessment import assess, residuals_in_words
from ...judge.evaluation import Evaluation, evaluate
from ...judge.record import record_of
from ...judge.reference import reference_for
from ...judge.verdict import Verdict
from ...judge.wording import notes, plus_minus, significant
from ...methods.method import Method
from ...posterior.gaussian import LEVEL
from ...posterior.posterior import DRAWS, Posterior
from ...posterior.sampler import Sampler
from ...posterior.statistics import Prediction
from ...problem.geometry.mesh import own_mesh
from ...problem.problem import Problem
from ...progress import Progress
from ...solve.pinn import Pinn
from ..store.bands import StoredBand, save_band
from ..store.files import write_atomically
from .places import Grid, places

if TYPE_CHECKING:  # they take a while to load or need not be installed, and only pictures and exports need them
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset


@final
@dataclass(frozen=True, eq=False, repr=False)
class Band:
    """A trained network with error bars: what `epinn.attach` gives back.

    `predict`, `unknowns` and `evaluate` give mean and standard deviation over `draws` functions, chosen by `key`; with
    `quantiles` (levels such as 0.025) and a number of single `samples` beside them if asked for. The spread of the draws is
    what is not known of the field; `noise` has, by field, what one more measurement of it would add.

    `verdict` says how far to trust it, and `summary()`, `plot()`, `report("page.html")` show it; `save(path)` keeps it for
    `epinn.load(path, problem)`; `to_dataframe`, `to_xarray` and `to_vtu` are for other programs. `pinn` is the network it was
    attached to, `settings` the method with its settings.
    """

    posterior: Posterior
    pinn: Pinn
    settings: Method
    key: PRNGKeyArray | int = 0
    known_verdict: Verdict | None = None  # of a band that was judged before it was saved

    def __repr__(self) -> str:
        problem, number = self.problem, len(self.warnings)
        word = self._verdict_so_far
        judged = "" if word is None else f"; {word.word}"
        notes = f"; {number} warning{'s' if number > 1 else ''}" if number else ""
        names = ", ".join([*problem.fields, *problem.unknowns])
        of = f" of {problem.name!r}" if problem.name else ""
        return f"<Band{of} by {self.method}: {names}{judged}{notes}. More: .summary(), .plot()>"

    @property
    def sampler(self) -> Sampler:
        """What draws are made by."""
        return self.posterior.sampler

    @property
    def problem(self) -> Problem:
        return self.posterior.problem

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.posterior.method

    @property
    def diagnostics(self) -> Mapping[str, Any]:
        """Figures of the method's own, such as R-hat."""
        return self.posterior.diagnostics

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for whoever reads the result."""
        return self.posterior.warnings

    @property
    def failure(self) -> str | None:
        return self.posterior.failure

    @property
    def seconds(self) -> float:
        """What the band took, without the training of the network."""
        return self.posterior.seconds

    @property
    def noise(self) -> Mapping[str, float]:
        """By field, the standard deviation of the noise of one more measurement."""
        return self.posterior.noise

    @property
    def sigmas(self) -> Mapping[str, float]:
        """By channel, what the method itself found where the noise was unknown."""
        return self.posterior.sigmas

    def draw(self, key: PRNGKeyArray | int) -> Solution:
        """One function, and the unknowns that go with it."""
        return self.posterior.draw(key)

    def predict(
        self,
        points: Any,
        *,
        field: str | None = None,
        draws: int = DRAWS,
        key: PRNGKeyArray | int = 0,
        quantiles: Sequence[float] = (),
        samples: int = 0,
    ) -> Prediction:
        """The fields at points (n, coordinates): shape (n,) for one field, (n, fields) for all of several."""
        return self.posterior.predict(points, field=field, draws=draws, key=key, quantiles=quantiles, samples=samples)

    def predict_measurement(
        self, points: Any, *, field: str | None = None, draws: int = DRAWS, key: PRNGKeyArray | int = 0
    ) -> Prediction:
        """What a direct measurement of a field at points would show: its spread and the noise together."""
        return self.posterior.predict_measurement(points, field=field, draws=draws, key=key)

    def unknowns(
        self,
        *,
        draws: int = DRAWS,
        key: PRNGKeyArray | int = 0,
        quantiles: Sequence[float] = (),
        samples: int = 0,
    ) -> dict[str, Prediction]:
        """What an inverse problem asks for, by name: unknown parameters, averages of fields that should be constant."""
        return self.posterior.unknowns(draws=draws, key=key, quantiles=quantiles, samples=samples)

    def evaluate(
        self,
        functional: Callable[..., Any],
        at: Any = None,
        *,
        draws: int = DRAWS,
        key: PRNGKeyArray | int = 0,
        quantiles: Sequence[float] = (),
        samples: int = 0,
    ) -> Prediction:
        """Any functional of the solution.

        With points `at`, an operator written like an equation (`lambda u: u.x`), evaluated there; without, a function
        from a `Solution` to an array, such as an integral of `solution(points)`.
        """
        return self.posterior.evaluate(functional, at, draws=draws, key=key, quantiles=quantiles, samples=samples)

    @cached_property
    def evaluation(self) -> Evaluation:
        """The band on a dense grid, with metrics: what verdict, pictures and report look at. Computed on first use."""
        return evaluate(self.posterior)

    @cached_property
    def verdict(self) -> Verdict:
        """How far to trust the band: a `word` and `why`. Computed on first use."""
        if self.known_verdict is not None:
            return self.known_verdict
        reference = reference_for(self.settings, [self.pinn], [self.key], Progress())
        return assess(self.pinn, self.settings, self.posterior, self.evaluation, None if reference is None else reference[0])

    @property
    def _verdict_so_far(self) -> Verdict | None:
        """The verdict, if it need not be computed."""
        return self.__dict__.get("verdict", self.known_verdict)

    def record(self) -> dict[str, Any]:
        """Metrics, unknowns, times, diagnostics, warnings and verdict as plain data, as in `metrics.json` of a run."""
        return record_of(self.pinn, self.settings, self.posterior, self.evaluation, self.verdict)

    def summary(self) -> str:
        """A few lines of text: problem, method, verdict, unknowns, sharpness, residuals, and warnings if there are any."""
        verdict, seen = self.verdict, self.evaluation
        residuals = residuals_in_words(self.pinn, self.posterior)
        reasons = [text for text in verdict.why if text != residuals]  # they have a line of their own
        lines = [("verdict", f"{verdict.word}{': ' + '; '.join(reasons) if reasons else ''}")]
        lines += [("advice", text) for text in verdict.advice]
        for name, found in seen.unknowns.items():
            exact = seen.unknowns_truth[name]
            known = "" if exact is None else f" (exact {exact:.4g})"
            lines.append((name, f"{plus_minus(float(found.mean), float(found.std))}{known}"))
        widths = {name: seen.metrics(name)["sharpness"] for name in self.problem.fields}
        shown = [f"{name} {significant(width)}" for name, width in widths.items() if width is not None]
        lines.append(("sharpness", f"{', '.join(shown)} (mean width of the ±2σ band)"))
        lines.append(("residuals", residuals.removeprefix("residuals: ")))
        lines += [("note", text) for _, text in notes([{**self.record(), "seed": 0}], verdict.why)]
        width = max(len(name) for name, _ in lines)
        fields = f"{', '.join(self.problem.fields)}({', '.join(self.problem.domain.coordinates)})"
        return "\n".join(
            [f"{self.problem.name or fields}, {self.method}", *(f"  {name:<{width}}  {text}" for name, text in lines)]
        )

    def plot(self) -> "Figure":
        """All fields with their bands in one figure. It needs no display: `band.plot().savefig("band.png")`."""
        from ..report.pictures import picture

        return picture([self.evaluation])

    def report(self, path: str | Path) -> None:
        """Write one page (HTML) with verdict, tables and pictures, which needs no other file."""
        from ..report.band_page import band_page
        from ..report.page import render

        settings = {f"{self.method}.{f.name}": getattr(self.settings, f.name) for f in dataclasses.fields(self.settings)}
        facts = {"Network": _in_words(self.pinn)}
        page = band_page(self.record(), self.evaluation, pinn=self.pinn, settings=settings, facts=facts)
        try:
            write_atomically(Path(path), render(page).encode())
        except OSError as error:
            raise InputError(f"{path} cannot be written ({error.strerror}); choose another place.") from None

    def to_dataframe(
        self,
        points: Any = None,
        *,
        grid: Grid = None,
        at: Mapping[str, float] | None = None,
        level: float = LEVEL,
        draws: int = DRAWS,
        key: PRNGKeyArray | int = 0,
    ) -> "DataFrame":
        """A pandas table with the coordinates of points, or of a grid as for `to_xarray`, and mean, std, lower, upper there."""
        from .export import to_dataframe

        if points is not None and not (grid is None and at is None):
            raise InputError("a table is over points or over a grid; leave out grid= and at=, or the points.")
        where = places(self.problem, grid, at).inside(self.problem.domain) if points is None else points
        frame: DataFrame = to_dataframe(self.posterior, where, level=level, draws=draws, key=key)
        frame.attrs = self._about(level)
        return frame

    def to_xarray(
        self,
        *,
        grid: Grid = None,
        at: Mapping[str, float] | None = None,
        level: float = LEVEL,
        draws: int = DRAWS,
        key: PRNGKeyArray | int = 0,
    ) -> "Dataset":
        """Arrays over a grid: `u_mean`, `u_std`, and the ends of the band, `u_lower` and `u_upper`, for every field.

        `grid` is the number of points along every coordinate, or a number or the values themselves by coordinate; `at` holds
        some at one value: `to_xarray(grid={"x": 101}, at={"t": 3.0})`. The band is that of so many `level`.
        """
        from .export import to_xarray

        dataset: Dataset = to_xarray(self.posterior, places(self.problem, grid, at), level=level, draws=draws, key=key)
        dataset.attrs = self._about(level)
        return dataset

    def to_vtu(
        self,
        path: str | Path,
        *,
        grid: Grid = None,
        at: Mapping[str, float] | None = None,
        level: float = LEVEL,
        draws: int = DRAWS,
        key: PRNGKeyArray | int = 0,
    ) -> Path:
        """Write a grid, as for `to_xarray`, to a file for ParaView; with several times, one each and a .pvd to open them by.

        A domain that is a mesh has points and cells of its own, which are taken instead unless `grid` or `at` is given.
        """
        from .export import to_vtu, to_vtu_on_mesh

        own = own_mesh(self.problem.domain) if grid is None and at is None else None
        if own is not None:
            return to_vtu_on_mesh(self.posterior, Path(path), *own, level=level, draws=draws, key=key)
        where = places(self.problem, grid, at)
        return to_vtu(self.posterior, Path(path), where, level=level, draws=draws, key=key)

    def _about(self, level: float) -> dict[str, Any]:
        """What goes along with numbers that leave: where they come from, and how far to trust them."""
        verdict = self.verdict
        about = {"problem": self.problem.name, "method": self.method, "level": level, "epinn": __version__}
        return {**about, "verdict": verdict.word, "why": "; ".join(verdict.why), "warnings": "; ".join(self.warnings)}

    def save(self, path: str | Path) -> None:
        """Write the band to one file that cannot run code (safetensors). `epinn.load(path, problem)` reads it.

        The problem holds Python functions, so it is not in the file.
        """
        save_band(StoredBand(self.posterior, self.pinn, self.settings, self.key, self._verdict_so_far), Path(path))


def _in_words(pinn: Pinn) -> str:
    how = "trained elsewhere" if pinn.trained_elsewhere else f"trained in {pinn.seconds:.3g} s"
    return f"{pinn.network_in_words}, {pinn.size[1]} parameters, {how}"
