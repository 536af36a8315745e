"""Networks: functions of one point that also run on jets. Batches are made by `jax.vmap` outside."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ..arguments import is_whole
from ..errors import FEW, InputError, shown, unknown_name
from .activation import ACTIVATIONS, Activation, cos
from .directions import Directions
from .jet import Jet, Value, activate, affine, join, opaque, positive
from .memory import in_chunks
from .units import Units

INITIALISATIONS: dict[str, Callable[..., Array]] = {
    "xavier": jax.nn.initializers.glorot_uniform(in_axis=1, out_axis=0),
    "he": jax.nn.initializers.he_uniform(in_axis=1, out_axis=0),
    "orthogonal": jax.nn.initializers.orthogonal(),
    "normal": jax.nn.initializers.normal(1.0),
}


def check_architecture(hidden: Sequence[int], activation: str = "tanh", initialisation: str = "xavier") -> None:
    """Refuse a network that cannot be made."""
    if not isinstance(hidden, list | tuple):
        raise InputError(f"hidden layers are a list of their widths, as in hidden=(32, 32), not {shown(hidden)}.")
    if not all(is_whole(size, 1) for size in hidden):
        raise InputError(f"hidden layers need at least one unit each, unlike {','.join(map(shown, hidden[:FEW]))}.")
    if not isinstance(activation, str) or activation not in ACTIVATIONS:
        raise unknown_name("activation", activation, ACTIVATIONS)
    if not isinstance(initialisation, str) or initialisation not in INITIALISATIONS:
        raise unknown_name("initialisation", initialisation, INITIALISATIONS)


class Frozen(eqx.Module):
    """Marks arrays inside a network that are no parameters: not trained, not sampled."""

    content: Any


def trainable(tree: Any) -> tuple[Any, Any]:
    """A tree split into its parameters and all the rest; `eqx.combine` puts them together again."""
    return eqx.partition(tree, eqx.is_inexact_array, is_leaf=lambda node: isinstance(node, Frozen))


class AbstractNetwork(eqx.Module):
    """A function from one point to the values of all fields there."""

    is_fine: ClassVar[bool] = False  # whether it is made of numbers that cancel each other: worth nothing in single precision

    @abstractmethod
    def features(self, x: Value) -> Value:
        """What the last layer sees; empty where there is nothing to see."""

    @abstractmethod
    def __call__(self, x: Value) -> Value: ...

    @property
    def periodic(self) -> tuple[int, ...]:
        """The coordinates along which it repeats itself, once around from -1 to 1."""
        return ()

    @property
    def directions(self) -> Directions | None:
        """Those from corners, if it is shown any."""
        return None

    def directions_at(self, x: Value) -> Value:
        """What it is shown of them, at a point."""
        return nothing(x) if self.directions is None else self.directions(x)

    def places(self, x: Value, *, local: bool = False) -> Value:
        """The coordinates as it sees them: sine and cosine in the place of periodic ones, and directions from corners; `local`
        ones are those of the piece that a point is in."""
        return join([once_around(self.inside(x) if local else x, self.periodic), self.directions_at(x)])

    def inside(self, x: Value) -> Value:
        """The coordinates as its parts see them: in a network of several pieces, those of the piece that a point is in."""
        return x

    def pieces(self, x: Value) -> Float[Array, "*points pieces"]:
        """Of the pieces that it is made of, side by side, the one that a point is in: 1 there, 0 elsewhere."""
        value = x.value if isinstance(x, Jet) else x
        return jnp.ones((*value.shape[:-1], 1), value.dtype)


class Around(AbstractNetwork):
    """A network around another one, which sees what that sees."""

    @property
    @abstractmethod
    def inner(self) -> AbstractNetwork: ...

    @property
    def periodic(self) -> tuple[int, ...]:
        return self.inner.periodic

    @property
    def directions(self) -> Directions | None:
        return self.inner.directions

    def directions_at(self, x: Value) -> Value:
        return self.inner.directions_at(x)

    def inside(self, x: Value) -> Value:
        return self.inner.inside(x)

    def pieces(self, x: Value) -> Float[Array, "*points pieces"]:
        return self.inner.pieces(x)

    def features(self, x: Value) -> Value:
        return self.inner.features(x)


class Encoding(eqx.Module):
    """What happens to the coordinates before the first layer: scaling to [-1, 1], sine and cosine of `periodic` ones (by their
    place, once around from -1 to 1), `directions` from corners, a `stretch`, random Fourier features, or nothing."""

    bounds: tuple[tuple[float, ...], tuple[float, ...]] | None = eqx.field(static=True, default=None)
    frequencies: Frozen | None = None
    periodic: tuple[int, ...] = eqx.field(static=True, default=())
    stretch: Frozen | None = None
    directions: Directions | None = None

    def size(self, coordinates: int) -> int:
        """How many numbers the first layer sees."""
        if self.frequencies is not None:
            return 2 * int(self.frequencies.content.shape[-2])
        return coordinates + len(self.periodic) + (0 if self.directions is None else self.directions.size)

    def __call__(self, x: Value) -> Value:
        extra = [] if self.directions is None or self.frequencies is not None else [self.directions(x)]
        if self.bounds is not None:
            low, high = jnp.asarray(self.bounds[0]), jnp.asarray(self.bounds[1])
            x = (x - (low + high) / 2) * (2 / (high - low))
        x = join([once_around(x, self.periodic), *extra])
        if self.stretch is not None:
            x = x * self.stretch.content
        if self.frequencies is None:
            return x
        phase = affine(self.frequencies.content, None, x)
        return join([activate(ACTIVATIONS["sin"], phase), activate(cos, phase)])


def once_around(x: Value, periodic: tuple[int, ...]) -> Value:
    """The coordinates with sine and cosine in the place of periodic ones."""
    if not periodic:
        return x
    dimension = (x.stack if isinstance(x, Jet) else x).shape[-1]
    others = [axis for axis in range(dimension) if axis not in periodic]
    angle = affine(np.pi * jnp.eye(dimension)[np.asarray(periodic)], None, x)
    kept = [affine(jnp.eye(dimension)[np.asarray(others)], None, x)] if others else []
    return join([*kept, activate(ACTIVATIONS["sin"], angle), activate(cos, angle)])


class MLP(AbstractNetwork):
    """Dense layers with one activation, a linear last layer, and an optional encoding and output scale."""

    weights: tuple[Float[Array, "... _ _"], ...]  # of each layer, outputs by inputs; with a leading axis for several seeds
    biases: tuple[Float[Array, "... _"], ...]
    activation: Activation = eqx.field(static=True)
    encoding: Encoding = Encoding()
    output_scale: float = eqx.field(static=True, default=1.0)

    @classmethod
    def create(
        cls,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        *,
        key: PRNGKeyArray,
        activation: str = "tanh",
        initialisation: str = "xavier",
        random_biases: bool = False,
        encoding: Encoding | None = None,
        output_scale: float = 1.0,
    ) -> "MLP":
        """A network with fresh weights drawn with `key`.

        `inputs` and `outputs` count coordinates and fields, `hidden` has the width of each hidden layer. `activation` and
        `initialisation` are names (see `ACTIVATIONS`, `INITIALISATIONS`); biases start at zero unless they are random.
        """
        check_architecture(hidden, activation, initialisation)
        encoding = encoding or Encoding()
        inputs = encoding.size(inputs)
        initialise = INITIALISATIONS[initialisation]
        sizes = (inputs, *hidden, outputs)
        weights, biases = [], []
        for layer_key, fan_in, fan_out in zip(jax.random.split(key, len(sizes) - 1), sizes[:-1], sizes[1:], strict=True):
            weight_key, bias_key = jax.random.split(layer_key)
            weights.append(initialise(weight_key, (fan_out, fan_in)))
            random = random_biases or initialisation == "normal"  # a draw from the prior N(0, 1) of Bayesian PINNs
            biases.append(initialise(bias_key, (fan_out, 1))[:, 0] if random else jnp.zeros(fan_out))
        if encoding.stretch is not None:  # so that units bend everywhere, and not all of them in the middle
            centers = jax.random.uniform(key, weights[0].shape, minval=-1.0, maxval=1.0) * encoding.stretch.content
            biases[0] = -jnp.sum(weights[0] * centers, axis=1)
        return cls(tuple(weights), tuple(biases), ACTIVATIONS[activation], encoding, output_scale)

    @property
    def hidden(self) -> tuple[int, ...]:
        """The widths of the hidden layers."""
        return tuple(weight.shape[0] for weight in self.weights[:-1])

    @property
    def periodic(self) -> tuple[int, ...]:
        return self.encoding.periodic

    @property
    def directions(self) -> Directions | None:
        return self.encoding.directions

    def features(self, x: Value, masks: Sequence[Array] | None = None) -> Value:
        """The last hidden activations; `masks` multiply the activations of each hidden layer."""
        h = self.encoding(x)
        for i, (weight, bias) in enumerate(zip(self.weights[:-1], self.biases[:-1], strict=True)):
            h = activate(self.activation, affine(weight, bias, h))
            h = h if masks is None else h * masks[i]
        return h

    def __call__(self, x: Value, masks: Sequence[Array] | None = None) -> Value:
        return affine(self.weights[-1], self.biases[-1], self.features(x, masks)) * self.output_scale


class Opaque(AbstractNetwork):
    """Any function of one point as a network: an exact solution, or a model that cannot take jets."""

    function: Callable[[Array], Array] = eqx.field(static=True)

    def features(self, x: Value) -> Value:
        return nothing(x)

    def __call__(self, x: Value) -> Value:
        return opaque(self.function, x)


def needs_double(tree: Any) -> bool:
    """Whether anything in a tree is worth no more than single precision if it is computed in single precision."""
    fine = lambda node: isinstance(node, AbstractNetwork) and node.is_fine  # noqa: E731
    return any(map(fine, jax.tree.leaves(tree, is_leaf=fine)))


def double(tree: Any) -> Any:
    """The tree with all its real arrays in double precision, where that is switched on."""
    return jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf), jnp.float64) if eqx.is_inexact_array(leaf) else leaf, tree)


def nothing(x: Value) -> Value:
    """No features at all."""
    return Jet(x.stack[..., :0], x.orders) if isinstance(x, Jet) else x[:0]


class Solution(eqx.Module):
    """A candidate solution: a network for the fields, and values for the unknown parameters.

    The network is dimensionless: `units` say what its numbers mean, and without any they mean themselves. Unknown parameters
    that must be `positive` are kept as logarithms; columns of `positive_fields` go through softplus.
    """

    network: AbstractNetwork
    raw: dict[str, Array] = eqx.field(default_factory=dict)
    positive: tuple[str, ...] = eqx.field(static=True, default=())
    positive_fields: tuple[int, ...] = eqx.field(static=True, default=())
    frozen_units: Frozen | None = None

    @property
    def units(self) -> Units | None:
        """What the numbers of the network mean; None where they mean themselves."""
        return None if self.frozen_units is None else self.frozen_units.content

    @property
    def unknowns(self) -> dict[str, Array]:
        """The unknown parameters."""
        units = self.units
        return {
            name: (jnp.exp(value) if name in self.positive else value) * (1.0 if units is None else units.unknowns[name])
            for name, value in self.raw.items()
        }

    def __call__(self, points: Float[Array | np.ndarray, "n d"]) -> Float[Array | np.ndarray, "n fields"]:
        """The fields at points, all in the units of the problem; of numpy where they were computed in double precision."""
        traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((self, points)))
        if traced or not needs_double(self.network):
            return self._at(jnp.asarray(points))
        with jax.enable_x64(True):
            own: Solution = double(self)
            return np.asarray(own._at(jnp.asarray(np.asarray(points, float))))

    def _at(self, points: Float[Array, "n d"]) -> Float[Array, "n fields"]:
        if self.units is None:
            return self.variation(points)
        return self.units.offset + self.variation(self.units.inside(points))

    def variation(self, inside: Float[Array, "n d"]) -> Float[Array, "n fields"]:
        """The fields without their offsets, at points of the network."""
        values: Array = in_chunks(jax.vmap(lambda x: positive(self.network(x), self.positive_fields)), inside)
        return values if self.units is None else values * self.units.scale

    def dimensionless(self, inside: Float[Array, "n d"]) -> Float[Array, "n fields"]:
        """The same in parts of their units."""
        values = self.variation(inside)
        return values if self.units is None else values / self.units.scale

    def fields(self, jet: Jet, *, offset: bool = True) -> Jet:
        """The fields and their derivatives in the units of the problem, from what the network says of them."""
        made = positive(jet, self.positive_fields)
        assert isinstance(made, Jet)  # as what it was made of
        return made if self.units is None else self.units.fields(made, offset=offset)

    def outside(self, points: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
        """Points of the network in the units of the problem."""
        return points if self.units is None else self.units.outside(points)
