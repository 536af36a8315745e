"""Chromium for the tests of pages; they are left out where there is none."""

import shutil
import subprocess

import pytest
from browser import FLAGS


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """Opens a page in a browser; returns what it printed."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("there is no chromium; install Debian's chromium to test the report in a browser")

    def run(page, *flags):
        folder = tmp_path_factory.mktemp("browser")
        (folder / "page.html").write_text(page, encoding="utf-8")
        command = [program, *FLAGS.split(), f"--user-data-dir={folder / 'profile'}", *flags, (folder / "page.html").as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, encoding="utf-8").stdout

    return run
