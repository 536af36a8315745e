"""A tutorial: a Python file in jupytext's percent format, run once and turned into a page of Markdown with its figures."""

import base64
import copy
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SETUP = """%config InlineBackend.figure_formats = ['png']
%config InlineBackend.print_figure_kwargs = {'dpi': 130, 'bbox_inches': 'tight'}"""
LIMIT = 900  # seconds for one cell
FIRST = "first"  # the tag of the cell whose figure opens the page
WHITE_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=="
LEFT_OUT = re.compile(r"\x1b\[[0-9;]*m")  # colours of a terminal


def digest(notebook: Any, tutorial: Path, package: Path) -> str:
    """Of all that the outputs of a tutorial depend on: its code, the files beside it, and the package that it runs."""
    found = hashlib.sha256("\0".join(cell.source for cell in notebook.cells if cell.cell_type == "code").encode())
    for path in [*_data(tutorial), *sorted(package.rglob("*.py"))]:
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def _data(tutorial: Path) -> list[Path]:
    """The files beside a tutorial that it names."""
    text = tutorial.read_text(encoding="utf-8")
    beside = [path for path in sorted(tutorial.parent.iterdir()) if path.is_file() and path.suffix not in (".py", ".md")]
    return [path for path in beside if path.name in text]


def write_page(tutorial: Path, package: Path, cache: Path, folder: Path, *, run: bool = True) -> None:
    """Write the page (`NAME.md`), the notebook (`NAME.ipynb`) and the figures of a tutorial into a folder.

    What a tutorial gave is kept in `cache`, and it is run again only if something that it depends on has changed.
    """
    notebook = finished(tutorial, package, cache) if run else read(tutorial)
    figures = {} if run else {f"{tutorial.stem}.png": base64.b64decode(WHITE_PIXEL)}
    text = markdown(notebook, tutorial.stem, figures)
    for name, content in figures.items():
        (folder / name).write_bytes(content)
    (folder / f"{tutorial.stem}.md").write_text(text, encoding="utf-8")
    (folder / f"{tutorial.stem}.ipynb").write_text(json.dumps(notebook, indent=1), encoding="utf-8")


def finished(tutorial: Path, package: Path, cache: Path) -> Any:
    """The notebook with its outputs, from the cache if nothing that they depend on has changed; its text may have."""
    import nbformat

    notebook = read(tutorial)
    kept = cache / f"{tutorial.stem}-{digest(notebook, tutorial, package)}.ipynb"
    if not kept.exists():
        print(f"running {tutorial.name}", flush=True)
        fresh = copy.deepcopy(notebook)
        with tempfile.TemporaryDirectory() as place:
            for path in _data(tutorial):
                shutil.copy(path, place)
            execute(fresh, Path(place), cache / "programs")
        cache.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(fresh, indent=1), encoding="utf-8")
    done = [cell for cell in nbformat.read(kept, as_version=4).cells if cell.cell_type == "code"]
    for cell, with_outputs in zip((cell for cell in notebook.cells if cell.cell_type == "code"), done, strict=True):
        cell.outputs, cell.execution_count = with_outputs.outputs, with_outputs.execution_count
    return notebook


def read(tutorial: Path) -> Any:
    import jupytext

    return jupytext.read(tutorial, fmt="py:percent")


def execute(notebook: Any, folder: Path, programs: Path) -> None:
    """Run all cells in a fresh kernel, with the folder as the working directory; an error ends the build.

    Compiled programs are kept in `programs`: most of the time of small problems is compilation.
    """
    import nbformat
    from nbclient import NotebookClient
    from traitlets.config import Config

    commands = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # `!epinn` is that of this environment
    local = Config({"KernelManager": {"transport": "ipc", "ip": str(folder / "kernel")}})  # no port that others listen to
    notebook.cells.insert(0, nbformat.v4.new_code_cell(SETUP))
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    place = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=LIMIT, resources=place, config=local)
    inline = {"PATH": commands, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    kept = {"JAX_COMPILATION_CACHE_DIR": str(programs), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1"}
    client.execute(env={**os.environ, **inline, **kept})
    del notebook.cells[0]


def markdown(notebook: Any, name: str, figures: dict[str, bytes]) -> str:
    """The page: text as it is, code, then what it printed and drew; the figure of the cell tagged `first` also opens it."""
    parts: list[str] = []
    opening = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        first = FIRST in cell.metadata.get("tags", ())
        shown = list(_outputs(cell, name if first else f"{name}-{len(figures) + 1}", figures))
        if first:
            opening = next((text for text in shown if text.startswith("![")), "")
        parts += [f"```python\n{cell.source}\n```", *shown]
    where = f"[The notebook]({name}.ipynb) and [its text]({name}.py), to run it yourself."
    return "\n\n".join([parts[0], *([opening] if opening else []), *parts[1:], where]) + "\n"


def _outputs(cell: Any, stem: str, figures: dict[str, bytes]) -> Iterator[str]:
    number, said = 0, ""
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        if output.output_type == "stream":
            said += output.text if output.name == "stdout" else ""  # in pieces, as it was printed
            continue
        if said:
            yield _printed(said)
            said = ""
        if "image/png" in data:
            number += 1
            figure = f"{stem}.png" if number == 1 else f"{stem}-{number}.png"
            figures[figure] = base64.b64decode(data["image/png"])
            yield f"![{_caption(cell.source)}]({figure})"
        elif "text/plain" in data:
            yield _printed(data["text/plain"])
    if said:
        yield _printed(said)


def _printed(text: str) -> str:
    return f'```text title="Output"\n{LEFT_OUT.sub("", text).rstrip()}\n```'


def _caption(source: str) -> str:
    """What the first comment of the code says, for those who do not see the figure."""
    first = source.lstrip().splitlines()[0] if source.strip() else ""
    return first.removeprefix("#").strip() if first.startswith("#") else "Figure"
