"""Student's t noise against its density in closed form, and against a posterior by numerical integration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, stats

import epinn
from epinn.errors import InputError
from epinn.problem import student
from epinn.problem.channel import log_likelihood
from epinn.problem.precision import KnownNoise, UnknownNoise

F = student.NOISES["student"]
Z = np.asarray([-300.0, -3.0, -0.5, 0.0, 1e-9, 0.2, 1.0, 2.0, 40.0])


def channel(sigma=0.5, noise="student", values=(0.0, 1.0, 9.0)):
    data = epinn.Data([0.0, 0.5, 1.0], np.asarray(values), sigma=sigma, noise=noise)
    problem = epinn.Problem(domain=epinn.Box(t=(0, 1)), equation=lambda u: u.t, data=data)
    (found,) = [c for c in problem.channels(0) if c.kind == "data"]
    return found


def test_the_squares_of_roots_are_log_densities():
    with jax.enable_x64(True):
        found = np.asarray(student.root(jnp.asarray(Z), F))
    assert -0.5 * found**2 == pytest.approx(stats.t.logpdf(Z, F) - stats.t.logpdf(0, F), rel=1e-9, abs=1e-12)
    assert np.all(np.sign(found) == np.sign(Z))


def test_slopes_are_derivatives():
    with jax.enable_x64(True):
        found = student.slope(jnp.asarray(Z), F)
        derivatives = jax.vmap(jax.grad(lambda z: student.root(z, F)))(jnp.asarray(Z))
    assert np.asarray(found) == pytest.approx(np.asarray(derivatives), rel=1e-3)


def test_with_infinite_freedom_noise_is_gaussian():
    for function, expected in ((student.root, Z), (student.weight, 1), (student.curvature, 1), (student.slope, 1)):
        assert np.asarray(function(jnp.asarray(Z), student.GAUSSIAN)) == pytest.approx(expected + 0 * Z)


def test_information_and_squares_are_those_of_the_density_on_average():
    drawn = jnp.asarray(stats.t.ppf((np.arange(100_000) + 0.5) / 100_000, F))  # quadrature in the probability
    assert np.mean(student.curvature(drawn, F)) == pytest.approx((F + 1) / (F + 3), rel=1e-3)
    assert np.mean(np.asarray(student.root(drawn, F)) ** 2) == pytest.approx(float(student.mean_square_of_root(F)), rel=1e-3)


@pytest.mark.parametrize("sigma", [0.5, "unknown"])
def test_the_likelihood_is_students(sigma):
    found, row = channel(sigma), jnp.asarray([[0.1], [-2.0], [7.0]])
    known = isinstance(found.precision, KnownNoise)
    value = log_likelihood([found], [row], None if known else {found.name: jnp.log(0.5)})
    other = log_likelihood([found], [0 * row], None if known else {found.name: jnp.log(0.5)})
    expected = np.sum(stats.t.logpdf(np.asarray(row) / 0.5, F) - stats.t.logpdf(0, F))
    assert float(value - other) == pytest.approx(float(expected), rel=1e-5)


def test_gaussian_noise_in_its_place_gives_the_posterior_within_a_tenth():
    """Twenty sets of readings y = a x, three of thirty off by ten sigma; the posterior of `a` by integration."""
    ratios, shifts, x = [], [], np.linspace(0.2, 2, 30)
    for key in range(20):
        random = np.random.default_rng(key)
        y = 3 * x + random.standard_normal(30) + 10 * np.isin(np.arange(30), random.choice(30, 3, replace=False))
        minus_log = lambda a, y=y: (F + 1) / 2 * np.sum(np.log1p((y - np.outer(a, x)) ** 2 / F), axis=1)  # noqa: E731
        mode = optimize.minimize_scalar(lambda a, f=minus_log: f(a)[0], bracket=(2.5, 3.5)).x
        grid = np.linspace(mode - 2, mode + 2, 2001)
        density = np.exp(minus_log(mode) - minus_log(grid))
        density /= np.sum(density)
        mean = np.sum(grid * density)
        std = np.sqrt(np.sum((grid - mean) ** 2 * density))
        information = np.sum(np.asarray(student.curvature(jnp.asarray(y - mode * x), F)) * x**2)
        ratios.append(information**-0.5 / std)
        shifts.append((mode - mean) / std)
    assert np.mean(ratios) == pytest.approx(1, abs=0.1)
    assert np.all(np.abs(np.log(ratios)) < 0.25)
    assert np.all(np.abs(shifts) < 0.15)


def test_what_takes_the_place_of_a_channel_has_its_slope_and_its_information():
    found, row = channel(), jnp.asarray([[0.1], [-2.0], [7.0]])
    same = found.gaussian_at(row)
    assert same.precision.is_gaussian
    gradient = jax.grad(lambda r: log_likelihood([found], [r]))(row)
    moved = row + found.target - same.target  # the residual from its own targets
    assert np.asarray(-moved / same.sigma[:, None] ** 2) == pytest.approx(np.asarray(gradient), rel=1e-4)
    assert np.asarray(same.sigma**-2) == pytest.approx(np.asarray(student.curvature(row / 0.5, F)[:, 0]) / 0.25, rel=1e-4)


def test_repetitions_have_its_tails():
    found = channel(values=np.zeros(3))
    drawn = np.concatenate([np.asarray(found.perturbed(jax.random.key(i)).target) for i in range(400)]) / 0.5
    assert stats.kstest(drawn.ravel(), stats.t(F).cdf).pvalue > 1e-3


def test_it_is_said_and_kept():
    known, unknown = channel().precision, channel("unknown").precision
    assert isinstance(unknown, UnknownNoise)
    assert known.origin == "given by the user, Student's t"
    assert unknown.with_sigma(0.3).settled().origin == "inferred, Student's t"
    assert np.asarray(known.deviation) == pytest.approx(0.5 * 2**0.5)


@pytest.mark.parametrize(
    ("said", "why"), [({"noise": "students"}, "did you mean 'student'"), ({"sigma": None}, "has no noise")]
)
def test_mistakes_are_told(said, why):
    with pytest.raises(InputError, match=why):
        channel(**said)


def test_further_noise_leaves_the_tails_heavy():
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u: u.x,
        data=epinn.Data([0.2, 0.4], [1.0, 1.0], sigma=0.3, noise="student"),
    )
    (channel,) = [c for c in problem.channels(0) if c.kind == "data"]
    noisy = channel.disturbed(0.4, jax.random.key(0))
    assert not noisy.precision.is_gaussian
    assert np.allclose(noisy.sigma, 0.5)
