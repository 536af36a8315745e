"""Files of samplers: what is read is what was written, to the bit, and nothing else is read."""

import json
import re

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import epinn
from epinn import Base, InputError
from epinn.app.store.registry import FORMAT
from epinn.app.store.trees import load_tree, save_tree

POINTS = np.linspace(-1, 1, 7)
METHODS = {
    "epinet": {"epochs": 1, "hidden": (4,), "prior_hidden": (3,), "index_dim": 2},
    "dropout": {"rate": 0.3},
    "hmc": {
        "step_size": 1e-4,
        "leapfrog": 1,
        "burn_in": 0,
        "samples": 4,
        "chains": 1,
        "start": "trained",
        "precondition": False,
    },
    "vi": {"steps": 1},
}


@pytest.fixture(scope="module")
def pinn():
    return epinn.fit(
        epinn.problems.poisson1d(noise=0.1, collocation=8, sensors=4), base=Base(hidden=(6, 5), epochs=0, newton=0, restarts=0)
    )


@pytest.fixture(scope="module")
def posteriors(pinn):
    return {name: epinn.attach(pinn, method=name, settings=settings) for name, settings in METHODS.items()}


@pytest.fixture
def stored(tmp_path, pinn):
    """A file of ours."""
    save_tree(pinn.solution, tmp_path / "base.safetensors")
    return tmp_path / "base.safetensors"


@pytest.fixture
def forged(tmp_path):
    """Writes a sound safetensors file whose structure is what it is told."""

    def forge(structure):
        metadata = structure if isinstance(structure, dict | None) else {"epinn": structure}
        save_file({"0000": np.zeros(3, np.float32)}, tmp_path / "forged.safetensors", metadata=metadata)
        return tmp_path / "forged.safetensors"

    return forge


def refuses(path):
    with pytest.raises(InputError) as caught:
        load_tree(path)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_stored_sampler_predicts_the_same_to_the_bit(tmp_path, posteriors, method):
    posterior = posteriors[method]
    save_tree(posterior.sampler, tmp_path / "posterior.safetensors")
    again = epinn.Posterior(load_tree(tmp_path / "posterior.safetensors"), posterior.problem, method)
    options = {"draws": 9, "key": 3, "samples": 3}
    old, new = posterior.predict(POINTS, **options), again.predict(POINTS, **options)
    for name in ("mean", "std", "samples"):
        np.testing.assert_array_equal(getattr(old, name), getattr(new, name))
    assert old.std.max() > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "base",
    [
        Base(hidden=(4,), scale_inputs=True, output_scale=2.5, epochs=0, newton=0, restarts=0),
        Base(hidden=(4,), fourier=3, activation="sin", epochs=0, newton=0, restarts=0),
    ],
    ids=["scaled", "fourier"],
)
def test_a_network_with_an_encoding_survives_storage(tmp_path, base):
    pinn = epinn.fit(epinn.problems.poisson1d(collocation=8), base=base)
    save_tree(pinn.solution, tmp_path / "base.safetensors")
    points = jnp.asarray(POINTS)[:, None]
    np.testing.assert_array_equal(load_tree(tmp_path / "base.safetensors")(points), pinn.solution(points))


@pytest.mark.slow
def test_unknown_parameters_survive_storage(tmp_path):
    problem = epinn.Problem(
        domain=epinn.Box(x=(0, 1)),
        equation=lambda u, a, b: a * u.xx - b * u - 1,
        unknowns={"a": epinn.Unknown(0.5, positive=True), "b": -2.0},
    )
    solution = epinn.fit(problem, base=Base(hidden=(4,), epochs=0, newton=0, restarts=0)).solution
    save_tree(solution, tmp_path / "base.safetensors")
    again = load_tree(tmp_path / "base.safetensors")
    assert {name: float(value) for name, value in again.unknowns.items()} == pytest.approx({"a": 0.5, "b": -2.0})
    assert again.positive == solution.positive


@pytest.mark.usefixtures("x64")
def test_double_precision_survives_storage(tmp_path):
    values = jnp.linspace(0, 1, 5) / 3
    save_tree((values, {"a": 1, "b": None}), tmp_path / "tree.safetensors")
    again, rest = load_tree(tmp_path / "tree.safetensors")
    assert again.dtype == jnp.float64
    np.testing.assert_array_equal(again, values)
    assert rest == {"a": 1, "b": None}


