"""The judge of `make faults`: what counts as the same result, what counts as noticed, and the page."""

import numpy as np
import pytest

from benchmarks.faults.damage import detected
from benchmarks.faults.page import write
from benchmarks.faults.same import differences
from benchmarks.faults.work import flipped
from epinn.app.store.files import write_json
from epinn.app.store.trees import save_tree


@pytest.fixture
def folders(tmp_path):
    """Two folders with the same result, computed at another time and speed."""
    for name, seconds in (("a", 1.0), ("b", 2.0)):
        (tmp_path / name).mkdir()
        write_json(tmp_path / name / "metrics.json", {"records": [{"rmse": 0.5, "time_s": seconds}], "started": name})
        save_tree({"weights": np.arange(3.0)}, tmp_path / name / "posterior.safetensors")
    return tmp_path / "a", tmp_path / "b"


def test_the_same_result_at_another_time_is_the_same(folders):
    assert differences(*folders) == []


def test_one_bit_in_a_weight_a_number_or_a_leftover_is_a_difference(folders):
    a, b = folders
    save_tree({"weights": np.nextafter(np.arange(3.0), 9)}, b / "posterior.safetensors")
    assert differences(a, b) == ["posterior.safetensors"]
    write_json(b / "metrics.json", {"records": [{"rmse": 0.5 + 1e-15}]})
    (b / ".half").write_text("")
    assert differences(a, b) == [".half", "metrics.json", "posterior.safetensors"]


def test_a_file_that_is_missing_is_a_difference(folders):
    (folders[1] / "metrics.json").unlink()
    assert differences(*folders) == ["metrics.json"]


def test_exactly_one_bit_is_changed():
    content, generator = bytes(range(50)), np.random.default_rng(0)
    for _ in range(20):
        changed = np.frombuffer(flipped(content, generator), np.uint8) ^ np.frombuffer(content, np.uint8)
        assert np.unpackbits(changed).sum() == 1


def test_damage_is_counted_and_mended(folders):
    path = folders[0] / "metrics.json"
    before = path.read_bytes()
    assert detected(path, 20, np.random.default_rng(0)) == (20, 20)
    assert path.read_bytes() == before
    path.write_text('{"a": "a text without a checksum, in which most changes are not noticed"}')
    noticed, places = detected(path, 20, np.random.default_rng(0))
    assert noticed < places


def test_a_page_has_a_row_for_everything(tmp_path):
    found = {
        "about": {"command": "python -m benchmarks.faults", "machine": "a machine", "epinn": "1", "jax": "2"},
        "seconds": 60.0,
        "kills": [{"work": "training", "seconds": 9.0, "kills": 3, "same": 2, "otherwise": ["kill 1: metrics.json"]}],
        "damage": [{"file": "training: run.json", "places": 5, "noticed": 5}],
        "commands": [{"file": "training: run.json", "told": True}],
        "full": [{"when": "training, after 2 files", "code": 1, "one_line": True, "half": 0, "same": True}],
        "others": [{"when": "training, two processes at once", "code": [0, 2], "one_line": True, "same": True}],
    }
    write(found, tmp_path)
    page = (tmp_path / "README.md").read_text()
    for row in ("| training | 9 | 3 | 2 | kill 1: metrics.json |", "| training: run.json | 5 | 5 |", "| 1 | yes | 0 | yes |"):
        assert row in page
    assert "| training, two processes at once | [0, 2] | yes | yes |" in page
    assert "1 of 1 times exit code 2" in page
