"""Steps towards the error of a network, in a space of sums of random units (`sums.py`).

Each is made from where the one before has led, for as long as they bring something; factors of a Jacobian serve for as long as
the equation is as good as linear. Where an equation amplifies errors, a right step may leave more residuals than there were:
the step after it tells, which must be shorter.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from .optimise.factors import Factors
from .sums import Probes, Sums

RIDGES = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5)  # of the size of the Jacobian: nearly parallel units must not
# cancel each other, but what an equation amplifies ten million times must be seen
HELD_BACK = 6  # of them, the largest, are for steps that must leave less than there was
OF_ROUNDINGS, OF_SHARES = 1e-10, 1e-8  # where it is asked how much an equation makes of roundings, and of residuals
STEPS = 24  # with the factors of one Jacobian, at most,
LESS = 0.5  # of the residuals: what leaves more of them was the last step,
LITTLE_LESS = 0.95  # or where a solution is looked for from afar, with
SHORTER = (0.5, 0.25, 0.1, 0.03)  # of the freest move, which may lead too far
CONTRACTS = 0.5  # of a step, if the next one is shorter, it has led towards a solution, whatever it did to the residuals
FURTHER = 1 / (1 - CONTRACTS)  # times the next step is how far all steps to come may go
LINEAR = 0.5  # of the residuals: if a Jacobian is wrong by less, those that are left are not its fault
NOTHING = 1e-7  # of the residuals: no step can leave much less
OUTSIDE = 2.0  # times what a condition still leaves: it is what the units cannot say, and counts for more than what they could
ROUNDED = 1e-7  # of the terms of a condition, in single precision, which its coefficients and given values may have been in
NOISES = 8  # draws of such roundings


class Ended(eqx.Module):
    """Where the steps have led, and what that is worth."""

    coefficients: Float[Array, " p"]
    left: Float[Array, ""]  # of the residuals at points that no step has seen: the share
    size: Float[Array, " fields"]  # of what was added, a root mean square at the probes,
    remains: Float[Array, " fields"]  # what may still be missing,
    extent: Float[Array, " fields"]  # and how large the fields are with it
    carried: Float[Array, "fields fields"]  # how many times as large, in each field, an error of what each field begins with
    # becomes, if it begins with anything


class Steps(eqx.Module):
    """Where the steps have led so far. The first of all moves nothing, it only looks: nothing else is compiled for that."""

    at: Float[Array, " p"]
    rows: Float[Array, " m"]  # the residuals there,
    squares: Float[Array, " channels"]  # and the means of their squares at points that no step has seen,
    unseen: Float[Array, " n"]  # where they are these
    first: Float[Array, " m"]  # both
    begin: Float[Array, " channels"]  # before all steps
    amplified: Float[Array, "channels fields"]  # how large an error these residuals alone make, by condition,
    rounded: Float[Array, " fields"]  # and roundings,
    carried: Float[Array, "fields fields"]  # and how many times as large one in the initial values becomes
    open: Float[Array, " fields"]  # and how far a step would have gone that is not made, though it explains much more
    goes_on: Bool[Array, ""]  # whether steps still bring something
    bent: Bool[Array, ""]  # whether the last one was led astray by its Jacobian,
    leads: Bool[Array, ""]  # and one of them towards a solution all the same
    number: Int[Array, ""]  # of steps with one Jacobian, or of Jacobians


class Search(eqx.Module):
    """What the steps are made with: residuals at points that they see, and at others; how large an error is."""

    seen: Sums
    elsewhere: Sums
    probes: Probes
    from_afar: bool = eqx.field(static=True, default=False)  # whether all of a solution is looked for, not what is wrong in one

    def from_nothing(self, coefficients: int, jacobians: int) -> Ended:
        """All steps, with up to so many Jacobians if more than one of them brings something."""
        goes_on = lambda s: s.goes_on & (s.number < jacobians)  # noqa: E731
        advance = lambda s: self._with_one_jacobian(s)  # noqa: E731, PLW0108  (a bound method would be hashed, with its arrays)
        last = jax.lax.while_loop(goes_on, advance, self._begin(coefficients))
        of_channels = jnp.sqrt(last.squares / jnp.maximum(last.begin, 1e-300))
        before = self._total(last.begin)
        of_all = jnp.sqrt(self._total(last.squares) / jnp.maximum(before, 1e-300))
        missing = jnp.sum((OUTSIDE * of_channels[:, None] * last.amplified) ** 2, axis=0) + (FURTHER * last.open) ** 2
        return Ended(
            last.at,
            left=jnp.where(jnp.isfinite(before), of_all, jnp.inf),
            size=self.probes.size(last.at),
            remains=jnp.sqrt(missing) + last.rounded,
            extent=self.probes.extent(last.at),
            carried=last.carried,
        )

    @property
    def _sizes(self) -> list[int]:
        return [channel.target.size for channel in self.seen.channels]

    def _begin(self, coefficients: int) -> Steps:
        sizes, unseen = self._sizes, sum(channel.target.size for channel in self.elsewhere.channels)
        rows, unknown, true = jnp.zeros(sum(sizes)), jnp.full(len(sizes), jnp.inf), jnp.ones((), bool)
        fields = self.probes.before.shape[-1]
        return Steps(
            at=jnp.zeros(coefficients),
            rows=rows,
            squares=unknown,
            unseen=jnp.zeros(unseen),
            first=rows,
            begin=unknown,
            amplified=jnp.zeros((len(sizes), fields)),
            rounded=jnp.zeros(fields),
            carried=jnp.zeros((fields, fields)),
            open=jnp.zeros(fields),
            goes_on=true,
            bent=true,
            leads=~true,
            number=jnp.zeros((), int),
        )

    def _with_one_jacobian(self, now: Steps) -> Steps:
        """As many steps as its factors are good for, and what they say of an error that is left."""
        factors, there = Factors.of(self.seen.jacobian(now.at)), jax.linearize(self.elsewhere.rows, now.at)[1]
        begin = dataclasses.replace(now, number=jnp.zeros((), int), leads=jnp.zeros((), bool))

        def step(now: Steps) -> Steps:
            moves = factors.solve(-now.rows, jnp.asarray(RIDGES))
            meant = self._total(jax.vmap(lambda move: self._squares(now.unseen + there(move)))(moves))
            return self._step(now, factors, moves, meant)

        last = jax.lax.while_loop(lambda s: s.goes_on & (s.number < STEPS), step, begin)
        sizes = self._sizes
        parts = last.first * (np.repeat(np.eye(len(sizes)), sizes, axis=1))
        noise = ROUNDED * np.random.default_rng(0).choice([-1.0, 1.0], (NOISES, sum(sizes)))
        whitening = jnp.concatenate([jnp.repeat(c.whitening, c.target.shape[-1]) for c in self.seen.channels])

        def made_of(rows: Float[Array, " m"], ridge: float) -> Float[Array, " fields"]:
            return self.probes.size(factors.solve(rows, jnp.asarray([ridge]))[0])

        roundings = jax.vmap(lambda rows: made_of(rows, OF_ROUNDINGS))(noise * whitening)
        return dataclasses.replace(
            last,
            amplified=jax.vmap(lambda rows: made_of(rows, OF_SHARES))(parts),
            rounded=jnp.sqrt(jnp.mean(roundings**2, axis=0)),
            carried=self._carried(factors),
            goes_on=last.leads | last.bent & self._is_less(last.squares, now.squares, last.begin),
            number=now.number + 1,
        )

    def _carried(self, factors: Factors) -> Float[Array, "fields fields"]:
        """What the equation makes, in each field, of an error in the initial values of each field, which is like what the units
        say at random. Fields are told apart: one may be a small number that another one, a large number, hardly notices."""
        initial = np.repeat([float(channel.kind == "initial") for channel in self.seen.channels], self._sizes)
        unknowns, fields = factors.right.shape[1], self.probes.before.shape[-1]
        drawn = jnp.asarray(np.random.default_rng(1).normal(size=(NOISES, unknowns)))
        ridge = jnp.asarray([OF_SHARES])

        def size(some: Float[Array, "draws p"]) -> Float[Array, " fields"]:
            return jnp.sqrt(jnp.mean(jax.vmap(self.probes.size)(some) ** 2, axis=0))

        def of_one(field: Array) -> Float[Array, " fields"]:
            alone = drawn * (jnp.arange(unknowns) // (unknowns // fields) == field)
            rows = jnp.asarray(initial) * jax.vmap(factors.times)(alone)
            return size(jax.vmap(lambda row: factors.solve(row, ridge)[0])(rows)) / size(alone)[field]

        columns: Float[Array, "fields fields"] = jax.lax.map(of_one, jnp.arange(fields))
        return columns.T

    def _step(self, now: Steps, factors: Factors, moves: Float[Array, "ridges p"], meant: Float[Array, " ridges"]) -> Steps:
        """The freest move if the one after it would be shorter, else whichever of those held back leaves least."""
        freer = jnp.argmin(meant)
        shorter = [part * moves[freer][None] for part in SHORTER] if self.from_afar else []
        tried = now.at + jnp.concatenate([moves[freer][None], moves[-HELD_BACK:], *shorter])
        seen_there = jax.vmap(self.elsewhere.rows)(tried)
        every = jax.vmap(self._squares)(seen_there)
        after = factors.solve(-self.seen.rows(tried[0]), jnp.asarray(RIDGES)[freer][None])[0]
        size = self.probes.size
        contracts = jnp.linalg.norm(size(after)) < CONTRACTS * jnp.linalg.norm(size(moves[freer]))
        least = jnp.argmin(self._total(every[1:]))
        best = jnp.where(contracts, 0, 1 + least)
        more = (least < HELD_BACK) & (meant[freer] < LESS**2 * meant[-HELD_BACK:][jnp.minimum(least, HELD_BACK - 1)])
        then, squares, rows = tried[best], every[best], self.seen.rows(tried[best])
        total = self._total
        better, looks = contracts | (total(squares) < total(now.squares)), ~jnp.isfinite(total(now.begin))
        begin = jnp.where(looks, squares, now.begin)
        missed = jnp.linalg.norm(rows - now.rows - factors.times(then - now.at))
        bent = missed > LINEAR * jnp.linalg.norm(rows)
        unmade = jnp.where(more, size(moves[freer] - (then - now.at)), 0.0)
        return Steps(
            at=jnp.where(better, then, now.at),
            rows=jnp.where(better, rows, now.rows),
            squares=jnp.where(better, squares, now.squares),
            unseen=jnp.where(better, seen_there[best], now.unseen),
            first=jnp.where(looks, rows, now.first),
            begin=begin,
            amplified=now.amplified,
            rounded=now.rounded,
            carried=now.carried,
            goes_on=(contracts & bent) | self._is_less(squares, now.squares, begin),
            open=jnp.where(contracts, size(after), unmade),
            bent=bent,
            leads=now.leads | (contracts & bent),
            number=now.number + 1,
        )

    def _squares(self, rows: Float[Array, " n"]) -> Float[Array, " channels"]:
        """The mean squares of residuals elsewhere, by condition."""
        ends = np.cumsum([channel.target.size for channel in self.elsewhere.channels])
        squares = jnp.stack([jnp.mean(part**2) for part in jnp.split(rows, ends[:-1])])
        return jnp.where(jnp.isfinite(squares), squares, jnp.inf)

    def _total(self, squares: Float[Array, "*any channels"]) -> Float[Array, "*any"]:
        """Over all conditions, each with the weight of the points that are seen of it."""
        sizes = jnp.asarray(self._sizes)
        return squares @ (sizes / jnp.sum(sizes))

    def _is_less(
        self, now: Float[Array, " channels"], before: Float[Array, " channels"], begin: Float[Array, " channels"]
    ) -> Bool[Array, ""]:
        """Whether mean squares have become so much less that it is worth while to go on."""
        now, before, begin = self._total(now), self._total(before), self._total(begin)
        less = LITTLE_LESS if self.from_afar else LESS
        return (now < less**2 * before) & (now > NOTHING**2 * begin)