def test_what_is_not_epinns_own_is_not_stored(tmp_path):
    with pytest.raises(InputError, match="object"):
        save_tree({"a": object()}, tmp_path / "tree.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_missing_file_is_refused(tmp_path):
    refuses(tmp_path / "nothing.safetensors")


@pytest.mark.parametrize("content", [b"", b"some notes of mine\n" * 20, b"\x89PNG\r\n\x1a\n" + bytes(100)])
def test_a_file_that_is_not_safetensors_is_refused(tmp_path, content):
    (tmp_path / "notes.safetensors").write_bytes(content)
    refuses(tmp_path / "notes.safetensors")


@pytest.mark.parametrize("kept", [4, 0.2, 0.5, -1], ids=["header length", "header", "half", "last byte"])
def test_a_truncated_file_is_refused(stored, kept):
    content = stored.read_bytes()
    stored.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    refuses(stored)


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}], ids=["no metadata", "another's metadata"])
def test_someone_elses_safetensors_file_is_refused(forged, metadata):
    refuses(forged(metadata))


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "builtins:eval",
        "equinox.nn:MLP",
        "..os:system",
        ".runs:RunFolder",
        ".network:jnp",
        ".nosuch:MLP",
        ".network:No",
        "mlp",
        "nosuch",
        3,
        None,
        ["mlp"],
    ],
)
@pytest.mark.parametrize("written_as", ["1", "2"])
def test_a_class_that_is_not_epinns_is_refused(forged, name, written_as):
    refuses(forged({"epinn": json.dumps({"module": name, "content": {}}), "format": written_as}))


@pytest.mark.parametrize(
    "structure",
    [
        "{",
        "3",
        "{}",
        '{"nonsense": 1}',
        '{"array": "0001"}',
        '{"activation": "explode"}',
        '{"module": ".network:Solution", "content": {}}',
        '{"module": ".network:Solution", "content": {"wrong": {"value": 1}}}',
        '{"tuple": [{"array": "0001"}]}',
        '{"tuple": {"array": "0000"}}',
        '{"module": ".network:Frozen", "content": [{"value": 1}]}',
        '{"module": ".network:Frozen"}',
        '{"tuple": [' * 150 + '{"value": 1}' + "]}" * 150,
        '{"tuple": [' * 100_000 + '{"value": 1}' + "]}" * 100_000,
        "[" * 100_000,
    ],
    ids=range(15),
)
def test_a_damaged_structure_is_refused(forged, structure):
    refuses(forged(structure))


def test_a_file_names_classes_by_their_registered_names_and_has_its_format(stored):
    with safe_open(stored, framework="numpy") as file:
        metadata = file.metadata()
    assert metadata["format"] == str(FORMAT) == "3"
    assert set(re.findall(r'"module": "([^"]*)"', metadata["epinn"])) == {"solution", "mlp", "encoding", "frozen", "units"}


@pytest.mark.parametrize(("written_as", "word"), [("4", "newer"), ("three", "format"), ("-1", "format"), ("0", "format")])
def test_a_file_of_another_format_is_refused(forged, rejects, written_as, word):
    path = forged({"epinn": '{"value": 1}', "format": written_as})
    with rejects(str(path), word):
        load_tree(path)


def test_parts_that_a_class_does_not_have_are_named(forged, rejects):
    path = forged('{"module": ".network:Frozen", "content": {"wrong": {"value": 1}}}')
    with rejects("wrong", "content", "version"):
        load_tree(path)


def test_every_byte_of_a_tree_is_guarded(stored):
    content = stored.read_bytes()
    places = np.random.default_rng(0).choice(len(content), 200)
    for place in (*range(0, 600, 3), *places):
        stored.write_bytes(content[:place] + bytes([content[place] ^ 2]) + content[place + 1 :])
        with pytest.raises(InputError, match=r"damaged.*; do this\.$") as caught:
            load_tree(stored, remedy="do this")
        assert "\n" not in str(caught.value)
    stored.write_bytes(content)
    load_tree(stored)
