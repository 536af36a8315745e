"""What a solution must satisfy: equations, initial conditions, measurements."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from ..arguments import whole
from ..errors import InputError, shown, unknown_name, warn
from ..tables.measurements import read_measurements
from ..tables.units import Units
from .average import windows
from .channel import Channel, Kind
from .checks import as_columns, in_order, own_points
from .condition import HIGHEST_ORDER, Condition, Sigma, Target, make_channel, of_field
from .context import Context
from .domain import Box
from .operators import Derivatives
from .region import TIME, Domain

HELD_OUT = ", held out"  # what the name of a part of some measurements ends with


@dataclass(frozen=True, eq=False)
class Equation(Condition):
    """A differential equation in the interior: `operator` equals `target` (a number, a function, or values at `points`).

    `given` are values at the points that the operator may ask for by name.
    """

    kind: ClassVar[Kind] = "equation"
    operator: Callable[..., Any]
    target: Target = 0.0
    points: Any = None
    given: Mapping[str, Any] | None = None

    @property
    def what(self) -> str:
        return "equation"

    def in_full(self, fields: Sequence[str]) -> str:
        name = getattr(self.operator, "__name__", "<lambda>")
        return self.what if name in ("<lambda>", self.what) else f"{self.what} {name}"

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        if self.points is not None:
            return make_channel(
                self, context, self.operator, self.target, own_points(self.points, self.label, context.domain), self.given
            )
        if self.given:
            names = ", ".join(self.given)
            raise InputError(f"{self.label}: the given {names} belongs to points; say which with points=.")
        return make_channel(self, context, self.operator, self.target, context.collocation(key), sampled=True)


@dataclass(frozen=True, eq=False)
class Initial(Condition):
    """The value of a field, or its time derivative of the given order, when time begins.

    `target` is a number, a function of the space coordinates, or one value for each of your own `points` in space. Exact values
    hold by construction where that can be, unless `hard` is false.
    """

    kind: ClassVar[Kind] = "initial"
    target: Target
    field: str | None = None
    order: int = 0
    points: Any = None
    hard: bool = dataclasses.field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        whole(self.order, "the order of an initial condition", most=HIGHEST_ORDER)
        super().__post_init__()

    @property
    def what(self) -> str:
        return "initial"

    def in_full(self, fields: Sequence[str]) -> str:
        if not self.order:
            return self.what + of_field(self.field, fields)
        return f"{self.what} of {self.field or fields[0]}.{TIME * self.order}"

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        domain = context.domain
        if TIME not in domain.coordinates:
            raise InputError(f"an initial condition needs time: {_where_time_comes_from(domain)}.")
        faces = domain.faces(TIME)[:1] if self.points is None else []
        points = (
            context.on_faces(faces, key).points
            if self.points is None
            else own_points(self._when_time_begins(domain), self.label, domain)
        )
        operator = Derivatives(context.field_name(self.field), ((TIME,) * self.order,))
        return make_channel(self, context, operator, self.target, points, sampled=self.points is None, faces=faces)

    def _when_time_begins(self, domain: Domain) -> Float[np.ndarray, "n d"]:
        """The user's points in space with the time when it begins among their coordinates."""
        if not domain.space:
            raise InputError(
                f"{self.label}: there are no points in space where time is the only coordinate; leave out points=."
            )
        axis = domain.axis(TIME)
        return np.insert(as_columns(self.points, self.label, domain.space), axis, domain.lower[axis], axis=1)


def _where_time_comes_from(domain: Domain) -> str:
    """What to do in a domain that has no time."""
    if not isinstance(domain, Box):
        return f"add it to the shape, .during({TIME}=(0, 1))"
    names = domain.coordinates
    one = names[0] if len(names) == 1 else f"one of {', '.join(names)}"
    return f"if {one} is time, call it {TIME}; else add a coordinate {TIME} to the box"


