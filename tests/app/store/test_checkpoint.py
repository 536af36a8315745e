"""Checkpoints: what was interrupted goes on, and ends as if nothing had happened."""

import dataclasses
import errno

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import save

import epinn
from epinn.app.store.checkpoint import Keeper
from epinn.methods import attach_seeds
from epinn.progress import Progress
from epinn.solve.fit import fit_seeds

pytestmark = pytest.mark.usefixtures("quick_compile")

BASE = epinn.Base(hidden=(8,), epochs=300, learning_rate=1e-2, newton=0, restarts=0)
KEYS = [0, 1]


class Stops(Progress):
    """Ctrl-C when a stage has come this far; counts the steps it hears of."""

    def __init__(self, stage="", at=np.inf):
        self.stage, self.at, self.first = stage, at, {}

    def __call__(self, stage, step, total, values):
        self.first.setdefault(stage, step)
        if stage == self.stage and step >= self.at:
            raise KeyboardInterrupt


def problem(n=6):
    x = np.linspace(0.1, 0.9, n)
    return epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=equation,
        boundary=0.0,
        data=epinn.Data(x, np.sin(np.pi * x), sigma=0.1),
        points=epinn.Points(collocation=12),
    )


def equation(u, x):
    return u.xx + jnp.pi**2 * jnp.sin(jnp.pi * x)


def every_time(listener, folder, identity="mine"):
    return Keeper(listener, folder, identity, interval=0.0)


@pytest.fixture
def eager(monkeypatch):
    """Keep at every occasion, however long it takes."""
    monkeypatch.setattr("epinn.app.store.checkpoint.SHARE", 0.0)


def leaves(tree):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def assert_same(found, expected):
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.fixture(scope="module")
def whole():
    return fit_seeds([problem()] * 2, keys=KEYS, base=BASE)


def test_a_training_goes_on_where_it_stopped_and_ends_the_same(tmp_path, whole, eager):
    with pytest.raises(KeyboardInterrupt):
        fit_seeds([problem()] * 2, keys=KEYS, base=BASE, progress=every_time(Stops("training", 200), tmp_path))
    listener = Stops()
    again = fit_seeds([problem()] * 2, keys=KEYS, base=BASE, progress=every_time(listener, tmp_path))
    assert 0 < listener.first["training"] < 300
    for a, b in zip(again, whole, strict=True):
        assert_same(a.solution, b.solution)
        assert a.steps[-1] == 300
        assert a.seconds > 0
        assert len(a.losses) == len(a.steps)


@pytest.mark.slow
@pytest.mark.parametrize("at", [100, 500])  # in burn-in, and after
def test_a_chain_goes_on_where_it_stopped_and_ends_the_same(tmp_path, whole, eager, at):
    method = epinn.methods.METHODS["hmc"](step_size=1e-3, leapfrog=2, burn_in=400, samples=400, chains=2)
    expected = attach_seeds(whole, method, keys=KEYS)
    with pytest.raises(KeyboardInterrupt):
        attach_seeds(whole, method, keys=KEYS, progress=every_time(Stops("hmc", at), tmp_path))
    listener = Stops()
    found = attach_seeds(whole, method, keys=KEYS, progress=every_time(listener, tmp_path))
    assert listener.first["hmc"] > 0
    for a, b in zip(found, expected, strict=True):
        assert_same(a.sampler, b.sampler)
        assert a.diagnostics == b.diagnostics


def test_nothing_is_written_before_its_time(tmp_path):
    keeper = Keeper(Progress(), tmp_path / "kept", "mine", interval=1000.0)
    keeper.keep("a", lambda: pytest.fail("asked for the state"))
    assert not (tmp_path / "kept").exists()


def test_keys_numbers_and_arrays_come_back_as_they_were(tmp_path):
    state = (jax.random.key(3), np.arange(4), {"a": jnp.ones(2), "b": np.asarray(7)})
    every_time(Progress(), tmp_path).keep("some stage", lambda: state)
    found = every_time(Progress(), tmp_path).recall("some stage", state)
    assert jnp.array_equal(jax.random.key_data(found[0]), jax.random.key_data(state[0]))
    assert_same(found[1:], state[1:])


class Heard(Progress):
    """Remembers what it was told."""

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


def nonsense(content):
    return b"no checkpoint"


def one_byte(content):
    return content[:-3] + bytes([content[-3] ^ 1]) + content[-2:]


@pytest.mark.parametrize("damage", [lambda content: b"", nonsense, one_byte], ids=["empty", "nonsense", "one byte"])
def test_of_a_damaged_checkpoint_the_one_before_is_taken_and_that_is_said(tmp_path, eager, damage):
    listener = Heard()
    keeper = every_time(listener, tmp_path)
    for number in (1.0, 2.0):
        keeper.keep("a", lambda number=number: np.full(2, number))
    assert_same(keeper.recall("a", np.zeros(2)), np.full(2, 2.0))
    assert not listener.notes
    (path,) = tmp_path.glob("*.checkpoint")
    path.write_bytes(damage(path.read_bytes()))
    assert_same(keeper.recall("a", np.zeros(2)), np.full(2, 1.0))
    (note,) = listener.notes
    assert "a.checkpoint" in note
    assert "before" in note


