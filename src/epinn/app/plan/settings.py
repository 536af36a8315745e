"""All settings by dotted name (`base.epochs`, `epinet.alpha`): their defaults, and changes given as text."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...derivatives.memory import GIBIBYTES
from ...errors import InputError, shown, unknown_name
from ...methods import METHODS
from ...methods.method import Method
from ...posterior.posterior import DRAWS
from ...solve.config import Base
from ...solve.optimise.adam import Weights


@dataclass(frozen=True)
class PointSettings:
    """Numbers and kinds of points; None leaves each to the problem. A share of the measurements may be `held_out`: they are not
    trained on, but judge the band."""

    collocation: int | None = None
    sensors: int | None = None
    boundary: int | None = None
    sampling: str | None = None
    resample: int | None = None
    held_out: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.held_out < 1:
            raise InputError("points.held_out is a share of the measurements, from 0 to less than 1.")
        for name in ("collocation", "sensors", "boundary"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise InputError(f"points.{name} must be at least 1, not {number}.")


@dataclass(frozen=True)
class PredictSettings:
    """How many functions are drawn for means and bands."""

    draws: int = DRAWS


@dataclass(frozen=True)
class ComputeSettings:
    """`memory`: gibibytes that a computation may use at once; what would need more is done in chunks. `checkpoint`: seconds
    between two states that are kept of long work."""

    memory: float = GIBIBYTES
    checkpoint: float = 30.0

    def __post_init__(self) -> None:
        if not self.memory > 0:
            raise InputError("compute.memory must be a positive number of gibibytes.")


@dataclass(frozen=True)
class Settings:
    """Every group of settings; the methods' groups are named after the methods."""

    base: Base
    weights: Weights
    points: PointSettings
    predict: PredictSettings
    compute: ComputeSettings
    methods: Mapping[str, Method]

    def groups(self) -> dict[str, Any]:
        return {
            "base": self.base,
            "weights": self.weights,
            "points": self.points,
            "predict": self.predict,
            "compute": self.compute,
            **self.methods,
        }

    def flat(self) -> dict[str, Any]:
        """All values by dotted name; the prior of a method that has none of its own is that of the base."""
        found = {
            f"{group}.{field.name}": getattr(values, field.name)
            for group, values in self.groups().items()
            for field in dataclasses.fields(values)
        }
        return {
            name: self.base.prior if name.endswith(".prior_sd") and value is None else value for name, value in found.items()
        }

    def changed(self, changes: Mapping[str, Any]) -> "Settings":
        """These settings with others by dotted name; text is read as the setting's type."""
        groups = self.groups()
        per_group: dict[str, dict[str, Any]] = {}
        for dotted, value in changes.items():
            if dotted not in self.flat():
                raise unknown_name("setting", dotted, self.flat())
            group, name = dotted.split(".")
            kind = typing.get_type_hints(type(groups[group]))[name]
            per_group.setdefault(group, {})[name] = _read(value, kind, dotted) if isinstance(value, str) else value
        groups |= {group: _replace(groups[group], values, group) for group, values in per_group.items()}
        return Settings(
            groups["base"],
            groups["weights"],
            groups["points"],
            groups["predict"],
            groups["compute"],
            {name: groups[name] for name in self.methods},
        )


def defaults() -> Settings:
    """Every setting at its default."""
    groups = Base(), Weights(), PointSettings(), PredictSettings(), ComputeSettings()
    return Settings(*groups, {name: method() for name, method in METHODS.items()})


def parse(assignments: list[str]) -> dict[str, str]:
    """`a.b=v` texts as a mapping."""
    pairs = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set takes name=value, as in --set base.epochs=5000, not {shown(text)}.")
        pairs[name.strip()] = value.strip()
    return pairs


def numbers(assignments: list[str], option: str, example: str) -> dict[str, float]:
    """`name=0.1` texts, which `option` takes, as a mapping to numbers."""
    pairs = {}
    for text in assignments:
        name, _, value = text.partition("=")
        try:
            pairs[name.strip()] = float(value)
        except ValueError:
            raise InputError(f"{option} takes name=number, as in {option} {example}, not {shown(text)}.") from None
    return pairs


def _replace(group: Any, values: Mapping[str, Any], name: str) -> Any:
    for key, value in values.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and value < 0:
            raise InputError(f"{name}.{key} must not be negative, unlike {value}.")
    return dataclasses.replace(group, **values)


def _read(text: str, kind: Any, name: str) -> Any:
    """A value of the given type from text; `none` is None for a setting that may have no value of its own."""
    options = typing.get_args(kind) if typing.get_origin(kind) in (types.UnionType, typing.Union) else (kind,)
    optional = types.NoneType in options
    if optional and text.lower() == "none":
        return None
    kind = next(option for option in options if option is not types.NoneType)
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
        if kind is int:
            return _whole(text)
        if typing.get_origin(kind) is tuple:
            return tuple(_whole(part) for part in text.strip("()[] ").replace("x", ",").split(",") if part.strip())
        return kind(text)
    except (ValueError, KeyError, OverflowError):
        what = {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "whole numbers such as 32,32")
        raise InputError(f"{name} must be {what}{' or none' if optional else ''}, not {shown(text)}.") from None


def _whole(text: str) -> int:
    number = float(text)
    if number != int(number):
        raise ValueError(text)
    return int(number)