@dataclass(frozen=True, eq=False)
class Data(Condition):
    """Measurements of a field, or of any `operator` of it, at points: `Data(x, u, sigma=0.1)`.

    A sigma that is not said is unknown. `noise="student"` is noise with heavy tails, of which some readings may be far off;
    sigma is then its scale. Measurements that are `held_out` are not trained on: they judge the band. `over` makes
    them averages: `{"t": 5.0}` over as much around each point, `{"t": (-5.0, 0.0)}` over what came before it. Where the
    columns of the points are not in the order of the box, `coordinates` says which is which. `from_file` reads all of it from
    a file; `lines` are then those of the file, which messages name.
    """

    kind: ClassVar[Kind] = "data"
    points: Any
    values: Any
    sigma: Sigma = field(default="unknown", kw_only=True)
    noise: str = field(default="gaussian", kw_only=True)
    held_out: bool = field(default=False, kw_only=True)
    coordinates: Sequence[str] | None = field(default=None, kw_only=True)
    lines: Any = field(default=None, kw_only=True)
    over: Mapping[str, Any] | None = field(default=None, kw_only=True)
    field: str | None = None
    operator: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.held_out, bool):
            raise InputError(f"held_out= of data must be True or False, not {shown(self.held_out)}.")
        super().__post_init__()

    @classmethod
    def from_file(
        cls,
        file: Any,
        *,
        coordinates: Mapping[str, str] | Sequence[str],
        value: str,
        sigma: float | str | None = None,
        units: Units | None = None,
        sheet: str | None = None,
        keep_copies: bool = False,
        **options: Any,
    ) -> "Data":
        """Measurements from a file: CSV, Excel, Parquet, NetCDF or MAT.

        `coordinates` are columns named like the coordinates, `("x", "t")`, or columns by coordinate, `{"x": "position"}`.
        `sigma` is a column, or a number in the units of the problem; without it the noise is unknown. `units` says what the
        problem wants, `{"x": "m", "T": "K"}`; what a column has is in its header, `T [degC]`, or said: `{"x": ("mm", "m")}`.
        Rows with missing values, and exact copies of others, are left out with an `EpinnWarning`. `sheet` is one of Excel's.
        All else is as for `Data`: `noise`, `field`, `operator`, `over`, `name`, `held_out`.
        """
        known = {f.name for f in dataclasses.fields(cls)} - {"points", "values", "lines"}
        for name in options:
            if name not in known:
                raise unknown_name("argument of Data.from_file", name, known | {"value", "units", "sheet", "keep_copies"})
        column = sigma if isinstance(sigma, str) and sigma != "unknown" else None
        found = read_measurements(
            file, coordinates=coordinates, value=value, sigma=column, units=units, sheet=sheet, keep_copies=keep_copies
        )
        warn(found.notes)
        own = ("unknown" if sigma is None else sigma) if found.sigma is None else found.sigma
        return cls(found.points, found.values, sigma=own, coordinates=found.coordinates, lines=found.lines, **options)

    @property
    def what(self) -> str:
        return "data" + (HELD_OUT if self.held_out else "")

    @property
    def is_direct(self) -> bool:
        """Whether the values are those of a field at the points."""
        return self.operator is None and self.over is None

    def in_full(self, fields: Sequence[str]) -> str:
        of = "" if self.operator is not None else of_field(self.field, fields)
        return f"data{of}" + (HELD_OUT if self.held_out else "")

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        operator = Derivatives(context.field_name(self.field), ((),)) if self.operator is None else self.operator
        label, domain = self.label, context.domain
        points = self.points if self.coordinates is None else in_order(self.points, self.coordinates, label, domain)
        checked = own_points(points, label, domain, self.lines)
        over = None if self.over is None else windows(checked, self.over, label, domain, self.lines)
        return make_channel(self, context, operator, self.values, checked, over=over)

    def parted(self, share: float, key: PRNGKeyArray) -> "tuple[Data, Data]":
        """These measurements without a random share of them, and that share, held out."""
        points, values = np.asarray(self.points), np.asarray(self.values)
        order = np.asarray(jax.random.permutation(key, len(points)))
        number = round(share * len(points))

        def part(chosen: np.ndarray) -> Data:
            one_each = self.sigma is not None and np.ndim(self.sigma) > 0
            sigma: Sigma = np.asarray(self.sigma)[chosen] if one_each else self.sigma
            lines = None if self.lines is None else np.asarray(self.lines)[chosen]
            return replace(self, points=points[chosen], values=values[chosen], sigma=sigma, lines=lines)

        held_out = replace(part(np.sort(order[:number])), held_out=True, name=self.label + HELD_OUT)
        return part(np.sort(order[number:])), held_out


@dataclass(frozen=True, eq=False)
class Constant(Condition):
    """An unknown field that should be constant: its variance over the collocation points is penalised."""

    kind: ClassVar[Kind] = "constraint"
    field: str

    @property
    def what(self) -> str:
        return "constant"

    def in_full(self, fields: Sequence[str]) -> str:
        return f"{self.what} {self.field}"

    def channel(self, context: Context, key: PRNGKeyArray) -> Channel:
        operator = Derivatives(context.field_name(self.field), ((),))
        return make_channel(self, context, operator, 0.0, context.collocation(key), centred=True, sampled=True)
