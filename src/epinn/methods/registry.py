"""All methods by name. A new one is a new file with a `Method`, and a line in `bands.py`."""

from collections.abc import Mapping

from ..errors import InputError, shown
from .bands import BANDS, changed, named
from .conformal import ConformalMethod
from .method import Method

_FIRST = ("epinet", "laplace", "ensemble")  # what to try first comes first in lists; conformal scales one of these
METHODS: dict[str, type[Method]] = {
    **{name: BANDS[name] for name in _FIRST},
    ConformalMethod.name: ConformalMethod,
    **{name: method for name, method in BANDS.items() if name not in _FIRST},
}


def configured(method: str | Method, settings: Mapping[str, object] | None = None) -> Method:
    """A method by name, or as it is, with some settings changed: `configured("hmc", {"samples": 1000})`."""
    if isinstance(method, str):
        method = named(method, METHODS)
    if not isinstance(method, Method):
        raise InputError(f"a method is a name ({', '.join(METHODS)}) or one of epinn's methods, not {shown(method)}.")
    if not isinstance(settings, Mapping | None):
        raise InputError(f"settings are values by name, as in settings={{'samples': 1000}}, not {shown(settings)}.")
    return changed(method, settings or {})
