"""Networks made of networks: for some fields each, or side by side in boxes of their own."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .directions import Directions
from .jet import Jet, Value, join
from .lifted import Lifted
from .network import MLP, AbstractNetwork, Frozen, nothing
from .staged import Staged


class Parts(AbstractNetwork):
    """Networks for some fields each, of some coordinates each."""

    networks: tuple[AbstractNetwork, ...]
    axes: tuple[tuple[int, ...], ...] = eqx.field(static=True)  # the coordinates that each of them sees
    columns: tuple[tuple[int, ...], ...] = eqx.field(static=True)  # the fields that each of them gives

    def features(self, x: Value) -> Value:
        return join([network.features(_components(x, axes)) for network, axes in zip(self.networks, self.axes, strict=True)])

    def __call__(self, x: Value) -> Value:
        every = join([network(_components(x, axes)) for network, axes in zip(self.networks, self.axes, strict=True)])
        return _components(every, tuple(np.argsort([column for part in self.columns for column in part]).tolist()))


def _components(x: Value, chosen: tuple[int, ...]) -> Value:
    """Some of the components, in that order."""
    places = np.asarray(chosen)
    return Jet(x.stack[..., places], x.orders) if isinstance(x, Jet) else x[..., places]


class Pieces(AbstractNetwork):
    """Networks side by side, each for a box of its own, whose coordinates it sees from -1 to 1."""

    networks: AbstractNetwork  # of all boxes: arrays with an axis for them (after that of the seeds, where there are several)
    middle: Any  # of the boxes, boxes by coordinates: frozen, and nothing in a tree of parameters alone
    half: Any
    windows: tuple[float, ...] = eqx.field(
        static=True, default=()
    )  # times at which boxes meet that nobody but the solver chose

    @classmethod
    def of(cls, networks: Sequence[AbstractNetwork], middle: Any, half: Any, windows: tuple[float, ...] = ()) -> "Pieces":
        """From one network for each box, and the boxes."""
        arrays, static = eqx.partition(list(networks), eqx.is_array)
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays)
        return cls(
            eqx.combine(stacked, static[0]), Frozen(jnp.asarray(middle, float)), Frozen(jnp.asarray(half, float)), windows
        )

    @property
    def periodic(self) -> tuple[int, ...]:
        return self.networks.periodic

    @property
    def directions(self) -> Directions | None:
        return self.networks.directions

    def features(self, x: Value) -> Value:
        return self._chosen(x, lambda network, here: network.features(here))

    def __call__(self, x: Value) -> Value:
        return self._chosen(x, lambda network, here: network(here))

    def directions_at(self, x: Value) -> Value:
        return nothing(x) if self.directions is None else self._chosen(x, lambda network, here: network.directions_at(here))

    def inside(self, x: Value) -> Value:
        if isinstance(x, Jet) and x.stack.ndim > 2:
            return jax.vmap(self.inside)(x)
        here = self._here(x)
        within: Value = (x - self.middle.content[here]) * (1 / self.half.content[here])
        return within

    def pieces(self, x: Value) -> Float[Array, "*points pieces"]:
        return jax.nn.one_hot(self._here(x), len(self.middle.content))

    def _chosen(self, x: Value, function: Callable[[AbstractNetwork, Value], Value]) -> Value:
        """A function of the network of the box that each point is in."""
        if isinstance(x, Jet) and x.stack.ndim > 2:
            return jax.vmap(lambda at_point: self._chosen(at_point, function))(x)
        here = self._here(x)
        arrays, static = eqx.partition(self.networks, eqx.is_array)
        network = eqx.combine(jax.tree.map(lambda leaf: leaf[here], arrays), static)
        return function(network, self.inside(x))

    def _here(self, x: Value) -> Int[Array, "*points"]:
        """The box that a point is in; of two that share a face, points on it belong to the later one."""
        middle, half = self.middle.content, self.half.content
        value = x.value if isinstance(x, Jet) else x
        beyond = jnp.max(jnp.abs((value[..., None, :] - middle) / half), axis=-1)
        return len(middle) - 1 - jnp.argmin(beyond[..., ::-1], axis=-1)


def in_words(network: AbstractNetwork) -> str:
    """What a network is made of: "3 windows, each 2-32-32-32-1, tanh"."""
    match network:
        case MLP():
            sizes = [network.weights[0].shape[-1], *(weight.shape[-2] for weight in network.weights)]
            encoding, more = network.encoding, []
            if encoding.periodic:
                more.append("periodic")
            if encoding.directions is not None:
                more.append(encoding.directions.in_words)
            if encoding.stretch is not None:
                more.append(f"up to {float(np.max(encoding.stretch.content)):.2g} times as fine as usual")
            if encoding.frequencies is not None:
                more.append("Fourier features")
            return ", ".join(["-".join(map(str, sizes)), network.activation.name, *more])
        case Parts():
            return " and ".join(map(in_words, network.networks))
        case Pieces():
            number, each = len(network.middle.content), in_words(network.networks)
            return each if number == 1 else f"{number} {'windows' if network.windows else 'zones'}, each {each}"
        case Staged():
            return f"{in_words(network.network)}, and a stage of {network.stage.content.units.biases.shape[-1]} random units"
        case Lifted():
            return f"{in_words(network.network)}, given values by construction"
        case _:
            return type(network).__name__
