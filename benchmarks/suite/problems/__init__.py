"""All cases of the suite, by name: every module of this folder has one, `CASE`, and is called by its name."""

from importlib import import_module
from pkgutil import iter_modules

from ..case import Case


def _case(module: str) -> Case:
    case = import_module(f"{__name__}.{module}").CASE
    if case.name != module:
        raise ValueError(f"{module}.py has a case of another name, {case.name!r}")
    return case


CASES: dict[str, Case] = {module.name: _case(module.name) for module in iter_modules(__path__)}
