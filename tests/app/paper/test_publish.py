"""What a reproduction leaves: tables.json, the figures, and the page; and the command that makes them."""

import json
import sys

import pytest

from epinn.app import commands
from epinn.app.plan.published import rows, tables

pytestmark = [pytest.mark.usefixtures("tiny_paper"), pytest.mark.slow]

CHEAP = ("poisson1d", "burgers-noise")


REPRODUCE = sys.modules["epinn.app.commands.reproduce"]  # the module; the package has the command under that name


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


def run(monkeypatch, capsys, *arguments):
    """The command line in this process: exit code, standard output and standard error."""
    monkeypatch.setattr(sys, "argv", ["epinn", *map(str, arguments)])
    code = 0
    try:
        commands.main()
    except SystemExit as request:
        code = request.code or 0
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.fixture
def epinn(monkeypatch, capsys):
    monkeypatch.setattr(REPRODUCE, "keep_compiled_programs", lambda: None)
    return lambda *arguments: run(monkeypatch, capsys, *arguments)


@pytest.fixture(scope="module")
def made(home):
    """Two tables with one seed, by the command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(REPRODUCE, "keep_compiled_programs", lambda: None)
        patch.setattr(sys, "argv", ["epinn", "reproduce", *CHEAP, "--seeds", "1", "--out", str(home / "rep"), "--json"])
        commands.main()
    return home / "rep"


def test_the_tables_are_listed(epinn):
    code, out, err = epinn("reproduce", "--list")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == list(tables())


def test_tables_json_keeps_its_contract(made):
    found = json.loads((made / "tables.json").read_text())
    assert len(found) == len(rows("poisson1d")) + len(rows("burgers-noise"))
    for row in found:
        assert {"table", "setting", "method", "noise", "published", "ours", "seeds"} <= set(row)
        assert row["seeds"] == 1
        for metric in ("sharpness", "coverage", "rmse"):
            assert set(row["ours"][metric]) == {"median", "min", "max"}
            assert metric in row["published"]


def test_every_figure_is_there(made):
    found = {path.stem for path in (made / "figures").glob("*.png")}
    assert found == {"architecture", "poisson1d-noise0", "poisson1d-noise0.1", "poisson1d-noise0.3", "burgers-noise"}


def test_the_page_has_tables_figures_reasons_settings_and_machine(made):
    page = (made / "report.html").read_text()
    for text in (
        "14 of 70 rows",
        "1D Poisson",
        "Burgers: noise",
        "Values outside our range, and why",
        "epinet.alpha",
        "Machine",
        "E-PINN",
    ):
        assert text in page
    assert page.count("data:image/png") == 5
    assert "epinn reproduce poisson1d burgers-noise --seeds 1" in page


def test_asked_again_it_only_shows_what_is_there(made, epinn):
    before = {path: path.stat().st_mtime_ns for path in (made / "rows").iterdir()}
    code, out, err = epinn("reproduce", *CHEAP, "--seeds", 1, "--out", made)
    assert code == 0
    assert "rows 14 of 14 done" in err
    assert "printed values lie in our range" in out
    assert {path: path.stat().st_mtime_ns for path in (made / "rows").iterdir()} == before


def test_resume_and_report_know_the_folder(made, epinn):
    (made / "report.html").unlink()
    assert epinn("report", made)[0] == 0
    assert (made / "report.html").is_file()
    code, _, err = epinn("resume", made)
    assert code == 0
    assert "rows 14 of 14 done" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("reproduce", "poisson"), ("poisson1d",)),
        (("reproduce", "poisson1d", "--seeds", "0"), ("seeds",)),
        (("report", "nowhere"), ("nowhere",)),
    ],
)
def test_a_mistake_is_one_line(epinn, arguments, words):
    code, out, err = epinn(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert all(word in err for word in words)
