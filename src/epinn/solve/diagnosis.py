"""What the residuals of measurements say against what was assumed of them: outliers, a pattern along a coordinate, and a
scatter that is not that of sigma.

Each check has a probability under noise as it was said to be. A fit makes residuals smaller and rougher, so that alarms become
rarer. Only the first cause is named: outliers pull at a fit, which gives a pattern to the others, and a pattern is scatter. All
of it is the same in any units.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int
from scipy import special

from ..problem.channel import Channel
from ..problem.precision import KnownNoise
from ..problem.student import GAUSSIAN

LEVEL = 1e-3  # how often sound measurements may be called something else, in all their checks together
MOST = 0.2  # of the readings may be outliers; if more are far off, it is the noise that is larger
CLIPPED = 3.0  # robust standard deviations, beyond which a residual has no more part in a pattern
TURNS = 20  # in which weights and what they lead to find to each other
SLOW = 0.5
PARTS = (SLOW, 0.7)  # powers of the number of readings: 5 and 10 of 30, for what is slow and for what is narrow
FEWEST, MANY = 6, 4000  # readings in which anything can be seen, and of which more are not looked at
SAME = 1e-9  # of the largest singular value: what is smaller is rounding
MATERIAL = 1.3  # a scatter that is larger than sigma by less than this factor is let be,
IDLE = 0.6  # and one that is smaller, if it is more than this part
NAMED = 5  # outliers, at most
MEDIAN = 0.6745  # of the size of a standard normal number

Kind = Literal["outliers", "pattern", "scatter more", "scatter less"]


@dataclass(frozen=True)
class Finding:
    """One thing that residuals deny: what it is, and what to do about it."""

    kind: Kind
    said: str
    advice: str


@dataclass(frozen=True, eq=False)
class Readings:
    """The residuals of some measurements, in units of sigma. `used` is how many of them the fit has used up, at least."""

    name: str
    z: Float[np.ndarray, " n"]
    points: Float[np.ndarray, "n d"]  # in the user's units
    coordinates: tuple[str, ...]
    sigma: Float[np.ndarray, " n"]  # in the user's units
    known: bool  # whether sigma was given
    freedom: float = GAUSSIAN
    used: float = 0.0

    @classmethod
    def of(cls, channel: Channel, left: Any, points: Any, coordinates: Sequence[str]) -> "Readings":
        """Those of a channel, from what a solution leaves of it; the points are in the user's units."""
        n, size = left.shape
        each = np.broadcast_to(np.asarray(channel.sigma_outside), (n,))
        return cls(
            name=channel.name,
            z=np.asarray(left * channel.whitening[:, None], float).ravel(),
            points=np.repeat(np.asarray(points, float), size, axis=0),
            coordinates=tuple(coordinates),
            sigma=np.repeat(each, size),
            known=isinstance(channel.precision, KnownNoise),
            freedom=channel.precision.freedom,
        )

    def some(self) -> "Readings":
        """As many of them as are looked at: matrices grow with the square of their number."""
        if len(self.z) <= MANY:
            return self
        kept = np.sort(np.random.default_rng(0).permutation(len(self.z))[:MANY])
        used = self.used * MANY / len(self.z)
        return replace(self, z=self.z[kept], points=self.points[kept], sigma=self.sigma[kept], used=used)


def diagnose(every: Sequence[Readings]) -> list[Finding]:
    """What is wrong with some measurements, of all conditions together."""
    level = LEVEL / max(1, sum(2 + len(PARTS) * len(one.coordinates) for one in every))
    seen = [one.some() for one in every if len(one.z) >= FEWEST and np.all(np.isfinite(one.z))]
    return [finding for one in seen for finding in _findings(one, level)]


def _findings(readings: Readings, level: float) -> Iterator[Finding]:
    if len(far := outliers(readings, level)):
        yield _outliers_in_words(readings, far)
        return
    found = [(*pattern(readings, axis, part), axis) for axis in range(len(readings.coordinates)) for part in PARTS]
    probability, smooth, axis = min(found, key=lambda one: one[0])
    if probability < level:
        yield _pattern_in_words(readings, smooth, axis)
    elif readings.known:
        yield from _scatter(readings, level)


