"""A page in a browser: what a script finds in it. The fixture `chromium` is in tests/app/report/conftest.py."""

import html
import json
import re

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --virtual-time-budget=3000"
)


def outcome(dom):
    """What a script has left in `document.body.dataset.result`, from the page as --dump-dom prints it."""
    return json.loads(html.unescape(re.search(r'data-result="([^"]*)"', dom)[1]))


def with_script(page, script):
    """The page with a script of its own at the end."""
    return page.replace("</body>", f"<script>{{{script}}}</script></body>")
