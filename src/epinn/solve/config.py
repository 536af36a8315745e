"""Settings of the base PINN, and what they make: networks, untrained solutions, channels."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key, PRNGKeyArray

from ..arguments import is_whole, number
from ..derivatives.compiled import runs_once
from ..derivatives.composed import Parts, Pieces
from ..derivatives.directions import Directions
from ..derivatives.network import MLP, AbstractNetwork, Encoding, Frozen, Solution, check_architecture
from ..errors import InputError, shown
from ..problem.channel import Channel
from ..problem.field import Field
from ..problem.precision import Exact
from ..problem.problem import Problem
from ..problem.region import TIME, Domain
from ..problem.scales import Scales
from .optimise.adam import Descent
from .seeds import Keys, over_seeds, stack, unstack

DEPTH, WIDTH, NARROWEST = 3, 32, 12  # of networks that the user leaves to us
MOST_STAGES = 5  # of a fit: the second one reaches what can be reached, the third seldom adds to it
ALWAYS = ("fourier", "fourier_scale", "output_scale", "epochs", "learning_rate", "polish", "newton", "restarts", "prior")
NUMBERS = (*ALWAYS, "newton_work", "tolerance", "starts")  # which may be left to us
WORK = {"cpu": 1e12}  # operations of Gauss-Newton; a hundred times as many elsewhere


@dataclass(frozen=True)
class Layout:
    """What a network needs to know of a problem. It is equal for problems that differ in other things, so that it is compiled
    once for all of them."""

    domain: Domain
    fields: tuple[str, ...]
    periodic: tuple[str, ...]
    own: tuple[tuple[Any, ...], ...]  # what is said of fields with a network of their own, which are equal if their names are

    @classmethod
    def of(cls, problem: Problem) -> "Layout":
        own = tuple((str(field), field.of, field.hidden, field.activation) for field in problem.networks)
        return cls(problem.domain, tuple(problem.fields), problem.periodic, own)

    @property
    def networks(self) -> tuple[Field, ...]:
        return tuple(name for name in self.fields if isinstance(name, Field))


@dataclass(frozen=True)
class Base:
    """The base network and its training.

    Without `hidden`, the widths of its layers, it has three of 32; in a domain of several zones, as many parameters in all of
    them together as far as that goes. `fourier` random frequencies of the given scale replace the coordinates; `scale_inputs`
    maps the box to [-1, 1]; `output_scale` multiplies the output. `polish` L-BFGS steps follow the epochs, then at most
    `newton` Gauss-Newton steps on the residuals in units of their noise, in double precision, as many as `newton_work`
    floating-point operations allow (by default 1e12 on a CPU, about a minute, and 1e14 elsewhere).
    Where there is noise, a Gaussian `prior` of that width on all weights joins them, as in a Bayesian PINN; it is also that of
    the methods that have none of their own.
    A seed that has not found the solution is trained anew from other weights, up to `restarts` times.
    Where unknowns are found from measurements, so many further `starts` from other guesses tell whether something else explains
    these as well; by default up to four, as many as take half the work of the fit, and 0 for none.
    Where all conditions are exact and nothing is unknown, what a fit is still wrong by is found and added to it in further
    `stages` (see `second_stage`): nearly as exact as double precision allows, where the solution is smooth. By default there is
    a second one, after the first 30 steps of Gauss-Newton if these are enough; what was trained elsewhere stays as it is.
    `tolerance` is the sigma of all exact conditions without one of their own, in parts of the size of their terms; by default,
    what the network reaches. All of this is `dimensionless`: the network sees coordinates from -1 to 1 and gives fields of
    order one, whatever the units of the problem are. Switched off, it works in the units of the problem.
    With `hard`, exact boundary and initial values hold by construction wherever that can be (and only then: `dimensionless`).
    """

    hidden: tuple[int, ...] | None = None
    activation: str = "tanh"
    initialisation: str = "xavier"
    fourier: int = 0
    fourier_scale: float = 1.0
    scale_inputs: bool = False
    output_scale: float = 1.0
    epochs: int = 1_000
    learning_rate: float = 3e-3
    schedule: str = "cosine"
    optimizer: str = "adam"
    polish: int = 0
    newton: int = 300
    newton_work: float | None = None
    restarts: int = 2
    starts: int | None = None
    stages: int | None = None
    prior: float = 1.0
    tolerance: float | None = None
    dimensionless: bool = True
    hard: bool = True

    def __post_init__(self) -> None:
        check_architecture(() if self.hidden is None else self.hidden, self.activation, self.initialisation)
        for name in NUMBERS:
            if getattr(self, name) is not None or name in ALWAYS:
                number(getattr(self, name), f"base.{name}")
        for name in ("fourier", "polish", "newton", "newton_work", "restarts"):
            if not 0 <= (getattr(self, name) or 0) < math.inf:
                raise InputError(f"base.{name} must be a finite number, and not negative.")
        if self.starts is not None and not is_whole(self.starts, 0):
            raise InputError(f"base.starts must be a whole number, and not negative, not {shown(self.starts)}.")
        if self.stages is not None and (not is_whole(self.stages, 1) or self.stages > MOST_STAGES):
            raise InputError(f"base.stages must be a whole number between 1 and {MOST_STAGES}, not {shown(self.stages)}.")
        if not 0 < self.fourier_scale < math.inf or not 0 < self.prior < math.inf:
            raise InputError("base.fourier_scale and base.prior must be positive.")
        if self.tolerance is not None and not 0 < self.tolerance < math.inf:
            raise InputError("base.tolerance must be positive.")
        _ = self.descent  # checks its part of the settings

    @property
    def descent(self) -> Descent:
        return Descent(self.epochs, self.learning_rate, self.schedule, self.optimizer)

    @property
    def work(self) -> float:
        """Floating-point operations that Gauss-Newton may use."""
        return WORK.get(jax.default_backend(), 1e14) if self.newton_work is None else self.newton_work

    @property
    def further_stages(self) -> int:
        """How many may follow the first: one where nothing is said, if Gauss-Newton is wanted at all."""
        return min(self.newton, 1) if self.stages is None else self.stages - 1

    @property
    def trains(self) -> bool:
        return bool(self.epochs or self.polish or self.newton)

    def scales(self, problem: Problem) -> Scales | None:
        """What makes a problem dimensionless, unless its own units are to be kept."""
        return Scales.of(problem, hard=self.hard) if self.dimensionless else None

    def channels(
        self, problem: Problem, key: PRNGKeyArray | int, scales: Scales | None = None, elsewhere: bool = False
    ) -> tuple[Channel, ...]:
        """Those of a problem, at its points or at others, made dimensionless, with the tolerance of these settings."""
        if scales is not None:
            made = scales.channels(problem, key, elsewhere)
        else:
            made = problem.elsewhere(key) if elsewhere else problem.channels(key)
        if self.tolerance is None:
            return made
        return tuple(
            c.with_sigma(self.tolerance).settled() if isinstance(c.precision, Exact) and not c.precision.given else c
            for c in made
        )

    def size(self, problem: Problem) -> tuple[int, int]:
        """Rows of all channels and parameters of a PINN with these settings, known before it is trained."""
        network = jax.eval_shape(lambda key: self.network(problem, key), jax.random.key(0))
        parameters = sum(leaf.size for leaf in jax.tree.leaves(network)) + len(problem.parameters)
        return sum(channel.target.size for channel in self.channels(problem, 0)), parameters

    def network(
        self,
        problem: Problem | Layout,
        key: PRNGKeyArray,
        stretch: tuple[float, ...] = (),
        windows: tuple[float, ...] = (),
        directions: Directions | None = None,
    ) -> AbstractNetwork:
        """One with fresh weights for all fields of a problem; where its domain is broken, one for each piece."""
        pieces = problem.domain.pieces
        if len(pieces) == 1:
            return self._network(problem, key, stretch, directions)
        each = dataclasses.replace(self, hidden=hidden_layers(len(pieces)) if self.hidden is None else self.hidden)
        networks = [each._network(problem, own, stretch) for own in jax.random.split(key, len(pieces))]
        return Pieces.of(networks, *_boxes(problem.domain, self.dimensionless), windows)

    def _network(
        self, problem: Problem | Layout, key: PRNGKeyArray, stretch: tuple[float, ...], directions: Directions | None = None
    ) -> AbstractNetwork:
        """One network for all fields, but for those that have one of their own."""
        every = tuple(range(problem.domain.dimension))
        shared = tuple(i for i, name in enumerate(problem.fields) if not isinstance(name, Field))
        if len(shared) == len(problem.fields):
            return self._dense(problem, key, stretch, every, len(shared), directions)
        parts = [(every, shared, self)] if shared else []
        for own in problem.networks:
            hidden = self.hidden if own.hidden is None else own.hidden
            base = dataclasses.replace(self, hidden=hidden, activation=own.activation or self.activation)
            parts.append((own.axes(problem.domain.coordinates), (problem.fields.index(own),), base))
        networks = [
            base._dense(problem, one, stretch, axes, len(columns))
            for one, (axes, columns, base) in zip(jax.random.split(key, len(parts)), parts, strict=True)
        ]
        return Parts(tuple(networks), tuple(axes for axes, _, _ in parts), tuple(columns for _, columns, _ in parts))

    def _dense(
        self,
        problem: Problem | Layout,
        key: PRNGKeyArray,
        stretch: tuple[float, ...],
        axes: tuple[int, ...],
        fields: int,
        directions: Directions | None = None,
    ) -> MLP:
        """A network for so many fields of the coordinates in `axes`."""
        domain, frequencies = problem.domain, None
        frequency_key, network_key = jax.random.split(key)
        around = [domain.axis(name) for name in problem.periodic] if self.dimensionless else []
        periodic = tuple(place for place, axis in enumerate(axes) if axis in around)
        stretch = tuple(stretch[axis] for axis in axes) if stretch else ()
        if self.fourier:
            normal = jax.random.normal(frequency_key, (self.fourier, len(axes) + len(periodic)))
            frequencies, stretch = Frozen(2 * np.pi * self.fourier_scale * normal), ()
        bounds = tuple(tuple(end[axis] for axis in axes) for end in (domain.lower, domain.upper))
        return MLP.create(
            len(axes),
            hidden_layers() if self.hidden is None else self.hidden,
            fields,
            key=network_key,
            activation=self.activation,
            initialisation=self.initialisation,
            encoding=Encoding(
                (bounds[0], bounds[1]) if self.scale_inputs else None,
                frequencies,
                periodic,
                _of_inputs(stretch, periodic, 0 if directions is None else directions.size),
                directions,
            ),
            output_scale=self.output_scale,
        )


def hidden_layers(pieces: int = 1) -> tuple[int, ...]:
    """The widths of a network for each of so many pieces of a domain."""
    return (max(NARROWEST, round(WIDTH / pieces**0.5)),) * DEPTH


def _of_inputs(stretch: tuple[float, ...], periodic: tuple[int, ...], directions: int) -> Frozen | None:
    """The stretch of what the first layer sees: sine and cosine of periodic coordinates follow the others, and last come so
    many directions from corners."""
    if not stretch:
        return None
    others = [value for axis, value in enumerate(stretch) if axis not in periodic]
    around = [stretch[axis] for axis in periodic]
    return Frozen(jnp.asarray([*others, *around, *around, *[1.0] * directions]))


def _boxes(domain: Domain, dimensionless: bool) -> tuple[np.ndarray, np.ndarray]:
    """The middle of every piece of a domain, and half its sides, in the coordinates that a network sees."""
    lower, upper = (np.asarray([getattr(piece, end) for piece in domain.pieces]) for end in ("lower", "upper"))
    if dimensionless:
        middle, half = np.add(domain.lower, domain.upper) / 2, np.subtract(domain.upper, domain.lower) / 2
        lower, upper = (lower - middle) / half, (upper - middle) / half
    return (lower + upper) / 2, (upper - lower) / 2


def create_solutions(
    base: Base, problems: Sequence[Problem], keys: Keys, scales: Sequence[Scales | None] | None = None
) -> Solution:
    """Untrained solutions, one per seed, stacked, each in its units."""
    scales = [None] * len(problems) if scales is None else scales
    problem, first = problems[0], scales[0]
    if first is None:
        networks = _networks(base, Layout.of(problem), keys, (), (), None)
    else:
        layout, windows = Layout.of(problem.broken(first.breaks)), first.breaks.get(TIME, ())
        networks = _networks(base, layout, keys, first.stretch, windows, first.directions)
    alone = unstack(networks, len(problems))
    units = [None if one is None else one.units for one in scales]
    lifted = [network if one is None else one.around(network) for network, one in zip(alone, scales, strict=True)]
    parts = zip(problems, lifted, units, strict=True)
    solutions: Solution = stack([problem.solution(network, own) for problem, network, own in parts])
    return solutions


@runs_once
def _networks(
    base: Base,
    layout: Layout,
    keys: Keys,
    stretch: tuple[float, ...],
    windows: tuple[float, ...],
    directions: Directions | None,
) -> AbstractNetwork:
    return over_seeds(lambda key: base.network(layout, key, stretch, windows, directions), keys)


@runs_once
def purposes(keys: Keys, number: int) -> Key[Array, "number seeds"]:
    """Independent keys for several purposes from one key per seed; axes purposes, seeds."""
    return jax.vmap(lambda key: jax.random.split(key, number), out_axes=1)(keys)


@runs_once
def fold_in(keys: Keys, number: int) -> Keys:
    """Other keys, one for each."""
    return jax.vmap(lambda key: jax.random.fold_in(key, number))(keys)