def test_where_both_checkpoints_are_damaged_the_stage_begins_anew_and_that_is_said(tmp_path, eager):
    listener = Heard()
    keeper = every_time(listener, tmp_path)
    for number in (1.0, 2.0):
        keeper.keep("a", lambda number=number: np.full(2, number))
    for path in tmp_path.iterdir():
        path.write_bytes(one_byte(path.read_bytes()))
    assert keeper.recall("a", np.zeros(2)) is None
    assert len(listener.notes) == 2
    assert "anew" in listener.notes[1]


def test_every_byte_of_a_checkpoint_is_guarded(tmp_path):
    keeper = every_time(Progress(), tmp_path)
    keeper.keep("a", lambda: np.arange(3.0))
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        assert keeper.recall("a", np.zeros(3)) is None, place


def test_a_kill_between_the_two_renames_loses_nothing(tmp_path, eager, monkeypatch):
    """The newest state is on the disk under a name that nobody looks for; the one before has become the last."""
    keeper = every_time(Progress(), tmp_path)
    keeper.keep("a", lambda: np.ones(2))
    (tmp_path / "a.checkpoint").rename(tmp_path / "a.checkpoint-before")
    assert_same(keeper.recall("a", np.zeros(2)), np.ones(2))


def test_the_state_of_something_else_is_not_taken(tmp_path):
    keeper = every_time(Progress(), tmp_path)
    keeper.keep("a", lambda: np.zeros(2))
    assert keeper.recall("a", (np.zeros(2), np.zeros(1))) is None
    assert keeper.recall("b", np.zeros(2)) is None
    assert keeper.recall("a", np.zeros(3)) is None
    assert keeper.recall("a", np.zeros(2, np.float32)) is None
    assert every_time(Progress(), tmp_path, "another").recall("a", np.zeros(2)) is None
    assert keeper.recall("a", np.zeros(2)) is not None


def test_what_cannot_be_written_stops_no_work_and_is_said_once(tmp_path, eager):
    (tmp_path / "file").write_text("")
    listener = Heard()
    keeper = every_time(listener, tmp_path / "file" / "folder")
    for _ in range(2):
        keeper.keep("a", lambda: np.zeros(2))
    keeper.clear()
    assert keeper.recall("a", np.zeros(2)) is None
    (note,) = listener.notes
    assert "goes on" in note


def test_a_full_disk_leaves_the_checkpoints_that_are_there(tmp_path, eager, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    listener = Heard()
    keeper = every_time(listener, tmp_path)
    for number in (1.0, 2.0):
        keeper.keep("a", lambda number=number: np.full(2, number))
    monkeypatch.setattr("os.fsync", full)
    keeper.keep("a", lambda: np.full(2, 3.0))
    assert_same(keeper.recall("a", np.zeros(2)), np.full(2, 2.0))
    assert len(list(tmp_path.iterdir())) == 2
    assert "No space left" in listener.notes[0]


@pytest.mark.slow
def test_other_seeds_and_other_settings_start_anew(tmp_path, whole, eager):
    with pytest.raises(KeyboardInterrupt):
        fit_seeds([problem()] * 2, keys=KEYS, base=BASE, progress=every_time(Stops("training", 200), tmp_path))
    listener = Stops()
    (alone,) = fit_seeds([problem()], keys=[0], base=BASE, progress=every_time(listener, tmp_path))
    assert listener.first["training"] == 0
    np.testing.assert_allclose(alone([[0.3]]), whole[0]([[0.3]]), rtol=1e-4)


def test_a_finished_stage_leaves_nothing_behind(tmp_path):
    keeper = every_time(Progress(), tmp_path / "kept")
    keeper.keep("a", lambda: np.zeros(2))
    keeper.clear()
    assert not (tmp_path / "kept").exists()


def test_progress_reaches_the_listener(tmp_path, whole):
    listener = Stops()
    fit_seeds([problem()], keys=[0], base=dataclasses.replace(BASE, epochs=5), progress=every_time(listener, tmp_path))
    assert "training" in listener.first


@pytest.mark.slow
def test_gauss_newton_goes_on_where_it_stopped_and_ends_the_same(tmp_path, eager):
    base = dataclasses.replace(BASE, epochs=50, newton=40)
    (expected,) = fit_seeds([problem()], keys=[0], base=base)
    with pytest.raises(KeyboardInterrupt):
        fit_seeds([problem()], keys=[0], base=base, progress=every_time(Stops("newton 2", 20), tmp_path))
    listener = Stops()
    (found,) = fit_seeds([problem()], keys=[0], base=base, progress=every_time(listener, tmp_path))
    assert listener.first["newton 2"] > 0
    assert_same(found.solution, expected.solution)


def test_a_state_of_another_format_is_never_taken(tmp_path, monkeypatch):
    keeper = every_time(Progress(), tmp_path)
    keeper.keep("a", lambda: np.zeros(2))
    assert keeper.recall("a", np.ones(2)) is not None
    monkeypatch.setattr("epinn.app.store.checkpoint.FORMAT", 4)
    assert keeper.recall("a", np.ones(2)) is None


def test_a_state_of_the_first_format_is_never_taken(tmp_path):
    (tmp_path / "a.checkpoint").write_bytes(save({"0000": np.zeros(2)}, metadata={"identity": "mine"}))
    assert every_time(Progress(), tmp_path).recall("a", np.ones(2)) is None
