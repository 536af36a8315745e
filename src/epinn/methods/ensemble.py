"""Deep ensemble: the network trained again and again, from other weights each time.

With `perturb`, every member is fitted to what a repetition of the experiment might have shown (noise of its own size on every
target), and pulled towards its own draw of the prior on the weights (its anchor), from which it also starts. For linear
problems the members are then exact draws of the posterior (randomise, then optimise). Without, they differ in where they
started, and the band is what training leaves open. A band of few members is widened by what so few cannot tell.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Key, PRNGKeyArray

from ..derivatives.compiled import runs_once
from ..derivatives.network import Solution, trainable
from ..errors import InputError, unknown_name
from ..posterior.posterior import Posterior
from ..posterior.sampler import FewMembers, Members, Sampler
from ..problem.channel import Channel
from ..problem.precision import Exact
from ..progress import Progress
from ..solve.config import Base, fold_in, purposes
from ..solve.optimise.whitened import Prior
from ..solve.pinn import Pinn, prior_of
from ..solve.seeds import Keys, chosen, over_seeds, stack
from ..solve.stages import fit_with_restarts
from ..solve.task import Account, Fit, Task
from .method import Memory, Method, Traits, check_positive, prior_width

STARTS = ("anchor", "trained")
MANY = 100  # members from which on their own mean and spread are known well enough
LENIENCE = 3.0  # a member is lost if it is this much worse than a fit may be; less would leave out honest draws


@final
@dataclass(frozen=True)
class EnsembleMethod(Method):
    """Settings: how many members, whether they are perturbed, and the width of the prior on the weights.

    Members are trained like the base. Perturbed ones need Gauss-Newton, and take epinn's number of steps if the base has none.
    They start at their `anchor`, or at the `trained` network: with Gauss-Newton alone, which is much cheaper, but never finds
    another solution than the network's own.
    """

    name: ClassVar[str] = "ensemble"
    summary: ClassVar[str] = "ensemble: networks trained on perturbed targets from draws of the prior, or plain (perturb=false)"

    prior_sd: float | None = None
    members: int = 16
    perturb: bool = True
    start: str = "anchor"

    def __post_init__(self) -> None:
        check_positive("ensemble.prior_sd", self.prior_sd)
        if self.members < 2:
            raise InputError("ensemble.members must be at least 2.")
        if self.start not in STARTS:
            raise unknown_name("start", self.start, STARTS)
        if self.start == "trained" and not self.perturb:
            raise InputError("ensemble members that all start at the trained network must be perturbed to differ from it.")

    @property
    def traits(self) -> Traits:
        memory = Memory(kept_rows=8 * self.members, kept_parameters=8 * self.members, settings="ensemble.members")
        return Traits(retrains=True, uses_sigma=True, prior_sd=self.prior_sd, memory=memory)

    def attach(self, pinns: Sequence[Pinn], keys: Keys, progress: Progress) -> list[Posterior]:
        everyone = [pinn for pinn in pinns for _ in range(self.members)]
        problems = [pinn.problem.with_points(resample=0) for pinn in everyone]
        member_keys = _repeated(keys, self.members)
        anchor_keys, noise_keys, train_keys = purposes(member_keys, 3)
        given = tuple(c.settled() for c in stack([pinn.channels for pinn in everyone]))
        channels = _perturbed(given, noise_keys) if self.perturb else given
        judges = tuple(c.with_sigma(self._lenience(c) * c.sigma) for c in given)
        trained = stack([pinn.solution for pinn in everyone])
        around = prior_of(everyone, trained, prior_width(self.prior_sd, pinns[0]))

        def start(seeds: Sequence[int], attempt: int) -> Solution:
            if self.start == "trained":
                begin: Solution = chosen(trained, seeds)
            else:
                drawn = _drawn(chosen(around, seeds), fold_in(anchor_keys[np.asarray(seeds)], attempt))
                begin = eqx.combine(drawn, trainable(chosen(trained, seeds))[1])
                begin = dataclasses.replace(begin, raw=chosen(trained, seeds).raw)  # their priors are as wide as nothing is
            return begin

        prior = Prior(_drawn(around, fold_in(anchor_keys, 0)), around.spread) if self.perturb else around
        base, weights = self._base(pinns[0]), pinns[0].weights
        task = Task(base, problems, channels, judges, prior, train_keys, weights, Renamed(progress), account=Account.of(base))
        fits = fit_with_restarts(task, start)
        return [
            _posterior(self, pinn, fits[i * self.members : (i + 1) * self.members], len(pinns)) for i, pinn in enumerate(pinns)
        ]

    def _lenience(self, channel: Channel) -> float:
        """How much worse than a fit a member may be: it misses measurements by their noise, and by that of its repetition."""
        if isinstance(channel.precision, Exact):
            return LENIENCE
        return 2**0.5 if self.perturb else 1.0

    def _base(self, pinn: Pinn) -> Base:
        if not self.perturb:
            return pinn.base
        base = dataclasses.replace(pinn.base, newton=pinn.base.newton or Base.newton)
        return dataclasses.replace(base, epochs=0, polish=0, restarts=0) if self.start == "trained" else base


class Renamed(Progress):
    """The stages of training under names of their own, so that they are not taken for those of the base."""

    def __init__(self, listener: Progress):
        self._listener = listener

    def __call__(self, stage: str, step: int, total: int, values: Mapping[str, float]) -> None:
        self._listener(f"ensemble {stage}", step, total, values)

    def note(self, text: str) -> None:
        self._listener.note(text)

    def keep(self, stage: str, state: Callable[[], Any]) -> None:
        self._listener.keep(f"ensemble {stage}", state)

    def recall(self, stage: str, like: Any) -> Any | None:
        return self._listener.recall(f"ensemble {stage}", like)


def _posterior(method: EnsembleMethod, pinn: Pinn, fits: Sequence[Fit], size: int) -> Posterior:
    """The members that found the solution; all of them if fewer than half did."""
    sound = [found for found in fits if not found.complaints and not found.failure]
    lost = len(fits) - len(sound)
    kept = sound if len(sound) >= max(2, len(fits) / 2) else list(fits)
    warnings, doubt = [], {}
    if lost:
        left_out = "left out" if kept is sound else "kept, since most have not"
        count = f"{lost} of {len(fits)} members have not found the solution and were {left_out}"
        warnings = [f"{count}; try more Base(restarts=...)."]
        doubt = {} if kept is sound else {"doubt": warnings[0]}
    return Posterior(
        sampler=_sampler(stack([found.solution for found in kept]), len(kept)),
        problem=pinn.problem,
        method=method.name,
        diagnostics={"members": len(kept), "left_out": lost if kept is sound else 0} | doubt,
        warnings=tuple(warnings),
        seconds=sum(found.seconds for found in fits),
    )


def _sampler(solutions: Solution, number: int) -> Sampler:
    plain = Members(solutions)
    return FewMembers.of(plain, number) if number < MANY else plain


@runs_once
def _repeated(keys: Keys, number: int) -> Key[Array, " members"]:
    """So many keys from each."""
    return jax.vmap(lambda key: jax.random.split(key, number))(keys).reshape(-1)


@runs_once
def _perturbed(channels: tuple[Channel, ...], keys: Keys) -> tuple[Channel, ...]:
    def one(channels: tuple[Channel, ...], key: PRNGKeyArray) -> tuple[Channel, ...]:
        return tuple(c.perturbed(k) for c, k in zip(channels, jax.random.split(key, len(channels)), strict=True))

    return over_seeds(one, channels, keys)


@runs_once
def _drawn(prior: Prior, keys: Keys) -> Solution:
    """One draw of the prior per seed."""

    def one(prior: Prior, key: PRNGKeyArray) -> Solution:
        leaves, structure = jax.tree.flatten(prior.center)
        spreads, keys = jax.tree.leaves(prior.spread), jax.random.split(key, len(leaves))
        drawn = [c + s * jax.random.normal(k, c.shape, c.dtype) for c, s, k in zip(leaves, spreads, keys, strict=True)]
        one_draw: Solution = jax.tree.unflatten(structure, drawn)
        return one_draw

    return over_seeds(one, prior, keys)
