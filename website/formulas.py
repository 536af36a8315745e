"""Formulas become MathML while the site is made, so that a page needs no script and no fonts from elsewhere."""

import re

CODE = re.compile(r"(^ *```.*?^ *```|^(?: {4}|\t)[^\n]*$|`+[^`\n]+`+)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![\w$])")


def with_formulas(text: str) -> str:
    """Markdown in which `$...$` and `$$...$$` outside of code are MathML."""
    return "".join(part if i % 2 else _converted(part) for i, part in enumerate(CODE.split(text)))


def _converted(text: str) -> str:
    text = BLOCK.sub(lambda found: f"\n\n{_mathml(found[1], 'block')}\n\n", text)
    return INLINE.sub(lambda found: _mathml(found[1], "inline"), text)


def _mathml(latex: str, display: str) -> str:
    from latex2mathml.converter import convert

    return str(convert(latex.strip(), display=display)).replace("\n", "")
