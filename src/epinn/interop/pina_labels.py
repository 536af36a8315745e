"""PINA's networks may ask for columns by name. Here plain tensors answer, so that PyTorch can record them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ..errors import InputError


class Labelled(torch.nn.Module):
    """A network whose input columns have names: it gets `coordinates`, and its model sees them in the order of `labels`."""

    def __init__(self, model: torch.nn.Module, labels: Sequence[str], coordinates: Sequence[str]):
        super().__init__()
        self.model = model
        self.labels = list(labels)
        self.order = [list(coordinates).index(label) for label in labels]

    def forward(self, x: Any) -> Any:
        with _answering(self.labels):
            return self.model(x if self.order == sorted(self.order) else x[:, self.order])


@contextmanager
def _answering(labels: list[str]) -> Iterator[None]:
    """While it lasts, tensors know `extract` and `labels`; those that were extracted know which columns they are."""

    def names(tensor: Any) -> list[str]:
        return tensor.__dict__.get("_epinn_labels", labels)

    def extract(tensor: Any, wanted: Any) -> Any:
        wanted = [wanted] if isinstance(wanted, str) else list(wanted)
        if unknown := [name for name in wanted if name not in names(tensor)]:
            raise InputError(f"the network asks for {unknown[0]!r}, and there are {', '.join(names(tensor))}.")
        columns: Any = torch.cat([tensor[..., i : i + 1] for i in map(names(tensor).index, wanted)], -1)
        columns._epinn_labels = wanted
        return columns

    answers = {"extract": extract, "labels": property(names)}
    for name, answer in answers.items():
        setattr(torch.Tensor, name, answer)
    try:
        yield
    finally:
        for name in answers:
            delattr(torch.Tensor, name)
