"""Statistics of a functional over many draws, chunk by chunk: memory does not grow with the number of draws. Those of Gaussian
fields need no draws."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray, Shaped

from ..derivatives.network import Solution, double, needs_double
from ..errors import InputError
from ..solve.double import precision_of
from .gaussian import quantile_at
from .sampler import FiniteSampler, GaussianSampler, Sampler

VALUES_AT_ONCE = 2**17  # values in one chunk of draws
BINS = 2048  # of the histogram behind quantiles: their error is at most the range of the draws over this

Functional = Callable[[Solution], Array]


class FieldValues(eqx.Module):
    """A functional that is linear in what the network of a solution gives, but for fields that the solution makes positive."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values it has."""

    @abstractmethod
    def __call__(self, solution: Solution) -> Float[Array, "n ..."]: ...


@dataclass(frozen=True)
class Prediction:
    """Mean and standard deviation over the draws, or in closed form if there are none; unpacks as `mean, std`. Quantiles and
    samples if they were asked for."""

    mean: np.ndarray
    std: np.ndarray
    quantiles: dict[float, np.ndarray] = field(default_factory=dict)
    samples: np.ndarray | None = None
    draws: int = 0

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.mean, self.std))

    def __repr__(self) -> str:
        """One line: a single number with its standard deviation, or the shape and range of many."""
        how = f"{self.draws} draws" if self.draws else "in closed form"
        if np.size(self.mean) == 1:
            return f"<Prediction: {np.ravel(self.mean)[0]:.4g} ± {np.ravel(self.std)[0]:.2g}, {how}>"
        ranges = [
            f"{name} {values.min():.3g} to {values.max():.3g}" for name, values in zip(("mean", "std"), self, strict=True)
        ]
        more = [f"quantiles {', '.join(f'{level:g}' for level in self.quantiles)}"] if self.quantiles else []
        more += [] if self.samples is None else [f"{len(self.samples)} samples"]
        return f"<Prediction of shape {np.shape(self.mean)}: {', '.join([*ranges, *more])}, {how}>"

    def shifted(self, by: np.ndarray | float) -> "Prediction":
        """The same for a quantity that is larger by so much; in double precision, since that may be very much."""
        samples = None if self.samples is None else self.samples + by
        return replace(
            self, mean=self.mean + by, quantiles={q: value + by for q, value in self.quantiles.items()}, samples=samples
        )

    def column(self, i: int) -> "Prediction":
        """Component `i` of the last axis."""
        samples = None if self.samples is None else self.samples[..., i]
        quantiles = {level: value[..., i] for level, value in self.quantiles.items()}
        return replace(self, mean=self.mean[..., i], std=self.std[..., i], quantiles=quantiles, samples=samples)


class Moments(eqx.Module):
    """Running statistics: `square` is the summed squared distance to the mean."""

    count: Float[Array, ""]
    mean: Float[Array, "..."]
    square: Float[Array, "..."]
    low: Float[Array, "..."]
    high: Float[Array, "..."]


def predict(
    sampler: Sampler,
    functional: Functional,
    *,
    draws: int,
    key: PRNGKeyArray,
    quantiles: Sequence[float] = (),
    samples: int = 0,
) -> Prediction:
    """Mean, standard deviation and more of `functional`, which maps a solution to an array.

    A finite sampler with at most `draws` members is swept once, member by member, instead of drawn from. The values of Gaussian
    fields follow from as many evaluations as there are random numbers in them, and are drawn for `samples` only.
    """
    if draws < 2:
        raise InputError(f"a band needs at least 2 draws, not {draws}.")
    if any(not 0 <= level <= 1 for level in quantiles):
        raise InputError(f"quantile levels lie between 0 and 1, unlike {tuple(quantiles)}.")
    with precision_of(sampler):
        sampler, functional = double((sampler, functional)) if needs_double(sampler) else (sampler, functional)
        return _predict(sampler, functional, _seeds(sampler, draws, key), quantiles, samples)


def _predict(
    sampler: Sampler, functional: Functional, seeds: Shaped[Array, " draws"], quantiles: Sequence[float], samples: int
) -> Prediction:
    kept = None
    if samples:
        picked = np.linspace(0, len(seeds) - 1, min(samples, len(seeds))).astype(int)
        kept = np.asarray(_values(sampler, functional, seeds[picked]))
    if isinstance(sampler, GaussianSampler) and isinstance(functional, FieldValues) and not sampler.center.positive_fields:
        mean, std = map(np.asarray, _gaussian(sampler, functional, *_in_chunks(jnp.arange(sampler.number), functional.size)))
        return Prediction(mean, std, {level: mean + quantile_at(level) * std for level in quantiles}, kept)
    chunks, real = _in_chunks(seeds, eqx.filter_eval_shape(_values, sampler, functional, seeds[:1]).size)
    moments = _moments(sampler, functional, chunks, real)
    levels: dict[float, np.ndarray] = {}
    if quantiles:
        found = _quantiles(sampler, functional, chunks, real, moments, jnp.asarray(quantiles))
        levels = dict(zip(quantiles, map(np.asarray, found), strict=True))
    std = np.asarray(np.sqrt(np.asarray(moments.square / moments.count)))
    return Prediction(np.asarray(moments.mean), std, levels, kept, len(seeds))


