"""What a user may say of a field beyond its name."""

from collections.abc import Sequence

from ..arguments import names
from ..derivatives.network import check_architecture
from ..errors import InputError, shown, unknown_name


class Field(str):
    """The name of a field that has a network of its own.

    `of` are the coordinates that it depends on, by name; all of them by default: `Field("k", of="x")` beside u(x, t) is the
    same at all times. `hidden` and `activation` replace those of `Base` for its network.
    """

    of: tuple[str, ...] | None
    hidden: tuple[int, ...] | None
    activation: str | None

    def __new__(
        cls,
        name: str,
        of: str | Sequence[str] | None = None,
        hidden: Sequence[int] | None = None,
        activation: str | None = None,
    ) -> "Field":
        if not isinstance(name, str) or not name.isidentifier():
            raise InputError(f"a field needs a name that can be an argument of the equation, not {shown(name)}.")
        made = super().__new__(cls, name)
        made.of = None if of is None else names(of, f"what the field {name} depends on", "of=('x', 't')")
        if made.of == ():
            raise InputError(f"the field {name} must depend on something; a number is an unknown, not a field.")
        check_architecture(() if hidden is None else hidden, "tanh" if activation is None else activation)
        made.hidden, made.activation = None if hidden is None else tuple(hidden), activation
        return made

    def __reduce__(self) -> tuple[type["Field"], tuple[object, ...]]:
        return Field, (str(self), self.of, self.hidden, self.activation)  # what copies are made from

    def axes(self, coordinates: Sequence[str]) -> tuple[int, ...]:
        """The places of its coordinates among those of the domain."""
        chosen = coordinates if self.of is None else self.of
        for name in chosen:
            if name not in coordinates:
                raise unknown_name(f"coordinate of the field {self}", name, coordinates)
        return tuple(place for place, name in enumerate(coordinates) if name in chosen)
