"""One contract for every method: draw an index, get a function; everything else follows from that.

`check` is the contract. It runs over all methods and over forward, inverse and vector problems; a method that breaks any
clause fails it, which is shown on methods broken on purpose.
"""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import epinn
from epinn.app.store.trees import load_tree, save_tree
from epinn.derivatives.jet import Jet
from epinn.derivatives.network import Opaque, Solution
from epinn.judge.evaluation import evaluate
from epinn.methods import METHODS, attach_seeds
from epinn.posterior.sampler import FiniteSampler, GaussianSampler, Sampler
from epinn.problems import SHIPPED
from epinn.solve.config import Base
from epinn.solve.fit import fit_seeds

pytestmark = pytest.mark.usefixtures("quick_compile")

PLAIN = {"start": "trained", "precondition": False}
SMALL = {
    "epinet": {"index_dim": 12},
    "laplace": {"samples": 20},
    "ensemble": {"members": 5, "perturb": False},
    "conformal": {"level": 0.5},
    "dropout": {"rate": 0.2},
    "hmc": {"step_size": 1e-5, "leapfrog": 3, "burn_in": 0, "samples": 20, "chains": 2} | PLAIN,
    "nuts": {"step_size": 1e-5, "doublings": 2, "burn_in": 0, "samples": 20, "chains": 2} | PLAIN,
    "vi": {"steps": 20},
}
BASE = Base(hidden=(8, 8), epochs=20, newton=0, restarts=0)


def plane_flow():
    """Two fields and one unknown number: u_x + v_y = 0, u_y = a, with readings of u."""
    x = np.stack([np.linspace(0.1, 0.9, 6), np.linspace(0.9, 0.1, 6)], axis=1)
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1), y=(0, 1)),
        fields=("u", "v"),
        equation={"mass": lambda u, v: u.x + v.y, "shear": lambda u, a: u.y - a},
        boundary=epinn.Dirichlet(0.0, field="v"),
        data=(
            epinn.Data(x[1:], x[1:, 1], sigma=0.1, field="u"),
            epinn.Data(x[:1], x[:1, 1], sigma=0.1, field="u", held_out=True),
        ),
        unknowns={"a": 0.5},
        points=epinn.Points(collocation=16, boundary=4),
    ).holding_out(0.2, 0)


def cooling(**more):
    """No noise: boundary and initial values hold by construction."""
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1), t=(0, 1)),
        equation=lambda u: u.t - 0.1 * u.xx,
        boundary=epinn.Dirichlet(0.0),
        initial=epinn.Initial(lambda x: jnp.sin(np.pi * x)),
        points=epinn.Points(collocation=32, boundary=4),
        **{"data": epinn.Data([[0.5, 0.5]], [0.6], sigma=0.1, held_out=True)} | more,
    )


def small(name):
    """A shipped problem with few points, and a third of its measurements held out."""
    return SHIPPED[name](0.1, collocation=12, sensors=6).holding_out(0.34, 0)


PROBLEMS = {
    "forward": lambda: small("poisson1d"),
    "inverse": lambda: small("heat1d-inverse"),
    "system": plane_flow,
    "exact": cooling,
}


def check_closed_form(sampler, points, found):
    """Every draw is the center and so much of each deviation; mean and spread are those of all such sums."""
    center, index = sampler.center, sampler.index(jax.random.key(3))
    inside = points if center.units is None else center.units.inside(points)
    deviations = np.stack([np.asarray(sampler.deviation(i).variation(inside)) for i in range(sampler.number)])
    expected = np.asarray(center(points)) + np.tensordot(np.asarray(index), deviations, 1)
    np.testing.assert_allclose(sampler.solution(index)(points), expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.mean, np.asarray(center(points)).reshape(found.mean.shape), rtol=1e-4, atol=1e-5)
    spread = np.sqrt(np.sum(deviations**2, axis=0)).reshape(found.std.shape)
    np.testing.assert_allclose(found.std, spread, rtol=1e-3, atol=1e-5)
    assert found.draws == 0


