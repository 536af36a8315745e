"""Checks types and shapes of all that the tests call (with jaxtyping): beartype, for which a whole number is a number."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
