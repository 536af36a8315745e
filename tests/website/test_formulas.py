"""Formulas in pages become MathML; what is code stays as it is."""

import pytest

pytest.importorskip("latex2mathml", reason="the site's packages are not installed (make docs)")

from website.formulas import with_formulas


def test_formulas_in_a_line_and_on_their_own_are_mathml():
    page = with_formulas("with $u_x$ in it\n\n$$ r = \\frac{a}{b} $$\n")
    assert page.count("<math") == 2
    assert "<mfrac>" in page
    assert 'display="block"' in page
    assert "$" not in page


@pytest.mark.parametrize(
    "text",
    ["`$HOME`", "```\necho $A and $B\n```", "costs $5 or so", "    indented $code$ here", 'run -v "$PWD:/data" and "$X"'],
)
def test_code_and_money_are_left_alone(text):
    assert with_formulas(text) == text
