"""The site: it builds without warnings, links lead somewhere, and pages open in a browser without complaints or a network."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

ROOT = Path(__file__).parent.parent.parent
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-sync "
    "--disable-component-update --enable-logging=stderr --virtual-time-budget=3000 --dump-dom"
)
KINDS = ("index.html", "results/suite/index.html")  # cards, tables that sort; all others are in the slow test
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class Page(HTMLParser):
    """The links of a page, what it loads, and its anchors."""

    def __init__(self, path: Path):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif (tag in LOADS and attributes.get(LOADS[tag])) and attributes.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(attributes[LOADS[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site with its tutorials not run."""
    pytest.importorskip("zensical", reason="the site's packages are not installed")
    folder = tmp_path_factory.mktemp("website")
    command = [sys.executable, "-m", "website", "--no-run", "--out", str(folder)]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site):
    return {path.resolve(): Page(path) for path in sorted(site.rglob("*.html")) if path.name not in ("report.html", "404.html")}


def test_there_is_a_page_for_every_markdown_file_and_tutorial(site):
    for page in (ROOT / "docs").rglob("*.md"):
        if page.name == "notes.md":  # part of a page that is made elsewhere
            continue
        named = page.relative_to(ROOT / "docs").with_suffix(".html")
        assert (site / named.parent / ("index.html" if page.stem == "README" else named.name)).exists(), page
    for tutorial in (ROOT / "docs" / "tutorials").glob("*.py"):
        assert (site / "tutorials" / f"{tutorial.stem}.html").exists(), tutorial
        assert (site / "tutorials" / f"{tutorial.stem}.ipynb").exists(), tutorial


def test_every_link_within_the_site_leads_somewhere(pages):
    dead = []
    for path, page in pages.items():
        for link in [*page.links, *page.loads]:
            if urlsplit(link).scheme:
                continue
            file, anchor = urldefrag(link)
            target = (path.parent / unquote(urlsplit(file).path)).resolve() if file else path
            target = target / "index.html" if target.is_dir() else target
            known = target not in pages or unquote(anchor) in pages[target].anchors
            if not target.exists() or (anchor and not known and not anchor.startswith("__")):
                dead.append(f"{path.name}: {link}")
    assert not dead


def test_pages_load_nothing_from_elsewhere(pages):
    assert [url for page in pages.values() for url in page.loads if urlsplit(url).netloc] == []


def test_the_reference_has_every_public_name(site):
    import epinn

    said = "".join(path.read_text(encoding="utf-8") for path in (site / "reference").glob("*.html"))
    text = re.sub(r"<[^>]*>", "", said)
    missing = [name for name in epinn.__all__ if name not in ("problems", "Posterior") and not re.search(rf"\b{name}\b", text)]
    assert not missing


@pytest.fixture(scope="module")
def opened(site, tmp_path_factory):
    """Opens a page in a browser; returns the page as it then is, and what the console said."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no chromium; install Debian's chromium to test the site in a browser")

    def run(page):
        profile = f"--user-data-dir={tmp_path_factory.mktemp('browser')}"
        command = [program, *FLAGS.split(), profile, (site / page).as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, encoding="utf-8")
        return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]

    return run


@pytest.mark.parametrize("page", KINDS)
def test_a_page_opens_without_complaints(opened, page):
    dom, console = opened(page)
    assert not console
    assert "md-content" in dom
    assert ("<button" in dom.split("<table")[1]) if "suite" in page else True


@pytest.mark.slow
def test_all_pages_open_without_complaints(opened, site, pages):
    others = [path.relative_to(site.resolve()) for path in pages]
    complaints = {str(page): console for page in others if str(page) not in KINDS and (console := opened(page)[1])}
    assert not complaints
