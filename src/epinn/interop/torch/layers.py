"""Layers of PyTorch modules by name."""

import copy
from typing import Any

from ...errors import unknown_name


def input_of(module: Any, name: str) -> Any:
    """A module that returns what goes into one layer of another."""
    import torch

    class InputOf(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.whole = copy.deepcopy(module)
            known = {path: layer for path, layer in self.whole.named_modules() if path}
            if name not in known:
                raise unknown_name("layer", name, known)
            self._seen: list[Any] = []
            known[name].register_forward_pre_hook(lambda _, given: self._seen.append(given[0]))

        def forward(self, x: Any) -> Any:
            self._seen.clear()
            self.whole(x)
            return self._seen.pop()

    return InputOf().eval()
