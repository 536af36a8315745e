"""Where a problem comes from: a shipped name, or a file of the user's own, `path/to/file.toml` or `path/to/file.py:name`."""

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ...errors import EpinnError, InputError, unknown_name
from ...problem.problem import Problem
from ...problems import SHIPPED
from .toml.document import read_document


@dataclass(frozen=True)
class Source:
    """Makes the problem of a seed. `content` is a Problem, or a function that takes some of noise, key and point settings."""

    name: str
    content: Problem | Callable[..., Problem]
    spec: str  # how to find it again, from anywhere
    fingerprint: str = ""  # of the user's file, to notice when it changes
    notes: tuple[str, ...] = ()  # what was left out of the user's files

    def default_noise(self) -> float | None:
        """The noise level when none is asked for; None for a problem that has no such notion."""
        if isinstance(self.content, Problem) or "noise" not in inspect.signature(self.content).parameters:
            return None
        default = inspect.signature(self.content).parameters["noise"].default
        return 0.0 if default is inspect.Parameter.empty else float(default)

    def make(self, noise: float | None, seed: int, points: Mapping[str, Any]) -> Problem:
        """The problem with the data of a seed; `points` changes numbers of points by name."""
        wanted = {name: value for name, value in points.items() if value is not None}
        if isinstance(self.content, Problem):
            if noise is not None:
                raise InputError(f"{self.name} brings its own data, so --noise has no meaning for it; leave it out.")
            return _with_points(self.content, wanted, self.name)
        accepted = inspect.signature(self.content).parameters
        if noise is not None and "noise" not in accepted:
            raise InputError(f"the function {self.name} takes no noise; leave --noise out, or give it a parameter noise.")
        offered = {"noise": noise, "key": seed, **wanted}
        arguments = {name: value for name, value in offered.items() if name in accepted and value is not None}
        try:
            problem = self.content(**arguments)
        except EpinnError:
            raise
        except Exception as error:
            raise InputError(f"the function {self.name} failed: {type(error).__name__}: {_first_line(error)}") from None
        if not isinstance(problem, Problem):
            raise InputError(f"{self.name} returned {type(problem).__name__}, not an epinn.Problem.")
        rest = {name: value for name, value in wanted.items() if name not in accepted}
        return _with_points(problem, rest, self.name)


def find(spec: str) -> Source:
    """The source named on the command line."""
    if spec in SHIPPED:
        return Source(spec, SHIPPED[spec], spec)
    if spec.endswith(".toml"):
        document = read_document(Path(spec))
        return Source(Path(spec).stem, document.problem, str(Path(spec).resolve()), document.fingerprint, document.notes)
    path, _, name = (spec, "", "") if spec.endswith(".py") else spec.rpartition(":")
    if not path.endswith(".py"):
        raise InputError(f"{unknown_name('problem', spec, SHIPPED)} Your own is path/to/file.toml or path/to/file.py:name.")
    content = _load(Path(path), name)
    spec = f"{Path(path).resolve()}{name and ':' + name}"
    return Source(name or Path(path).stem, content, spec, hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16])


def _load(path: Path, name: str) -> Any:
    module = execute_file(path)
    known = {key: value for key, value in vars(module).items() if not key.startswith("_") and _is_problem(value, path)}
    if not name:
        only = [key for key, value in known.items() if isinstance(value, Problem)]
        if len(only) != 1:
            raise InputError(f"say which problem of {path} is meant, as in {path}:{next(iter(known), 'problem')}.")
        name = only[0]
    if name not in known and not name.startswith("_") and hasattr(module, name):
        what = type(getattr(module, name)).__name__
        raise InputError(f"{name} in {path} is of type {what}; make it an epinn.Problem, or a function that returns one.")
    if name not in known:
        raise unknown_name(f"problem in {path} called", name, known)
    return known[name]


def execute_file(path: Path) -> ModuleType:
    """The user's file as a module; its own failure is told with its line."""
    if not path.is_file():
        raise InputError(f"there is no file {path}.")
    module_spec = importlib.util.spec_from_file_location(f"epinn_user_{path.stem}", path.resolve())
    if module_spec is None or module_spec.loader is None:
        raise InputError(f"{path} cannot be loaded as Python.")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[module_spec.name] = module  # dataclasses of the file look themselves up there
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InputError(f"{path}{_line_in(path, error)}: {type(error).__name__}: {_first_line(error)}") from None
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
    return module


def _is_problem(value: Any, path: Path) -> bool:
    if isinstance(value, Problem):
        return True
    return inspect.isfunction(value) and value.__code__.co_filename == str(path.resolve())


def _line_in(path: Path, error: BaseException) -> str:
    """`, line 7`, where the user's own file failed."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path.resolve())]
    return f", line {lines[-1]}" if lines else ""


def _first_line(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return error.msg
    return (str(error).strip().splitlines() or [""])[0]


def _with_points(problem: Problem, changes: Mapping[str, Any], name: str) -> Problem:
    if "sensors" in changes:
        raise InputError(f"{name} brings its own data, so points.sensors has no meaning for it.")
    return problem.with_points(**changes) if changes else problem
