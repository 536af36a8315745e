"""A problem: a domain, what must hold in it, what is unknown, and the exact solution if it is known."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..arguments import names, text
from ..derivatives.jet import before_softplus
from ..derivatives.network import AbstractNetwork, Frozen, Opaque, Solution
from ..derivatives.operator import Names, at_points
from ..derivatives.units import Units
from ..errors import InputError, shown, unknown_name
from .boundary import Periodic
from .channel import Channel
from .condition import Condition
from .conditions import Constant, Data
from .context import Clear, Context, Points
from .disturbance import Disturbance
from .domain import Box
from .field import Field
from .joints import joints
from .mistakes import check_together
from .precision import UnknownNoise
from .region import Domain
from .sameness import same_value
from .shorthand import Slot, Unknown, as_conditions, as_unknown, named

SUMMARY_GRID = {1: 101, 2: 33, 3: 17}  # points along each coordinate when a field is averaged
LARGEST_SEED = 2**32 - 1  # JAX makes a key of 32 bits without double precision
SLOTS: tuple[Slot, ...] = get_args(Slot)


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything that is known about a solution.

    `equation`, `boundary`, `initial`, `data` and `extra` each take one condition, a list, or a dictionary of them by name; a
    plain function is an equation, a plain number a Dirichlet value. `fields` are names, or `Field` for one with a network of
    its own; those named in `positive` are positive everywhere. `exact` is a function of the coordinates by name, with one value
    per field. `name` is what reports call the problem.
    """

    domain: Domain
    equation: Any
    boundary: Any = ()
    initial: Any = ()
    data: Any = ()
    extra: Any = ()
    fields: Sequence[str] = ("u",)
    positive: Sequence[str] = ()
    unknowns: Mapping[str, Any] = field(default_factory=dict)
    exact: Callable[..., Any] | None = None
    points: Points = Points()
    name: str = ""
    disturbance: Disturbance | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise InputError(f"the domain must be a Box or a shape, as in Box(x=(0, 1)), not {shown(self.domain)}.")
        for name in ("fields", "positive"):
            self._set(name, names(getattr(self, name), name, f"{name}=('u', 'v')"))
        self._check_types()
        for own in self.networks:
            own.axes(self.domain.coordinates)  # refuses what is no coordinate
        for name in self.positive:
            if name not in self.fields:
                raise unknown_name("field", name, self.fields)
        self._set("unknowns", {name: as_unknown(name, given) for name, given in self.unknowns.items()})
        every = [*self.domain.coordinates, *self.fields, *self.unknowns]
        twice = sorted({name for name in every if every.count(name) > 1})
        if twice:
            raise InputError(f"the name {twice[0]!r} is used twice among coordinates, fields and unknowns.")
        in_slots = {slot: as_conditions(getattr(self, slot), slot) for slot in SLOTS}
        distinct = iter(named([condition for slot in SLOTS for condition in in_slots[slot]], self.fields))
        for slot in SLOTS:
            self._set(slot, tuple(next(distinct) for _ in in_slots[slot]))
        if not self.conditions:
            raise InputError("a problem needs at least one condition: an equation, boundary values or data.")
        if self.points.resample and self.context.sampling == "grid":
            raise InputError("a grid is the same every time; to resample, use the sampling uniform, latin or sobol.")

    def _check_types(self) -> None:
        if not self.fields:
            raise InputError("a problem needs at least one field, as in fields=('u',).")
        if not isinstance(self.unknowns, Mapping):
            raise InputError(f"unknowns are guesses by name, as in unknowns={{'nu': 0.1}}, not {shown(self.unknowns)}.")
        names(list(self.unknowns), "unknowns", "unknowns={'nu': 0.1}")
        if self.exact is not None and not callable(self.exact):
            raise InputError(f"exact must be a function of the coordinates, not {shown(self.exact)}.")
        if not isinstance(self.points, Points):
            raise InputError(f"points must be epinn.Points(...), not {shown(self.points)}.")
        text(self.name, "the name of a problem", "rod")

    def _set(self, name: str, value: Any) -> None:
        """Put what the user wrote into its full form, while the problem is made."""
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        domain = self.domain
        sides = (f"{n} in ({a:g}, {b:g})" for n, a, b in zip(domain.coordinates, domain.lower, domain.upper, strict=True))
        place = ", ".join(sides) if isinstance(domain, Box) else repr(domain)
        unknowns = f"; unknown {', '.join(self.unknowns)}" if self.unknowns else ""
        every = (*self.equation, *self.boundary, *self.initial, *self.data, *self.extra)
        labels = [f"{c.label} ({len(c.points)})" if isinstance(c, Data) else c.label for c in every]
        title = f" {self.name!r}" if self.name else ""
        return f"<Problem{title}: {', '.join(self.fields)} for {place}; {', '.join(labels)}{unknowns}>"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What a solution is trained on."""
        seen = (condition for condition in self.data if not _is_held_out(condition))
        return (*self.equation, *self.boundary, *self.initial, *seen, *self.extra)

    def held_out(self) -> tuple[Channel, ...]:
        """Measurements that nothing is trained on."""
        return tuple(condition.channel(self.context, as_key(0)) for condition in self.data if _is_held_out(condition))

    def holding_out(self, share: float, key: PRNGKeyArray | int) -> "Problem":
        """This problem with a random share of its measurements held out."""
        keys = jax.random.split(as_key(key), max(len(self.data), 1))
        parts: list[Condition] = []
        for condition, own in zip(self.data, keys, strict=False):
            is_open = isinstance(condition, Data) and not condition.held_out
            parts += [part for part in condition.parted(share, own) if len(part.points)] if is_open else [condition]
        return dataclasses.replace(self, data=tuple(parts))

    @property
    def names(self) -> Names:
        """What operators may ask for."""
        return Names(tuple(self.fields), self.domain.coordinates, tuple(self.unknowns), tuple(self.positive))

    @property
    def networks(self) -> tuple[Field, ...]:
        """The fields that have a network of their own."""
        return tuple(name for name in self.fields if isinstance(name, Field))

    @property
    def periodic(self) -> tuple[str, ...]:
        """The coordinates along which all fields are exactly periodic."""
        exact = [c for c in self.conditions if isinstance(c, Periodic) and c.sigma is None and c.order]
        whole = [name for name, breaks in zip(self.domain.coordinates, self.domain.breaks, strict=True) if not breaks]
        of = {name: {self.field_name(c.field) for c in exact if c.along == name} for name in whole}
        return tuple(name for name, fields in of.items() if fields == set(self.fields))

    @property
    def context(self) -> Context:
        """What the conditions need to know of this problem."""
        return Context(self.domain, self.names, self.points)

    def field_name(self, name: str | None) -> str:
        """The field meant by `name`; without one, the only field there is."""
        return self.context.field_name(name)

    def channels(self, key: PRNGKeyArray | int = 0) -> tuple[Channel, ...]:
        """All conditions as channels, with points drawn by `key`. Conditions that sample the interior share its points."""
        key = as_key(key)
        interior_key, face_key = jax.random.split(key)
        made = tuple(
            condition.channel(self.context, interior_key if condition.kind in ("equation", "constraint") else face_key)
            for condition in self.conditions
        )
        if any(self.domain.breaks):
            made += tuple(joints(self.context, [channel for channel in made if channel.kind == "equation"], face_key))
        return made if self.disturbance is None else self.disturbance(made)

    def broken(self, breaks: Mapping[str, Sequence[float]]) -> "Problem":
        """This problem with further breaks in its domain."""
        return dataclasses.replace(self, domain=self.domain.broken(breaks))

    def clear_of(self, places: Sequence[Clear]) -> "Problem":
        """This problem with points that keep away from some places."""
        return dataclasses.replace(self, points=dataclasses.replace(self.points, clear=tuple(places)))

    def elsewhere(self, key: PRNGKeyArray | int = 0) -> tuple[Channel, ...]:
        """The channels at other points than those of `channels(key)`, where points are chosen and not given."""
        sampling = "latin" if self.context.sampling == "grid" else self.context.sampling
        other = dataclasses.replace(self, points=dataclasses.replace(self.points, sampling=sampling, resample=0))
        pairs = zip(self.channels(key), other.channels(jax.random.fold_in(as_key(key), 1)), strict=True)
        return tuple(there if here.target_moves or np.ptp(here.target) == 0 else here for here, there in pairs)

    def disturbed(self, sigmas: Mapping[str, float], key: PRNGKeyArray | int) -> "Problem":
        """This problem with noise on the targets of some kinds of conditions: {"equation": 0.1, "boundary": 0.01}."""
        for kind, sigma in sigmas.items():
            known = sorted({condition.kind for condition in self.conditions})
            if kind not in known:
                raise unknown_name("kind of condition", kind, known)
            if not 0 < sigma < math.inf:
                raise InputError(f"the noise on {kind} must be a positive number, not {shown(sigma)}.")
            if any(isinstance(c.precision, UnknownNoise) for c in self.channels(0) if c.kind == kind):
                raise InputError(f"the noise on {kind} is unknown already, so no known noise can be added to it.")
        if self.points.resample:
            raise InputError("noise on conditions belongs to fixed points: set points.resample=0.")
        if "data" in sigmas and self.held_out():
            raise InputError("held-out measurements would not get the noise that is added to the others; leave out either.")
        return dataclasses.replace(self, disturbance=Disturbance(dict(sigmas), as_key(key)))

    def check(self) -> None:
        """Find mistakes in operators, data and exact solution now, and not after training."""
        self.channels(0)
        check_together(self)
        if self.exact is not None and self.exact_at(self.domain.interior(1)).shape[1] != len(self.fields):
            raise InputError(f"exact must return one value for each of the fields {', '.join(self.fields)}.")

    def same_as(self, other: "Problem") -> bool:
        """Whether a solution of the other problem is trained on the very same things, whoever built the problems and when.

        Names of the problems, exact solutions and held-out measurements take no part in training, and may differ.
        """
        mine, its = (
            (p.context, [vars(own) for own in p.networks], p.conditions, p.points, p.disturbance, _starts(p.parameters))
            for p in (self, other)
        )
        return same_value(mine, its)

    def with_points(
        self,
        *,
        collocation: int | EllipsisType | None = ...,
        boundary: int | EllipsisType | None = ...,
        sampling: str | EllipsisType | None = ...,
        resample: int | EllipsisType = ...,
    ) -> "Problem":
        """This problem with its points chosen differently; what is left out stays as it is. See `Points`."""
        given = {"collocation": collocation, "boundary": boundary, "sampling": sampling, "resample": resample}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not ...}
        return dataclasses.replace(self, points=dataclasses.replace(self.points, **changes))

    def with_times_as_many_points(self, times: int) -> "Problem":
        """This problem with so many times as many points, wherever they are chosen and not given."""
        return dataclasses.replace(self, points=dataclasses.replace(self.points, times=times * self.points.times))

    def with_many_points(self, times: int) -> "Problem":
        """The same with points that are spread at random, to choose from."""
        sampling = "sobol" if self.context.sampling == "grid" else self.context.sampling
        other = dataclasses.replace(self, points=dataclasses.replace(self.points, sampling=sampling, resample=0))
        return other.with_times_as_many_points(times)

    def solution(self, network: AbstractNetwork, units: Units | None = None) -> Solution:
        """A network that works in some units, by default those of the problem, with every unknown at its guess."""
        raw = {
            name: jnp.full((), unknown.raw(1.0 if units is None else float(units.unknowns[name])), float)
            for name, unknown in self.parameters.items()
        }
        positive = tuple(name for name, unknown in self.parameters.items() if unknown.positive)
        return Solution(network, raw, positive, self.names.positive_columns, None if units is None else Frozen(units))

    @property
    def parameters(self) -> dict[str, Unknown]:
        """The unknown parameters."""
        return {name: as_unknown(name, unknown) for name, unknown in self.unknowns.items()}

    def exact_at(self, points: Float[Array | np.ndarray, "n d"]) -> Float[Array, "n fields"]:
        """The exact solution at points, one column per field."""
        if self.exact is None:
            raise InputError(f"{self.name or 'this problem'} has no exact solution; give it one with exact=.")
        return at_points(self.exact, self.domain.coordinates, jnp.asarray(points))

    def exact_solution(self) -> Solution:
        """The exact solution as a candidate, unknowns included."""
        columns = np.isin(np.arange(len(self.fields)), self.names.positive_columns)

        def raw(x: Float[Array, " d"]) -> Float[Array, " fields"]:
            exact = self.exact_at(x[None])[0]
            return jnp.where(columns, before_softplus(jnp.where(columns, exact, 1.0)), exact)

        network = Opaque(raw if columns.any() else lambda x: self.exact_at(x[None])[0])
        guesses = {}
        for name, unknown in self.parameters.items():
            if unknown.exact is None:
                raise InputError(f"the exact value of {name} is not known.")
            guesses[name] = dataclasses.replace(unknown, guess=unknown.exact)
        return dataclasses.replace(self, unknowns=guesses).solution(network)

    @property
    def sought(self) -> tuple[str, ...]:
        """What an inverse problem asks for: unknown parameters, and fields that should be constant."""
        return (*self.unknowns, *(c.field for c in self.conditions if isinstance(c, Constant)))

    def summary(self, solution: Solution) -> dict[str, Float[Array, ""]]:
        """The values of what is sought; a field that should be constant counts by its average over the domain."""
        averaged = [name for name in self.sought if name not in self.unknowns]
        if not averaged:
            return solution.unknowns
        dimension = self.domain.dimension
        values = solution(self.domain.grid(SUMMARY_GRID.get(dimension, max(2, int(4096 ** (1 / dimension))))))
        return solution.unknowns | {name: jnp.mean(values[:, self.fields.index(name)]) for name in averaged}

    def sensors(self, field_name: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Points and values of the direct measurements of a field, by default the first one."""
        wanted = field_name or self.fields[0]
        found = [d for d in self.data if isinstance(d, Data) and d.is_direct and self.field_name(d.field) == wanted]
        if not found:
            return np.zeros((0, self.domain.dimension)), np.zeros(0)
        channels = [d.channel(self.context, as_key(0)) for d in found]
        return np.concatenate([c.points for c in channels]), np.concatenate([c.target[:, 0] for c in channels])


def _is_held_out(condition: Condition) -> bool:
    return isinstance(condition, Data) and condition.held_out


def as_key(key: PRNGKeyArray | int | np.integer[Any]) -> PRNGKeyArray:
    """A random key from a seed."""
    if not isinstance(key, int | np.integer):
        if not isinstance(key, jax.Array):
            raise InputError(f"a key is a whole number, or what jax.random.key makes of one, not {shown(key)}.")
        return key
    if not -LARGEST_SEED <= key <= LARGEST_SEED:
        raise InputError(f"a seed is at most {LARGEST_SEED}, unlike {shown(int(key))}.")
    return jax.random.key(key)


def _starts(unknowns: Mapping[str, Unknown]) -> dict[str, Unknown]:
    """Unknowns without their exact values, which are only used to judge results."""
    return {name: dataclasses.replace(unknown, exact=None) for name, unknown in unknowns.items()}