def check(posterior, *, path):
    """Every clause of the contract."""
    problem, sampler = posterior.problem, posterior.sampler
    points = problem.domain.grid(5)
    fields = len(problem.fields)

    # a sampler is a tree of arrays; an index drawn from a key gives a solution of the right shape, always the same
    one, again, other = (posterior.draw(key) for key in (0, 0, 1))
    assert isinstance(one, Solution)
    assert one(points).shape == (len(points), fields)
    assert np.array_equal(one(points), again(points))
    assert not np.array_equal(one(points), other(points))
    assert set(one.unknowns) == set(problem.unknowns)

    # the solution takes jets: its derivatives are those of the function it is
    x = points[7 % len(points)]
    orders = tuple(tuple(int(i == j) for i in range(x.size)) for j in range(-1, x.size))
    jet = one.network(Jet.variable(x, orders))
    np.testing.assert_allclose(jet.value, one.network(x), rtol=1e-4, atol=1e-5)
    step = 1e-2 * jnp.eye(x.size)
    slopes = [(one.network(x + h) - one.network(x - h)) / 2e-2 for h in step]  # not by automatic differentiation: see Detached
    np.testing.assert_allclose(jet.stack[1:], jnp.stack(slopes), rtol=2e-2, atol=2e-3)

    # prediction is the statistics of those solutions, and depends on nothing but key and draws
    found = posterior.predict(points, draws=30, key=5, quantiles=(0.25, 0.75), samples=4)
    same = posterior.predict(points, draws=30, key=5)
    shape = (len(points),) if fields == 1 else (len(points), fields)
    assert found.mean.shape == found.std.shape == found.quantiles[0.25].shape == shape
    assert found.samples.shape == (4, *shape)
    assert np.array_equal(found.mean, same.mean)
    assert np.all(np.isfinite(found.mean))
    assert np.all(found.std >= 0)
    assert found.std.max() > 0
    assert np.all(found.quantiles[0.25] <= found.quantiles[0.75] + 1e-6)
    if isinstance(sampler, GaussianSampler) and not one.positive_fields:  # its statistics are known without draws
        check_closed_form(sampler, points, found)
        found = posterior.evaluate(lambda s: s(points).reshape(shape), draws=30, key=5)
    if not isinstance(sampler, FiniteSampler):
        draws = [posterior.sampler.solution(sampler.index(key)) for key in jax.random.split(jax.random.key(5), 30)]
    else:
        draws = [sampler.solution(i) for i in range(sampler.members)][:30]
        found = posterior.predict(points, draws=sampler.members, key=5)
        draws = [sampler.solution(i) for i in range(sampler.members)]
    values = np.stack([np.asarray(solution(points)).reshape(shape) for solution in draws])
    np.testing.assert_allclose(found.mean, values.mean(0), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.std, values.std(0), rtol=1e-2, atol=1e-4)

    # one field by name, unknowns by name, any functional
    first = posterior.predict(points, field=problem.fields[0], draws=10, key=5)
    assert first.mean.shape == (len(points),)
    assert set(posterior.unknowns(draws=10)) == set(problem.sought)
    slope = posterior.evaluate(operators[problem.domain.coordinates[0]], at=points, draws=10)
    assert slope.mean.shape == (len(points),)
    integral = posterior.evaluate(lambda s: jnp.mean(s(points)[:, 0]), draws=10, key=5)
    drawn = posterior.evaluate(lambda s: s(points)[:, 0], draws=10, key=5)
    np.testing.assert_allclose(integral.mean, drawn.mean.mean(), rtol=1e-3, atol=1e-4)

    # it can be stored and found again, bit by bit
    save_tree(sampler, path)
    stored = dataclasses.replace(posterior, sampler=load_tree(path))
    assert np.array_equal(stored.predict(points, draws=30, key=5).mean, same.mean)


operators = {"x": lambda u: u.x, "t": lambda u: u.t}


@pytest.fixture(
    scope="module", params=[name if name == "system" else pytest.param(name, marks=pytest.mark.slow) for name in PROBLEMS]
)
def pinns(request):
    problem = PROBLEMS[request.param]()
    return fit_seeds([problem, problem], keys=[0, 1], base=BASE)


QUICK = ("epinet", "laplace")
EVERY = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in METHODS]


@pytest.mark.parametrize("method", EVERY)
def test_every_method_keeps_the_contract(method, pinns, tmp_path):
    both = attach_seeds(pinns, method, keys=[0, 1], settings=SMALL[method])
    check(both[0], path=tmp_path / "posterior.safetensors")
    points = pinns[0].problem.domain.grid(5)
    assert not np.allclose(both[0].predict(points, draws=30).mean, both[1].predict(points, draws=30).mean)


