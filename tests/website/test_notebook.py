"""Tutorials: what of a notebook is on its page, and when it is run again."""

import base64
import json
from types import SimpleNamespace

import pytest

from website import notebook
from website.notebook import WHITE_PIXEL, digest, markdown

PIXEL = base64.b64decode(WHITE_PIXEL)


def text(source):
    return SimpleNamespace(cell_type="markdown", source=source)


class Cell(dict):
    """A code cell as nbformat has them: a dictionary with attributes."""

    cell_type = "code"
    __getattr__ = dict.__getitem__


def code(source, *outputs, tags=()):
    return Cell(source=source, outputs=[Cell(output) for output in outputs], metadata={"tags": list(tags)})


def figure():
    return {"output_type": "display_data", "data": {"image/png": WHITE_PIXEL, "text/plain": "<Figure>"}}


def printed(said, name="stdout"):
    return {"output_type": "stream", "name": name, "text": said}


def page(*cells):
    figures = {}
    return markdown(SimpleNamespace(cells=list(cells)), "fin", figures), figures


def test_the_figure_of_the_tagged_cell_opens_the_page_and_stays_in_its_place():
    made, figures = page(text("# Fin"), code("1"), code("# A fin\nplot()", figure(), tags=["first"]), text("The end."))
    assert made.startswith("# Fin\n\n![A fin](fin.png)\n\n```python\n1\n```")
    assert made.count("![A fin](fin.png)") == 2
    assert figures == {"fin.png": PIXEL}


def test_what_was_printed_is_shown_and_warnings_are_not():
    made, _ = page(
        text("# Fin"), code("fit()", printed("T \x1b[1m300\x1b[0m K\n"), printed("careful", "stderr"), printed("done\n"))
    )
    assert "T 300 K\ndone\n```" in made
    assert "careful" not in made


def test_several_figures_have_names_of_their_own():
    made, figures = page(text("# Fin"), code("a", figure()), code("b", figure(), figure()))
    assert len(figures) == 3
    assert all(f"({name})" in made for name in figures)


@pytest.fixture
def tutorial(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "a.py").write_text("x = 1")
    (tmp_path / "pages").mkdir()
    path = tmp_path / "pages" / "fin.py"
    path.write_text("# %%\n1  # fin.csv")
    return path


def test_code_data_and_package_ask_for_another_run_and_text_does_not(tutorial):
    package = tutorial.parent.parent / "package"

    def found(*cells):
        return digest(SimpleNamespace(cells=cells), tutorial, package)

    before = found(text("a"), code("1"))
    assert found(text("b"), code("1")) == before
    assert found(text("a"), code("2")) != before
    (tutorial.parent / "fin.csv").write_text("1")
    with_data = found(text("a"), code("1"))
    assert with_data != before
    (package / "a.py").write_text("x = 2")
    assert found(text("a"), code("1")) not in (before, with_data)


def test_a_tutorial_is_run_once(tutorial, monkeypatch):
    pytest.importorskip("jupytext", reason="the site's packages are not installed (make docs)")
    runs = []

    def execute(made, folder, programs):
        runs.append(folder)
        for cell in made.cells:
            cell.outputs = [Cell(printed("one"))]

    monkeypatch.setattr(notebook, "execute", execute)
    package, cache, made = (tutorial.parent.parent / name for name in ("package", "cache", "made"))
    made.mkdir()
    for _ in range(2):
        notebook.write_page(tutorial, package, cache, made)
    assert len(runs) == 1
    assert "one\n```" in (made / "fin.md").read_text()
    assert json.loads((made / "fin.ipynb").read_text())["cells"]
