"""Networks that do not take one array: some are called with a column for each coordinate, PINA's ask for columns by name."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from ...errors import InputError


class Separate(torch.nn.Module):
    """A network that is called as net(x, t), with one column each."""

    def __init__(self, model: torch.nn.Module, order: Sequence[int]):
        super().__init__()
        self.model = model
        self.order = list(order)

    def forward(self, x: Any) -> Any:
        return self.model(*(x[:, i : i + 1] for i in self.order))


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
    """While it lasts, plain tensors, which PyTorch can record, know `extract` and `labels`, and what they were extracted as."""

    def names(tensor: Any) -> list[str]:
        found: list[str] = tensor.__dict__.get("_epinn_labels", labels)
        return found

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
