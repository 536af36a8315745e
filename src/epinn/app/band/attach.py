"""`epinn.attach`: from a trained network to a band."""

from collections.abc import Mapping
from typing import Any

from jaxtyping import PRNGKeyArray

from ...derivatives.program_cache import keep_compiled_programs
from ...errors import warn
from ...methods import configured
from ...methods.attach import attach_prepared, corrected, prepared
from ...methods.method import Method
from ...problem.problem import Problem
from ...progress import Progress
from .band import Band


# longer than forty lines for its signature and the description of its arguments
def attach(
    model: Any,
    problem: Problem | None = None,
    method: str | Method = "epinet",
    *,
    settings: Mapping[str, object] | None = None,
    key: PRNGKeyArray | int = 0,
    progress: Progress | None = None,
    features: Any = None,
    rules: Mapping[str, Any] | None = None,
    architecture: Any = None,
    trust_file: bool = False,
    unknowns: Mapping[str, float] | None = None,
    correct: bool = False,
) -> Band:
    """Give a trained network error bars.

    `model` is an `epinn.Pinn`, or a network that was trained elsewhere (a PyTorch module, a DeepXDE, PINA, Flax, Equinox or
    Keras model, the path of an ONNX, safetensors or state-dict file): see `epinn.adopt` for what it may be and for the
    arguments from `features` to `unknowns`. Such a network needs its `problem`; for a PINN, a problem other than the one it
    was trained on (new data, say) takes its place.

    `method` is a name (see `epinn methods`), whose `settings` may be changed, `attach(pinn, method="hmc", settings={"samples":
    1000})`, or an object such as `epinn.HmcMethod(samples=1000)`. The same `key` gives the same band. A problem that is too
    large for the method is refused at once. With `correct`, what the network is wrong by is estimated from its residuals and
    added to it first, where all conditions are exact and that leaves next to nothing of them (a second stage, see `Base`).
    What makes the band less trustworthy is in its `warnings`, and an `EpinnWarning` each.
    """
    keep_compiled_programs()
    chosen = configured(method, settings)
    pinn = prepared(
        model,
        problem,
        chosen,
        key=key,
        features=features,
        rules=rules,
        architecture=architecture,
        trust_file=trust_file,
        unknowns=unknowns,
    )
    if correct:
        pinn = corrected(pinn, key=key, progress=progress)
    posterior = attach_prepared(pinn, chosen, key=key, progress=progress)
    warn(posterior.warnings)
    return Band(posterior, pinn, chosen, key)
