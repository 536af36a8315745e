"""The type checker that checks every call in tests: jaxtyping's shapes, and types as PEP 484 has them (an int is a float)."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