@pytest.mark.slow
@pytest.mark.parametrize("method", EVERY)
def test_the_same_key_gives_the_same_posterior_and_another_does_not(method, pinns):
    points = pinns[0].problem.domain.grid(5)
    first, again, other = (
        epinn.attach(pinns[0], None, method, key=key, settings=SMALL[method]).predict(points, draws=30, key=key)
        for key in (3, 3, 4)
    )
    assert np.array_equal(first.mean, again.mean)
    assert not np.array_equal(first.std, other.std)


@pytest.fixture(scope="module", params=SHIPPED)
def shipped(request):
    return epinn.fit(small(request.param), base=BASE)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_on_every_shipped_problem(method, shipped):
    problem = shipped.problem
    record = evaluate(epinn.attach(shipped, problem, method, settings=SMALL[method]).posterior, draws=20).record()
    assert all(np.isfinite(record[metric]) for metric in ("sharpness", "coverage", "rmse", "crps"))
    assert set(record.get("unknowns", {})) == set(problem.sought)


PAPERS = {"objective": "paper", "epochs": 20, "index_dim": 4, "hidden": (8,)}
BY_CONSTRUCTION = {**{name: (name, settings) for name, settings in SMALL.items()}, "the paper's epinet": ("epinet", PAPERS)}


@pytest.fixture(scope="module")
def between_given_values():
    return epinn.fit(cooling(), base=BASE)


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_CONSTRUCTION)
def test_draws_keep_what_holds_by_construction(name, between_given_values):
    method, settings = BY_CONSTRUCTION[name]
    assert between_given_values.by_construction == ("boundary", "initial")
    band = epinn.attach(between_given_values, None, method, settings=settings)
    places = np.linspace(0, 1, 7)
    inside = band.predict(np.stack([np.full(7, 0.5), places[::-1] / 2 + 0.5], axis=1), draws=20)
    at_ends = band.predict(np.stack([np.repeat([0.0, 1.0], 7), np.tile(places, 2)], axis=1), draws=20)
    first = band.predict(np.stack([places, np.zeros(7)], axis=1), draws=20)
    assert inside.std.min() > 1e-5
    assert max(at_ends.std.max(), first.std.max()) < 1e-5
    np.testing.assert_allclose(at_ends.mean, 0, atol=1e-5)
    np.testing.assert_allclose(first.mean, np.sin(np.pi * places), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["laplace", "hmc", "dropout"])
def test_a_network_between_given_values_sees_new_measurements(method, between_given_values):
    """Chains and networks that are trained anew are made like the one that they begin with."""
    seen = cooling(data=epinn.Data([[0.5, 0.5]], [0.6], sigma=0.1))
    settings = SMALL[method] | ({"during": "training"} if method == "dropout" else {})
    band = epinn.attach(between_given_values, seen, method, settings=settings)
    assert np.all(np.isfinite(band.predict(seen.domain.grid(3), draws=10).mean))


class Constant(Sampler):
    """Breaks the contract: every index gives the same function."""

    base: Solution

    def index(self, key):
        return jax.random.normal(key)

    def solution(self, index):
        return self.base


def shifted(network, by):
    return eqx.tree_at(lambda n: n.biases[-1], network, replace_fn=lambda b: b + by)


class NoUnknowns(Sampler):
    """Breaks the contract: loses the unknowns (and varies, so that this is all it breaks)."""

    base: Solution

    def index(self, key):
        return jax.random.normal(key)

    def solution(self, index):
        network = shifted(self.base.network, index)
        return Solution(network)


class Detached(Sampler):
    """Breaks the contract: a value whose derivatives are not its own."""

    base: Solution

    def index(self, key):
        return jax.random.normal(key)

    def solution(self, index):
        network = shifted(self.base.network, index)
        return Solution(Opaque(lambda x: jax.lax.stop_gradient(network(x))), self.base.raw, self.base.positive)


@pytest.mark.slow
@pytest.mark.parametrize("broken", [Constant, NoUnknowns, Detached])
def test_a_method_that_breaks_the_contract_fails_it(broken, tmp_path):
    problem = plane_flow()
    pinn = epinn.fit(problem, base=BASE)
    with pytest.raises(AssertionError):
        check(epinn.Posterior(broken(pinn.solution), problem, "broken"), path=tmp_path / "p.safetensors")