@eqx.filter_jit
def _gaussian(
    sampler: GaussianSampler, values: FieldValues, chunks: Shaped[Array, "chunks chunk"], real: Bool[Array, "chunks chunk"]
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """Mean and standard deviation: the squares of what each random number adds are added up."""
    mean = values(sampler.center)

    def add(total: Array, part: tuple[Array, Array]) -> tuple[Array, None]:
        deviations = jax.vmap(lambda index: values(sampler.deviation(index)))(part[0])
        return total + jnp.sum(jnp.where(part[1].reshape(-1, *[1] * mean.ndim), deviations, 0.0) ** 2, axis=0), None

    squares, _ = jax.lax.scan(add, jnp.zeros_like(mean), (chunks, real))
    return mean, jnp.sqrt(squares)


def _seeds(sampler: Sampler, draws: int, key: PRNGKeyArray) -> Shaped[Array, " draws"]:
    """What every draw is made from: the number of a member where all of them can be had, else a key."""
    if isinstance(sampler, FiniteSampler) and sampler.members <= draws:
        return jnp.arange(sampler.members)
    return jax.random.split(key, draws)


def _in_chunks(
    seeds: Shaped[Array, " draws"], values_each: int
) -> tuple[Shaped[Array, "chunks chunk"], Bool[Array, "chunks chunk"]]:
    """The seeds in chunks of equal size, and which of them are no padding."""
    chunk = int(np.clip(VALUES_AT_ONCE // max(values_each, 1), 1, 256))
    padding = -len(seeds) % chunk
    chunks = jnp.concatenate([seeds, seeds[jnp.zeros(padding, int)]]).reshape(-1, chunk)
    return chunks, (jnp.arange(chunks.size) < len(seeds)).reshape(-1, chunk)


@eqx.filter_jit
def _values(sampler: Sampler, functional: Functional, seeds: Shaped[Array, " draws"]) -> Float[Array, "draws ..."]:
    """The functional of one solution per seed: a key to draw with, or the number of a member."""
    is_key = jnp.issubdtype(seeds.dtype, jax.dtypes.prng_key)
    return jax.vmap(lambda seed: functional(sampler.solution(sampler.index(seed) if is_key else seed)))(seeds)


@eqx.filter_jit
def _moments(
    sampler: Sampler, functional: Functional, chunks: Shaped[Array, "chunks chunk"], real: Bool[Array, "chunks chunk"]
) -> Moments:
    def add(total: Moments, part: tuple[Array, Array]) -> tuple[Moments, None]:
        values = _values(sampler, functional, part[0])
        here = part[1].reshape(-1, *[1] * (values.ndim - 1))
        count = jnp.sum(part[1]).astype(values.dtype)
        mean = jnp.sum(values * here, axis=0) / count
        square = jnp.sum((values - mean) ** 2 * here, axis=0)
        both, shift = total.count + count, mean - total.mean  # Chan, Golub and LeVeque's update, stable in float32
        return Moments(
            both,
            total.mean + shift * (count / both),
            total.square + square + shift**2 * (total.count * count / both),
            jnp.minimum(total.low, jnp.min(values, axis=0, where=here, initial=jnp.inf)),
            jnp.maximum(total.high, jnp.max(values, axis=0, where=here, initial=-jnp.inf)),
        ), None

    shape = jax.eval_shape(lambda s: _values(sampler, functional, s), chunks[0])
    zero = jnp.zeros(shape.shape[1:], shape.dtype)
    start = Moments(jnp.zeros((), shape.dtype), zero, zero, zero + jnp.inf, zero - jnp.inf)
    return jax.lax.scan(add, start, (chunks, real))[0]


@eqx.filter_jit
def _quantiles(
    sampler: Sampler,
    functional: Functional,
    chunks: Shaped[Array, "chunks chunk"],
    real: Bool[Array, "chunks chunk"],
    moments: Moments,
    levels: Float[Array, " levels"],
) -> Float[Array, "levels ..."]:
    """Quantiles from a histogram of each component between its extremes, linear within a bin."""
    low, width = moments.low.ravel(), (moments.high - moments.low).ravel() / BINS
    rows = jnp.arange(low.size)

    def add(counts: Array, part: tuple[Array, Array]) -> tuple[Array, None]:
        values = _values(sampler, functional, part[0]).reshape(len(part[0]), -1)
        bins = jnp.clip((values - low) / jnp.where(width > 0, width, 1), 0, BINS - 1).astype(int)
        return counts.at[rows, bins].add(part[1][:, None].astype(counts.dtype)), None

    counts, _ = jax.lax.scan(add, jnp.zeros((low.size, BINS)), (chunks, real))
    below = jnp.concatenate([jnp.zeros((low.size, 1)), jnp.cumsum(counts, axis=1)], axis=1)
    edges = jnp.arange(BINS + 1.0)
    positions = jax.vmap(lambda b: jnp.interp(levels * b[-1], b, edges))(below)
    return (low[:, None] + positions * width[:, None]).T.reshape(len(levels), *moments.low.shape)
