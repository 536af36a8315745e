"""Where a network comes from on the command line: a file, or a variable in a Python file of the user's."""

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ...errors import InputError, unknown_name
from ...interop.adopt import adopt, convert, opened
from ...interop.network.check import is_double
from ...problem.problem import Problem
from ...solve.config import Base
from ...solve.pinn import Pinn
from .plain import parse_json
from .source import execute_file
from .vocabulary import for_command_line


@dataclass(frozen=True)
class Origin:
    """All that is needed to find a network again, from anywhere.

    `unknowns` are the values of the problem's unknown parameters that the network was trained with. `fingerprint` tells
    whether its file has changed.
    """

    model: str
    architecture: str | None = None
    features: str | None = None
    trust_file: bool = False
    unknowns: Mapping[str, float] = field(default_factory=dict, hash=False)
    fingerprint: str = ""

    @classmethod
    def find(
        cls,
        model: str,
        architecture: str | None = None,
        features: str | None = None,
        trust_file: bool = False,
        unknowns: Mapping[str, float] | None = None,
    ) -> "Origin":
        """The origin of a network: the path of a file, or `path/to/file.py:variable`."""
        path, name = _split(model)
        if not path.is_file():
            raise InputError(f"there is no file {path}.")
        content = path.read_bytes()
        if _is_json(content):
            raise InputError(f"{path} holds JSON; a network is an .onnx, .safetensors or state-dict file, or file.py:variable.")
        fingerprint = hashlib.sha256(content).hexdigest()[:16]
        architecture = _resolved(architecture) if architecture and _split(architecture)[1] else architecture
        place = f"{path.resolve()}{name and ':' + name}"
        return cls(place, architecture, features, trust_file, dict(unknowns or {}), fingerprint)

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> "Origin":
        """The origin that `describe` described, if its file is still what it was."""
        found = cls(**description)
        again = cls.find(found.model, found.architecture, found.features, found.trust_file, found.unknowns)
        if again != found:
            raise InputError(f"{found.model} has changed since this run began; start a new run for it.")
        return found

    def describe(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def name(self) -> str:
        path, name = _split(self.model)
        return name or path.stem

    def pinn(self, problem: Problem, base: Base) -> Pinn:
        """The network as a base PINN of a problem."""
        pinn = adopt(_content(self), problem, features=self.features, unknowns=self.unknowns, base=base)
        return replace(pinn, warnings=[for_command_line(text) for text in pinn.warnings])

    def is_double(self, problem: Problem) -> bool:
        """Whether its weights are in double precision."""
        made = convert(_content(self), problem)
        return is_double(made.parameters if hasattr(made, "parameters") else made)


@functools.lru_cache(maxsize=1)
def _content(origin: Origin) -> Any:
    """The object that the origin names, which may take long to make."""
    path, name = _split(origin.model)
    if name:
        if origin.trust_file or origin.architecture is not None:
            raise InputError("--architecture and --trust-file are for files with networks, not for variables in Python files.")
        return _variable(path, name)
    architecture: Any = origin.architecture
    if architecture is not None and _split(architecture)[1]:
        architecture = _variable(*_split(architecture))
    return opened(path, architecture, origin.trust_file)


def _split(text: str) -> tuple[Path, str]:
    """File and variable; a file that is no Python file has none."""
    path, _, name = text.rpartition(":")
    if path.endswith(".py"):
        return Path(path), name
    if text.endswith(".py"):
        raise InputError(f"say which variable of {text} is the network, as in {text}:model.")
    return Path(text), ""


def _is_json(content: bytes) -> bool:
    """Whether a file is JSON text, which holds no network that can be read; safetensors only have a header of it."""
    if content.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        parse_json(content.decode())
    except ValueError:
        return False
    return True


def _resolved(text: str) -> str:
    path, name = _split(text)
    return f"{path.resolve()}:{name}"


def _variable(path: Path, name: str) -> Any:
    known = {key: value for key, value in vars(execute_file(path)).items() if not key.startswith("_")}
    if name not in known:
        raise unknown_name(f"variable in {path} called", name, known)
    return known[name]
