"""What the package says of itself is the same everywhere."""

import re
import tomllib
from pathlib import Path

import epinn

ROOT = Path(__file__).parent.parent


def test_the_version_is_the_same_in_citation_changelog_and_pages():
    assert f"\nversion: {epinn.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changes, re.MULTILINE)[1] == epinn.__version__
    assert f"epinn {epinn.__version__}," in (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")


def test_metadata_is_complete():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["authors"]
    assert {"name", "description", "readme", "license", "requires-python", "keywords", "classifiers"} <= set(project)
    for minor in (11, 12, 13):
        assert f"Programming Language :: Python :: 3.{minor}" in project["classifiers"]
