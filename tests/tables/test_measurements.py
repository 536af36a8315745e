"""Measurements as a laboratory leaves them: odd units, gaps, copies."""

import numpy as np
import pytest

from epinn.tables.measurements import read_measurements

ROD = """Zeit [min];Position (mm);T [°C];dT [mK];Notiz
0,5;10,0;20,5;100;ok
1,0;20,0;;100;Ausfall
1,5;20,0;22,25;200;ok
1,5;20,0;22,25;200;ok
1,5;20,0;22,5;200;ok
"""


@pytest.fixture
def rod(tmp_path):
    path = tmp_path / "rod.csv"
    path.write_text(ROD, encoding="cp1252")
    return path


def test_units_gaps_and_copies(rod):
    columns, units = {"x": "Position", "t": "Zeit"}, {"x": "m", "t": "s", "T": "K"}
    found = read_measurements(rod, coordinates=columns, value="T", sigma="dT", units=units)
    np.testing.assert_allclose(found.points, [[0.01, 30], [0.02, 90], [0.02, 90]])
    np.testing.assert_allclose(found.values, [293.65, 295.4, 295.65])
    np.testing.assert_allclose(found.sigma, [0.1, 0.2, 0.2])
    assert (found.coordinates, found.lines.tolist()) == (("x", "t"), [2, 4, 6])
    missing, copied = found.notes
    assert "1 of 5 rows" in missing
    assert "'T'" in missing
    assert "(line 3)" in missing
    assert "(line 5)" in copied


def test_copies_can_be_kept_and_repeated_places_always_are(rod):
    found = read_measurements(rod, coordinates={"t": "Zeit"}, value="T", keep_copies=True)
    assert found.values.tolist() == [20.5, 22.25, 22.25, 22.5]
    assert found.sigma is None
    assert len(found.notes) == 1


def noise(tmp_path, header, **options):
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n1,20,0.5\n", encoding="utf-8")
    return read_measurements(path, coordinates="x", value="T", sigma="dT", **options).sigma.tolist()


@pytest.mark.parametrize(
    ("header", "units", "expected"),
    [
        ("x,T [degC],dT", {"T": "K"}, 0.5),  # a difference
        ("x,T [degF],dT", {"T": "degC"}, 0.5 * 5 / 9),
        ("x,T [degF],dT [K]", {"T": "degC"}, 0.5),
        ("x,T,dT", {"T": ("degF", "K")}, 0.5 * 5 / 9),
        ("x,T,dT [mK]", {"T": ("degC", "K")}, 5e-4),
        ("x,T [degC],dT [mK]", {}, 5e-4),  # values stay as they are, and sigma has their unit
        ("x,T,dT", {"T": ("degC", "K"), "dT": ("mK", "K")}, 5e-4),
        ("x,T (probe A),dT (spread)", {}, 0.5),  # no units at all
        ("x,T,dT [mK]", {}, 0.5),
    ],
)
def test_sigma_has_the_unit_of_the_values(tmp_path, header, units, expected):
    assert noise(tmp_path, header, units=units) == pytest.approx([expected])


def test_sigma_in_another_unit_than_the_values_is_refused(tmp_path, rejects):
    with rejects("'dT'", "'mK'", "'K'"):
        noise(tmp_path, "x,T [degC],dT [K]", units={"T": "K", "dT": "mK"})
    with rejects("'dT'", "'percent'", "[temperature]"):
        noise(tmp_path, "x,T [degC],dT [percent]", units={"T": "K"})


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("x,T\n1,2\n", {"units": {"x": "m"}}, ("'x'", "does not say its unit", "('mm', 'm')")),
        ("x,T\n1,2\n", {"units": {"y": "m"}}, ("units", "'y'")),
        ("x,T\n1,2\n", {"value": "Temp"}, ("no column 'Temp'",)),
        ("x,T\n1,2\n", {"sigma": "T"}, ("twice",)),
        ("x,T\n1,2\n", {"coordinates": {}}, ("coordinates=",)),
        ("x,T\n", {}, ("no row",)),
        ("x,T\n1,\n,2\n", {}, ("no row", "'x', 'T'")),
        ("x,T,s\n1,2,0.1\n,2,1\n3,4,0\n", {"sigma": "s"}, ("line 4", "'s'", "positive")),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, rejects, content, options, words):
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8")
    with rejects(*words):
        read_measurements(path, **{"coordinates": "x", "value": "T", **options})


def test_many_lines_are_counted_not_listed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,T\n1,1\n" + 9 * "1,\n", encoding="utf-8")
    (note,) = read_measurements(path, coordinates="x", value="T").notes
    assert "lines 3, 4, 5 and 6 more" in note
