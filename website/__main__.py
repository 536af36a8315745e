"""Make the site: `python -m website` runs the tutorials (those that have changed) and builds `build/website/site`.

`--no-run` shows the code of the tutorials without running it: for those who work on the pages, and for tests.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .formulas import with_formulas
from .notebook import write_page

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "website"
BESIDE = ("examples", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE")  # what pages link to outside of docs/
SHIM = re.compile(r'https://[^"]*/iframe-worker/shim')  # by which search works in a page that is opened as a file
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
OUTSIDE = re.compile(r"\]\((?:\.\./)+(" + "|".join(map(re.escape, BESIDE)) + r")")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m website", description=__doc__)
    parser.add_argument("--no-run", action="store_true", help="show the code of the tutorials without running it")
    parser.add_argument("--out", type=Path, default=BUILD, help="the folder for sources, cache and site (default: %(default)s)")
    arguments = parser.parse_args()
    site = build(arguments.out, run=not arguments.no_run)
    print(f"open {site / 'index.html'}")


def build(folder: Path, *, run: bool) -> Path:
    """The site in `folder/site`, by way of `folder/docs`, where every page is plain Markdown."""
    stage(folder, run=run)
    configuration = (ROOT / "website" / "zensical.toml").read_text(encoding="utf-8")
    (folder / "zensical.toml").write_text(configuration.replace("PACKAGE", (ROOT / "src").as_posix()), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(folder / "zensical.toml")]
    finished = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)  # noqa: S603  (our own words)
    if finished.returncode:
        sys.exit(f"{COLOURS.sub('', finished.stdout + finished.stderr)}\nthe site has warnings; see above.")
    for page in (folder / "site").rglob("*.html"):
        _without_network(page, "../" * (len(page.relative_to(folder / "site").parts) - 1))
    return folder / "site"


def _without_network(page: Path, root: str) -> None:
    """Let a page load the one script that the generator would fetch from elsewhere from its own folder."""
    text = page.read_text(encoding="utf-8")
    page.write_text(SHIM.sub(f"{root}assets/iframe-worker.js", text), encoding="utf-8")


def stage(folder: Path, *, run: bool) -> None:
    """Everything that the generator reads, in one folder: pages, results, tutorials with their outputs, what they link to."""
    pages = folder / "docs"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.rmtree(folder / "site", ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("__pycache__", "notes.md"))
    shutil.copytree(ROOT / "website" / "assets", pages / "assets", dirs_exist_ok=True)
    for tutorial in sorted((ROOT / "docs" / "tutorials").glob("*.py")):
        write_page(tutorial, ROOT / "src" / "epinn", folder / "notebooks", pages / "tutorials", run=run)
    for name in BESIDE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, pages / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, pages / name)
    for page in pages.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        depth = len(page.relative_to(pages).parts) - 1
        text = OUTSIDE.sub(lambda found, up="../" * depth: f"]({up}{found[1]}", text).replace("](docs/", "](")
        page.write_text(with_formulas(text), encoding="utf-8")


if __name__ == "__main__":
    main()
