"""The report: what it says of a run, that nothing in it can do harm or call home, and how it behaves in a browser."""

import dataclasses
import html
import json
import re
import shutil
import struct
import subprocess
import zlib
from html.parser import HTMLParser

import pytest
from browser import outcome, with_script

from epinn.app.report.page import Cell, Line, Page, Picture, Section, Table, render
from epinn.app.report.run_page import run_page
from epinn.app.store.run_folder import RunFolder

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
HOSTILE = (
    """</script></style><script>document.body.dataset.harm=1</script><img src=x onerror="document.body.dataset.harm=1">'"&"""
)


def png(width, height):
    """A white picture."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\xff" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Elements(HTMLParser):
    """All start tags with their attributes, and all text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data

    def of(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


# Rendering.

WIDE_ROW = tuple(Cell(f"{i}.5 (0.1 to 9.9)", i) for i in range(12))
LETTERS = ("b", "a", "c", "d", "e", "f")
NUMBERS = (Cell("ten", 10), Cell("2.0", 2), Cell("–"), Cell("words"), Cell("2.0 too", 2), Cell("-1", -1, "bad"))
SORTABLE = Table("Sortable", ("name", "n"), tuple(zip(map(Cell, LETTERS), NUMBERS, strict=True)), "a `note`")
VERDICTS = {"trustworthy": "good", "too wide": "fair", "too narrow": "bad", "ambiguous": "bad", "not checked": ""}
PAGE = Page(
    title="A title",
    subtitle="below it",
    summary=(
        *(Line("all is well.", "epinet", word, tone) for word, tone in VERDICTS.items()),
        Line("no lead"),
        Line("x" * 100),
    ),
    sections=(
        Section(
            "First", ("A paragraph.",), (SORTABLE,), (Picture("Wide", png(1500, 300), "seed 0"), Picture("Tall", png(30, 40)))
        ),
        Section("Second", tables=(Table("Big", ("row", *map(str, range(12))), ((Cell("method", mark="good"), *WIDE_ROW),)),)),
        Section("Third", ("folded-away",), (Table("", ("a",), ((Cell("b", mark="muted"),),)),), folded=True),
    ),
    facts={"Command": "`epinn run " + "poisson1d" * 20 + "`", "Seeds": "0"},
)


def test_everything_is_on_the_page():
    text = Elements(render(PAGE)).text
    for words in ("A title", "below it", "all is well.", "no lead", "A paragraph.", "Sortable", "2.0 too", "note", "seed 0"):
        assert words in text
    for words in ("First", "Second", "Third", "Big", "Wide", "Tall", "folded-away", "Command", "epinn run"):
        assert words in text


def test_a_page_may_be_empty():
    found = Elements(render(Page("Nothing", "", (), (), {})))
    assert not found.of("nav") + found.of("footer") + found.of("table")


def test_what_a_report_is_made_of_does_not_change():
    for part in (PAGE, PAGE.sections[0], SORTABLE, SORTABLE.rows[0][0], PAGE.sections[0].pictures[0]):
        with pytest.raises(dataclasses.FrozenInstanceError):
            part.title = part.text = "other"


def test_the_browser_is_told_to_load_nothing():
    assert f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">' in render(PAGE)


def test_nothing_points_out_of_the_page():
    page = render(PAGE)
    found = Elements(page)
    targets = [attributes[name] for _, attributes in found.tags for name in ("src", "href") if name in attributes]
    anchors = {f"#{attributes['id']}" for _, attributes in found.tags if "id" in attributes}
    assert len(targets) == 6
    assert all(target.startswith("data:") or target in anchors for target in targets)
    assert not re.search(r"https?:|url\(|@import|srcset|//\w", page)


def test_hostile_text_stays_text():
    page = Page(
        title=HOSTILE,
        subtitle=HOSTILE,
        summary=(Line(HOSTILE, HOSTILE, HOSTILE, HOSTILE), Line(f"`{HOSTILE}`")),
        sections=(
            Section(
                HOSTILE,
                (HOSTILE,),
                (Table(HOSTILE, (HOSTILE, HOSTILE), ((Cell(HOSTILE, 1.0, HOSTILE), Cell(HOSTILE)),), HOSTILE),),
                (Picture(HOSTILE, png(2, 2), HOSTILE),),
            ),
            Section(HOSTILE, folded=True),
        ),
        facts={HOSTILE: HOSTILE},
    )
    found = Elements(render(page))
    assert len(found.of("script")) == len(found.of("style")) == len(found.of("img")) == 1
    assert not [name for _, attributes in found.tags for name in attributes if name.startswith("on")]


def test_text_that_is_not_utf8_can_be_written():
    render(dataclasses.replace(PAGE, title="run-\udcff")).encode()


@pytest.mark.parametrize(
    ("value", "written"), [(None, None), (float("nan"), None), (2, "2.0"), (-1e-9, "-1e-09"), (float("-inf"), "-Infinity")]
)
def test_cells_carry_the_number_they_are_sorted_by(value, written):
    table = Table("", ("name", "n"), ((Cell("x"), Cell("text", value)),))
    assert Elements(render(Page("", "", (), (Section("", tables=(table,)),), {}))).of("td")[0].get("data-value") == written


def test_pictures_are_embedded_with_their_size():
    wide, tall = Elements(render(PAGE)).of("img")
    assert (wide["width"], wide["height"], tall["width"], tall["alt"]) == ("1500", "300", "30", "Tall")
    assert wide["src"].startswith("data:image/png;base64,iVBORw0KGgo")


# The page of a run.

RUN = {
    "epinn": "0.1.0",
    "problem": "poisson1d",
    "methods": ["epinet", "hmc"],
    "noise": 0.1,
    "seeds": [0, 1, 2],
    "preset": "fast",
    "settings": {"base.hidden": [32, 32], "points.sensors": None, "dropout.rate": 0.05},
    "command": "epinn compare poisson1d --noise 0.1 --seeds 3",
    "started": "2030-01-02T03:04:05+00:00",
    "ended": "2030-01-02T04:05:06+00:00",
    "versions": {"python": "3.12.1", "jax": "0.9.0"},
    "machine": {"system": "Linux x86_64", "device": "cpu", "platform": "cpu", "float64": False},
    "status": "finished",
}
DATA = {"channel": "data", "rows": 32, "noise": "known", "sigma": 0.1, "origin": "given by the user"}
EXACT = {"channel": "equation", "rows": 100, "noise": "exact", "sigma": 0.01, "origin": "tolerance"}


def record(method, seed, **changes):
    hmc = method == "hmc"
    return {
        "problem": "poisson1d",
        "method": method,
        "noise": 0.1,
        "seed": seed,
        "sharpness": 0.2 + 0.1 * seed,
        "coverage": 0.96,
        "rmse": 0.0123,
        "nll": -1.5,
        "crps": 0.004,
        "interval_score": 0.3,
        "time_s": 12.0,
        "time_uq_s": 3.0,
        "diagnostics": {"acceptance": 0.81, "rhat": 1.02, "ess": 250.4, "divergent": 0} if hmc else {},
        "channels": [channel | {"used": "sigma" if hmc else "loss weight 1"} for channel in (EXACT, DATA)],
        "failed": False,
        "warnings": [],
    } | changes


RECORDS = [record(method, seed) for method in RUN["methods"] for seed in RUN["seeds"]]


def inverse(method, seed, mean):
    return record(method, seed, unknowns={"kappa": {"mean": mean, "std": 0.012, "exact": 0.1}})


@pytest.fixture
def page_of(tmp_path):
    """The page of a run folder with these records; `records=None` leaves out metrics.json."""

    def make(records=RECORDS, pictures=(), **changes):
        (tmp_path / "run.json").write_text(json.dumps(RUN | changes))
        if records is not None:
            (tmp_path / "metrics.json").write_text(json.dumps({"records": records, "summary": {}}))
        for name in pictures:
            (tmp_path / name).write_bytes(png(3, 2))
        page = run_page(RunFolder(tmp_path))
        assert page.title in render(page)
        return page

    return make


def sections(page):
    return {section.title: section for section in page.sections}


def texts(table):
    """The rows as mappings from column to text."""
    return [{name: cell.text for name, cell in zip(table.columns, row, strict=True)} for row in table.rows]


def test_a_run_is_summed_up_in_a_line_per_method(page_of):
    page = page_of()
    assert (page.title, page.subtitle) == ("poisson1d, noise 0.1", "epinet, hmc · seeds 0 to 2")
    assert page.summary == tuple(
        Line("sharpness 0.300 (0.200 to 0.400), coverage 0.96, RMSE 0.0123.", f"{method}:") for method in ("epinet", "hmc")
    )


def test_the_inverse_problem_is_summed_up_by_its_unknowns(page_of):
    page = page_of([inverse("epinet", seed, 0.09 + 0.01 * seed) for seed in range(3)], methods=["epinet"])
    assert page.summary == (Line("kappa = 0.100 ± 0.012 (exact 0.1).", "epinet:"),)
    assert [row["kappa"] for row in texts(sections(page)["Every seed"].tables[0])] == [
        "0.090 ± 0.012",
        "0.100 ± 0.012",
        "0.110 ± 0.012",
    ]


def test_warnings_follow_their_method(page_of):
    warning = "the chains have not mixed (R-hat 2.00)."
    page = page_of([record("epinet", seed, warnings=[warning] * (seed > 0)) for seed in range(3)] + RECORDS[3:])
    assert page.summary[1] == Line(warning, "epinet, 2 of 3 seeds, such as seed 1:")
    assert page.summary[2].about == "hmc:"


GOOD = {"word": "trustworthy", "why": ["the truth is in the 95% band at 96% of the points"], "advice": []}
UNMIXED = "the chains have not mixed (R-hat of the field 2.00): do not trust this band; try more hmc.samples."
BAD = {
    "word": "not converged",
    "why": ["the chains have not mixed (R-hat of the field 2.00)"],
    "advice": ["do not trust this band; try more hmc.samples."],
}


def test_a_verdict_has_a_word_a_colour_and_reasons(page_of):
    page = page_of([record("epinet", 0, verdict=GOOD)], seeds=[0], methods=["epinet"])
    assert page.summary == (Line("The truth is in the 95% band at 96% of the points.", "epinet", "trustworthy", "good"),)
    (badge,) = Elements(render(page)).of("b")
    assert badge["class"] == "verdict good"


def test_the_verdicts_of_several_seeds_are_counted(page_of):
    records = [record("epinet", seed, verdict=BAD if seed == 1 else GOOD) for seed in range(3)]
    assert page_of(records, methods=["epinet"]).summary[0].text == (
        "in 2 of 3 seeds, not converged in 1. Seed 0: The truth is in the 95% band at 96% of the points."
    )


def test_each_thing_is_said_once(page_of):
    other = "its posterior was moved."
    page = page_of([record("hmc", 0, verdict=BAD, warnings=[UNMIXED, other])], seeds=[0], methods=["hmc"])
    assert page.summary == (
        Line(
            "The chains have not mixed (R-hat of the field 2.00). Do not trust this band; try more hmc.samples.",
            "hmc",
            "not converged",
            "bad",
        ),
        Line(other, "hmc:"),
    )
    assert Elements(render(page)).text.count("R-hat of the field") == 1


def test_with_one_seed_there_is_one_table_with_everything(page_of):
    page = page_of([record("hmc", 0)], seeds=[0], methods=["hmc"])
    assert "Every seed" not in sections(page)
    ours, published = texts(sections(page)["Results"].tables[0])
    assert (ours["sharpness"], ours["CRPS"], ours["ESS"]) == ("0.200", "0.00400", "250")
    assert (published["sharpness"], published["CRPS"]) == ("0.97", "-")


def test_every_field_has_its_row(page_of):
    metrics = {name: RECORDS[0][name] for name in ("sharpness", "coverage", "rmse", "nll", "crps", "interval_score")}
    fields = {"S": metrics, "I": metrics | {"rmse": 3.1e-5}}
    page = page_of([record("epinet", seed, fields=fields) for seed in range(3)], methods=["epinet"], problem="sir.py:sir")
    rows = texts(sections(page)["Results"].tables[0])
    assert [(row["method"], row["field"], row["RMSE"]) for row in rows] == [
        ("epinet", "S", "0.0123"),
        ("epinet", "I", "3.10e-05"),
    ]
    assert len(sections(page)["Every seed"].tables[0].rows) == 6


def test_the_title_is_the_name_that_the_problem_gives_itself(page_of):
    assert page_of(problem="/home/me/sir.py:problem").title == "sir.py:problem, noise 0.1"
    assert page_of(problem="/home/me/sir.py:problem", name="An epidemic").title == "An epidemic, noise 0.1"


def test_failed_seeds_are_named_and_left_out(page_of):
    page = page_of([record("epinet", 0), record("epinet", 1), record("epinet", 2, failed=True)], methods=["epinet"])
    assert page.summary == (
        Line("sharpness 0.250 (0.200 to 0.300), coverage 0.96, RMSE 0.0123.", "epinet:"),
        Line("seed 2 failed; left out of the table below.", "epinet:"),
    )
    assert [row["state"] for row in texts(sections(page)["Every seed"].tables[0])] == ["ok", "ok", "failed"]


def test_if_all_seeds_failed_it_says_so(page_of):
    page = page_of([record("epinet", seed, failed=True) for seed in range(3)], methods=["epinet"])
    assert page.summary[1] == Line("seeds 0 to 2 failed; there is no other.", "epinet:")


def test_an_unfinished_run_says_so_and_how_to_go_on(page_of, tmp_path):
    page = page_of(RECORDS[:2], status="interrupted")
    assert "interrupted" in page.summary[0].about
    assert f"`epinn resume {tmp_path}`" in page.summary[0].text
    assert page.summary[2] == Line("2 of 3 seeds so far.", "epinet:")
    assert page.summary[3] == Line("no results yet.", "hmc:")


@pytest.mark.parametrize("records", [None, []])
def test_a_run_without_results_has_a_page(page_of, records):
    page = page_of(records, status="running")
    assert len(page.summary) == 1
    assert "no results yet" in page.summary[0].text
    assert list(sections(page)) == ["Settings"]


def test_published_values_stand_beneath(page_of):
    table = sections(page_of())["Results"].tables[0]
    rows = texts(table)
    assert [row["method"] for row in rows] == ["epinet", "epinet, published", "hmc", "hmc, published"]
    assert (rows[1]["sharpness"], rows[1]["interval score"], rows[3]["RMSE"]) == ("0.23", "-", "0.0996")
    assert {cell.mark for cell in table.rows[1]} == {"muted"}


@pytest.mark.parametrize("changes", [{"problem": "/home/me/poisson.py:poisson1d"}, {"noise": None}, {"noise": 0.7}])
def test_published_values_are_of_the_same_problem_only(page_of, changes):
    assert len(sections(page_of(**changes))["Results"].tables[0].rows) == 2


def test_published_unknowns_stand_beneath(page_of):
    records = [inverse("epinet", seed, 0.1) for seed in range(3)]
    rows = texts(sections(page_of(records, problem="heat1d-inverse", methods=["epinet"]))["Results"].tables[0])
    assert [row["kappa"] for row in rows] == ["0.100 ± 0.012", "0.099 ± 0.012"]


def test_every_seed_has_its_row(page_of):
    rows = texts(sections(page_of())["Every seed"].tables[0])
    assert [(row["method"], row["seed"]) for row in rows] == [(m, str(s)) for m in ("epinet", "hmc") for s in range(3)]
    assert rows[0] == {
        "method": "epinet",
        "seed": "0",
        "state": "ok",
        "sharpness": "0.200",
        "coverage": "0.96",
        "RMSE": "0.0123",
        "interval score": "0.300",
        "time (s)": "12",
        "band alone (s)": "3.0",
        "NLL": "-1.50",
        "CRPS": "0.00400",
        "acceptance": "-",
        "R-hat": "-",
        "ESS": "-",
    }
    assert (rows[3]["acceptance"], rows[3]["R-hat"], rows[3]["ESS"]) == ("0.81", "1.020", "250")


def test_what_is_not_there_has_no_column(page_of):
    bare = dict.fromkeys(("coverage", "rmse", "nll", "crps", "interval_score"))
    page = page_of([record("epinet", seed, **bare) for seed in range(3)], methods=["epinet"])
    assert page.summary == (Line("sharpness 0.300 (0.200 to 0.400).", "epinet:"),)
    assert "RMSE" not in sections(page)["Every seed"].tables[0].columns


def test_narrow_bands_and_chains_that_have_not_mixed_are_marked(page_of):
    page = page_of([record("hmc", seed, coverage=0.5, diagnostics={"rhat": 1.4}) for seed in range(3)], methods=["hmc"])
    table = sections(page)["Every seed"].tables[0]
    assert [name for name, cell in zip(table.columns, table.rows[0], strict=True) if cell.mark == "bad"] == [
        "coverage",
        "R-hat",
    ]


def test_noise_is_told_once_for_all_seeds(page_of):
    rows = texts(sections(page_of())["Noise"].tables[0])
    assert [(row["method"], row["condition"], row["σ"], row["used"]) for row in rows] == [
        ("epinet", "equation", "0.0100", "loss weight 1"),
        ("epinet", "data", "0.100", "loss weight 1"),
        ("hmc", "equation", "0.0100", "sigma"),
        ("hmc", "data", "0.100", "sigma"),
    ]


def test_a_band_that_is_no_number_is_shown_as_missing(page_of):
    rows = texts(sections(page_of([record("hmc", 0, spread={"u": None}, noise_sd={"u": 0.1})]))["Noise"].tables[1])
    assert [(row.get("epistemic sd"), row["aleatoric sd"], row.get("together")) for row in rows] == [(None, "0.10", None)]


def test_inferred_noise_is_told_by_seed(page_of):
    unknown = DATA | {"noise": "unknown", "origin": "inferred", "used": "sigma"}
    records = [record("hmc", s, channels=[unknown | {"sigma": 0.1 + 0.01 * s}]) for s in range(3)]
    rows = texts(sections(page_of(records, methods=["hmc"]))["Noise"].tables[0])
    assert [(row["σ"], row["where σ is from"]) for row in rows] == [(s, "inferred") for s in ("0.100", "0.110", "0.120")]


def test_pictures_of_the_first_seed_are_shown_and_the_others_folded(page_of):
    names = ["field-seed10.png", "field-seed2.png", "field-seed0.png", "field_kappa-seed0.png", "my-seedling.png", ".field.png"]
    found = sections(page_of(pictures=names))
    assert [(p.title, p.caption) for p in found["Results"].pictures] == [
        ("Mean and band", "seed 0"),
        ("Mean and band of kappa", "seed 0"),
        ("my", "seed ling"),
    ]
    assert [picture.caption for picture in found["Pictures of the other seeds"].pictures] == ["seed 2", "seed 10"]
    assert found["Pictures of the other seeds"].folded


def test_settings_and_facts_say_how_to_repeat_it(page_of):
    page = page_of()
    assert texts(sections(page)["Settings"].tables[0]) == [
        {"setting": "base.hidden", "value": "32,32"},
        {"setting": "points.sensors", "value": "(its own default)"},
        {"setting": "dropout.rate", "value": "0.05"},
    ]
    assert page.facts == {
        "Command": "`epinn compare poisson1d --noise 0.1 --seeds 3`",
        "Problem": "poisson1d",
        "Seeds": "0 to 2",
        "Machine": "cpu, Linux x86_64, single precision",
        "Versions": "epinn 0.1.0, python 3.12.1, jax 0.9.0",
        "Date": "2030-01-02 03:04 to 2030-01-02 04:05 UTC",
    }


def test_a_finished_run_needs_its_metrics(page_of, rejects):
    with rejects("metrics.json"):
        page_of(None)


@pytest.mark.parametrize("name", ["run.json", "metrics.json"])
@pytest.mark.parametrize(
    "text",
    ["", "no json", "[]", "{}", "null", '{"records": 3}', '{"records": [1]}', '{"records": [{"method": "hmc"}]}', "[" * 99999],
)
def test_damaged_files_are_told_in_one_line(page_of, tmp_path, rejects, name, text):
    page_of()
    (tmp_path / name).write_text(text)
    with rejects(name):
        run_page(RunFolder(tmp_path))


@pytest.mark.parametrize(
    "changes",
    [{"rmse": "small"}, {"warnings": None}, {"channels": [{}]}, {"unknowns": {"k": 1}}, {"time_s": ["a\nb"]}],
)
def test_damaged_records_are_told_in_one_line(page_of, rejects, changes):
    with rejects("metrics.json"):
        page_of([record("epinet", 0, **changes)])


# In a browser.

MEASURE = """
const table = document.querySelector("table"), heads = [...table.tHead.rows[0].cells];
const shown = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent).join("");
const clicks = (head) => [1, 2, 3].map(() => (head.querySelector("button").click(), [shown(), head.ariaSort]));
const result = { before: shown(), names: clicks(heads[0]), numbers: clicks(heads[1]) };
heads[0].querySelector("button").click();
heads[1].querySelector("button").click();
result.other = heads.map((head) => head.ariaSort);
heads[1].querySelector("button").focus();
result.focus = document.activeElement.tagName;
result.reach = document.activeElement.tabIndex;
const folded = document.querySelector("details");
const states = [folded.open];
for (const name of ["beforeprint", "afterprint"]) {
  dispatchEvent(new Event(name));
  states.push(folded.open);
}
location.hash = "#" + folded.id;
dispatchEvent(new Event("hashchange"));
result.folded = [...states, folded.open];
result.loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
result.harm = document.body.dataset.harm;
result.pictures = [...document.images].map((image) => image.naturalWidth);

const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = (colour) =>
  channels(colour).slice(0, 3).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
function ground(element) {
  const colour = getComputedStyle(element).backgroundColor;
  return (channels(colour)[3] ?? 1) === 1 ? colour : ground(element.parentElement);
}
function contrast(element) {
  const [a, b] = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}
const all = [...document.querySelectorAll("h1, p, a, code, strong, b, li, th, td, dt, dd, button, figcaption")];
result.contrast = Math.min(...all.map(contrast));
result.page = light(getComputedStyle(document.documentElement).backgroundColor);
result.card = light(getComputedStyle(document.querySelector(".card")).backgroundColor);
document.body.dataset.result = JSON.stringify(result);
"""
PHONE = """
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
  const inside = frame.contentDocument, boxes = [...inside.querySelectorAll(".scroll")];
  for (const part of inside.querySelectorAll("details")) part.open = true;
  const result = {
    width: frame.contentWindow.innerWidth,
    visible: inside.documentElement.clientWidth,
    content: inside.documentElement.scrollWidth,
    scrolling: boxes.map((box) => box.scrollWidth > box.clientWidth),
  };
  document.body.dataset.result = JSON.stringify(result);
});
"""


@pytest.fixture(scope="module")
def bright(chromium):
    """What the script above finds in the light theme, with text that would like to do harm."""
    page = dataclasses.replace(
        PAGE, subtitle=HOSTILE, summary=(*PAGE.summary, Line(HOSTILE, HOSTILE)), facts={HOSTILE: HOSTILE}
    )
    return outcome(chromium(with_script(render(page), MEASURE), "--dump-dom"))


def test_a_click_on_a_column_sorts_up_then_down_then_as_it_was(bright):
    assert bright["before"] == "bacdef"
    assert bright["names"] == [["abcdef", "ascending"], ["fedcba", "descending"], ["bacdef", "none"]]


def test_numbers_are_sorted_as_numbers_before_words_before_what_is_missing(bright):
    assert bright["numbers"] == [["faebdc", "ascending"], ["baefdc", "descending"], ["bacdef", "none"]]


def test_one_column_at_a_time_is_sorted_by(bright):
    assert bright["other"] == ["none", "ascending"]


def test_columns_are_buttons_that_a_keyboard_reaches(bright):
    assert (bright["focus"], bright["reach"]) == ("BUTTON", 0)


def test_folded_parts_open_in_print_and_when_linked_to(bright):
    assert bright["folded"] == [False, True, False, True]


def test_the_page_loads_nothing_and_no_text_is_run(bright):
    assert bright["loaded"] == []
    assert "harm" not in bright
    assert bright["pictures"] == [1500, 30]


def test_the_light_theme_is_light_and_readable(bright):
    assert bright["contrast"] > 4.5
    assert bright["page"] > 0.9


def test_the_dark_theme_is_dark_and_readable_and_pictures_stay_on_white(chromium):
    found = outcome(chromium(with_script(render(PAGE), MEASURE), "--dump-dom", "--blink-settings=preferredColorScheme=0"))
    assert found["contrast"] > 4.5
    assert found["page"] < 0.05
    assert found["card"] == pytest.approx(1.0)


def test_on_a_phone_only_tables_scroll(chromium):
    frame = f'<iframe style="width: 360px; height: 700px; border: 0" srcdoc="{html.escape(render(PAGE))}"></iframe>'
    found = outcome(chromium(f"<!DOCTYPE html><body>{frame}<script>{PHONE}</script></body>", "--dump-dom"))
    assert found["width"] == 360
    assert found["content"] <= found["visible"]
    assert found["scrolling"] == [False, True, False]


def test_paper_shows_what_is_folded_and_no_arrows(chromium, tmp_path):
    reader = shutil.which("pdftotext")
    if reader is None:
        pytest.skip("there is no pdftotext; install Debian's poppler-utils to test the report on paper")
    chromium(render(PAGE), f"--print-to-pdf={tmp_path / 'page.pdf'}")
    text = subprocess.run([reader, tmp_path / "page.pdf", "-"], capture_output=True, check=True, encoding="utf-8").stdout
    assert "folded-away" in text
    assert not set(text) & set("↕↑↓")
