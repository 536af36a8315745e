"""`epinn.load`: a band that was saved, or one out of a run folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import InputError, shown
from ...interop import adopt
from ...problem.problem import Problem
from ..store.bands import StoredBand, load_band, load_run
from .band import Band


def load(
    path: str | Path,
    problem: Problem | None = None,
    *,
    model: Any = None,
    architecture: Any = None,
    rules: Mapping[str, Any] | None = None,
    features: Any = None,
    trust_file: bool = False,
    method: str | None = None,
    seed: int | None = None,
) -> Band:
    """A band that was saved, or one out of a run folder.

    A file of `band.save` needs the `problem` again, since files hold no Python functions. The band of a network that was
    trained elsewhere also needs that network: `model`, with `architecture`, `rules`, `features` and `trust_file` as it was
    attached. A folder of `epinn run`, `compare` or `attach` knows its problem and its network; `method` and `seed` say which
    of its bands is meant, if there are several.
    """
    if not isinstance(path, str | Path):
        raise InputError(f"a band is loaded from the path of a file or a run folder, not from {shown(path)}.")
    path = Path(path)
    if path.is_dir():
        if problem is not None or model is not None:
            raise InputError(f"{path} is a run folder, which knows its problem and its network; leave them out.")
        return _band(load_run(path, method, seed))
    if not path.is_file():
        raise InputError(f"there is no file or folder {path}.")
    if method is not None or seed is not None:
        raise InputError(f"{path} is a file with one band; method and seed choose one out of a run folder.")
    if problem is None:
        raise InputError(f"{path} holds no Python functions: pass the problem of the band too, epinn.load(path, problem).")
    programs = ()
    if model is not None:
        given = adopt(model, problem, architecture=architecture, rules=rules, features=features, trust_file=trust_file)
        programs = getattr(given.solution.network, "programs", ())
    return _band(load_band(path, problem, programs))


def _band(stored: StoredBand) -> Band:
    return Band(stored.posterior, stored.pinn, stored.method, stored.key, stored.verdict)
