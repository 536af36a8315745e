"""`epinn report`."""

import pytest
from command_line import good

pytestmark = pytest.mark.slow


def test_a_run_leaves_a_page_and_the_command_writes_it_again(single):
    page = single[1] / "report.html"
    before = page.read_text()
    assert "poisson1d" in before
    page.unlink()
    good("report", str(single[1]), cwd=single[1].parent)
    assert page.read_text() == before
