"""`epinn settings`."""

from typing import Annotated

import typer

from .listing import print_rows
from .options import Preset


def settings(preset: Preset = "fast", problem: Annotated[str, typer.Option(help="For this problem.")] = "") -> None:
    """List all settings that --set can change, with their values."""
    from ...judge.wording import setting
    from ..plan.presets import preset as settings_of

    print_rows((name, setting(value)) for name, value in settings_of(preset, problem).flat().items())