def outliers(readings: Readings, level: float) -> Int[np.ndarray, " k"]:
    """The readings that are too far off, the farthest first; none of noise that has heavy tails.

    They pull a fit away from the others, so that what most readings follow is taken off first. Each is compared with those that
    are nearer (Rosner's test), so that several do not hide each other, and with sigma too where that is known.
    """
    number = len(readings.z)
    size = np.abs(readings.z - _followed_by_most(readings))
    order = np.argsort(-size)
    found = 0
    squares = size[order] ** 2
    nearer = np.cumsum(squares[::-1])[::-1] - squares  # the squares of those that are nearer
    for k in range(int(MOST * number) if readings.freedom == GAUSSIAN else 0):
        largest, left = size[order[k]], max(number - k - 1 - int(number**SLOW), 1)
        others = max(float(np.sqrt(max(nearer[k], 0.0) / left)), 1e-300)
        rare = max(special.stdtr(left, -largest / others), special.ndtr(-largest) if readings.known else 0.0)
        if 2 * (number - k) * rare < level:
            found = k + 1
    return order[:found]


def _followed_by_most(readings: Readings) -> Float[np.ndarray, " n"]:
    """The slow cosines along all coordinates that most residuals follow, by weights that outliers lose."""
    z, axes = readings.z, len(readings.coordinates)
    each = max(int(len(z) ** SLOW) // axes, 1)
    waves = np.concatenate([_waves(readings, axis, each) for axis in range(axes)], axis=1)
    directions, sizes, _ = np.linalg.svd(waves, full_matrices=False)
    basis = directions[:, sizes > SAME * sizes[0]]  # all axes have a constant, and readings along a track more in common
    smooth = np.zeros(len(z))
    for _ in range(TURNS):
        beside = z - smooth
        weights = 1 / (1 + (beside / max(float(np.median(np.abs(beside))) / MEDIAN, 1e-300)) ** 2) ** 2
        smooth = basis @ np.linalg.lstsq(basis * weights[:, None] ** 0.5, z * weights**0.5, rcond=None)[0]
    return smooth


def _waves(readings: Readings, axis: int, count: int) -> Float[np.ndarray, "n k"]:
    """The slowest cosines along a coordinate, by the order of the readings alone."""
    values, place, counts = np.unique(readings.points[:, axis], return_inverse=True, return_counts=True)
    along = ((np.cumsum(counts) - counts / 2) / len(readings.z))[place.ravel()]
    return np.asarray(np.cos(np.pi * np.outer(along, np.arange(min(len(values), count)))))


def pattern(readings: Readings, axis: int, part: float) -> tuple[float, Float[np.ndarray, " n"]]:
    """How probable it is that residuals follow slow cosines along a coordinate by so much, and what they follow. Of cosines
    there are as many as this power of the number of readings.

    Only their order along it counts, and residuals far off count less: an F test. Where sigma is known, they must be too large
    for that as well: readings with less noise than was said leave what a prior pulls at, which the band has in it.
    """
    number = len(readings.z)
    scale = max(float(np.median(np.abs(readings.z))) / MEDIAN, 1e-300)
    basis = np.linalg.qr(_waves(readings, axis, int(number**part)))[0]
    rank, left = basis.shape[1], number - basis.shape[1]
    if left < 2:
        return 1.0, np.zeros(number)

    def followed(most: float) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        clipped = np.clip(readings.z, -most, most)
        smooth = basis @ (basis.T @ clipped)
        return smooth, clipped - smooth

    smooth, beside = followed(CLIPPED * scale)
    ratio = np.sum(smooth**2) / rank / max(float(np.sum(beside**2)) / left, 1e-300)
    probability = float(special.fdtrc(rank, left, ratio))
    if readings.known and readings.freedom == GAUSSIAN:
        in_sigma, _ = followed(CLIPPED * max(scale, 1.0))  # few may follow what most do not
        probability = max(probability, float(special.gammaincc(rank / 2, np.sum(in_sigma**2) / 2)))
    return probability, smooth


def scatter(readings: Readings) -> tuple[float, float, float]:
    """How much residuals scatter in units of sigma, and the probabilities of more and of less. Far ones count by their weight,
    as the likelihood has them (the score of a scale; the mean square of Gaussian noise)."""
    freedom, squares, left = readings.freedom, readings.z**2, max(len(readings.z) - readings.used, 1.0)
    gaussian = freedom == GAUSSIAN
    weights = 1.0 if gaussian else (freedom + 1) / (freedom + squares)
    total, variance = float(np.sum(weights * squares)), 2.0 if gaussian else 2 * freedom / (freedom + 3)
    more = float(special.gammaincc(left / variance, total / variance))
    less = float(
        special.gammainc(left / 2, total / 2)
    )  # of Gaussian noise: a bound, since sums near zero go as their power there
    typical = np.sqrt(np.mean(squares)) if gaussian else np.median(np.abs(readings.z)) / special.stdtrit(freedom, 0.75)
    return float(typical), more, less


def _scatter(readings: Readings, level: float) -> Iterator[Finding]:
    times, more, less = scatter(readings)
    sigma, name = readings.sigma, readings.name
    says = f"sigma = {np.median(sigma):.3g} says" if np.ptp(sigma) < 1e-6 * np.max(sigma) else "their sigma says"
    how = "say what it is, or leave sigma out so that it is inferred."
    if more < level and times > MATERIAL:
        yield Finding("scatter more", f"the readings of {name!r} scatter {times:.2g} times as much as {says}", f"If so, {how}")
    elif less < level and times < IDLE:
        said = f"the readings of {name!r} scatter {1 / max(times, 1e-300):.2g} times less than {says}"
        yield Finding("scatter less", said, f"The band is wider than it need be: {how}")


def _outliers_in_words(readings: Readings, far: Int[np.ndarray, " k"]) -> Finding:
    """Where they are, and how far off."""
    size = np.abs(readings.z)
    scale = 1.0 if readings.known else np.sqrt(np.mean(np.delete(size, far) ** 2))
    named, names = far[:NAMED], readings.coordinates
    places = [" and ".join(f"{x:.3g}" for x in readings.points[i]) for i in named]
    times = [f"{size[i] / scale:.0f}" for i in named]
    more = f" and {len(far) - NAMED} more" if len(far) > NAMED else ""
    verb = "are outliers" if len(far) > 1 else "is an outlier"
    unit = "sigma" if readings.known else "the others' scatter"
    said = f"{len(far)} of {len(size)} readings of {readings.name!r} {verb} ({', '.join(names)} = {'; '.join(places)}{more}"
    advice = 'If readings may be that wrong, say so with noise="student", or leave these out.'
    return Finding("outliers", f"{said}, off by {', '.join(times)} times {unit})", advice)


def _pattern_in_words(readings: Readings, smooth: Float[np.ndarray, " n"], axis: int) -> Finding:
    """Where residuals are most of one sign."""
    at = readings.points[:, axis]
    order = np.argsort(at, kind="stable")
    sign = np.sign(smooth[order])
    peak = int(np.argmax(np.abs(smooth[order])))
    others = np.flatnonzero(sign != sign[peak])
    first = int(max(others[others < peak], default=-1)) + 1
    last = int(min(others[others > peak], default=len(order)))
    near = order[first:last]
    same = int(np.sum(np.sign(readings.z[near]) == sign[peak]))
    name = readings.coordinates[axis]
    where = f"all along {name}" if len(near) == len(order) else f"near {name} = {at[order[peak]]:.3g}"
    signs = f"{same} of {len(near)} residuals have one sign"
    said = f"the measurements of {readings.name!r} deny the equation {where}, where {signs}"
    return Finding("pattern", said, "A term that the equation lacks looks like that, or a sensor that drifts.")
