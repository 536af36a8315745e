"""`epinn calibrate`."""

import json

import pytest
from command_line import SETTINGS, good

pytestmark = pytest.mark.slow


def test_calibrate_writes_records_and_picture_and_goes_on_where_it_was(tmp_path):
    small = [part for s in (*SETTINGS, "laplace.samples=10") for part in ("--set", s)]
    command = ("calibrate", "poisson1d", "--noise", "0.1", "--method", "laplace,dropout", "--sigma", "equation=0.1", *small)
    shown = good(*command, "--redraws", "2", "--out", "out", cwd=tmp_path)
    assert "laplace" in shown.out
    assert "95%" in shown.out
    files = [json.loads(path.read_text()) for path in (tmp_path / "out").glob("redraws-*.json")]
    kept = sorted((row["method"], row["seed"]) for file in files for row in file["redraws"])
    assert kept == [("dropout", 0), ("dropout", 1), ("laplace", 0), ("laplace", 1)]
    assert (tmp_path / "out" / "calibration.png").read_bytes()[:4] == b"\x89PNG"
    rows = json.loads(good(*command, "--redraws", "2", "--out", "out", "--json", cwd=tmp_path).out)
    assert [row["method"] for row in rows] == ["laplace", "dropout"]
    assert rows[0]["coverage"] == json.loads((tmp_path / "out" / "calibration.json").read_text())["methods"][0]["coverage"]
    (tmp_path / "out" / "calibration.json").unlink()
    next((tmp_path / "out").glob("redraws-dropout-*.json")).unlink()
    again = json.loads(good("resume", "out", "--json", cwd=tmp_path).out)
    assert [row["coverage"] for row in again] == [row["coverage"] for row in rows]
    assert (tmp_path / "out" / "calibration.json").is_file()
