"""Files of PyTorch's: state dicts are read as data, what can run code is opened only where the user trusts it."""

import io
import pickle
import pickletools
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import InputError, one_line
from ..archive import refuse_bomb
from ..torch.source import import_torch

NESTED = ("model_state_dict", "state_dict", "model")  # where checkpoints of DeepXDE, Lightning and others keep their weights
LEGACY_PICKLES = 4  # in a file of PyTorch's before 1.6: magic number, version, machine, content; then come the numbers
ARCHIVE = b"PK\x03\x04"  # how a zip archive begins; its list of contents is at the end


def read(path: Path, trust_file: bool) -> Any:
    """The weights by name, in the order in which the module defines them; with trust, whatever is in the file."""
    _refuse_truncated(path)
    kind = _risky_kind(path)
    if kind is not None and not trust_file:
        raise _refusal(path, kind)
    torch = import_torch()
    try:
        if kind is not None:
            return (torch.jit.load if kind == "a TorchScript program" else _exported)(str(path))
        content = torch.load(path, map_location="cpu", weights_only=not trust_file)
    except Exception as error:  # whatever is thrown at a damaged file
        if isinstance(error, pickle.UnpicklingError) and not trust_file and _holds_whole_pickle(path):
            raise _refusal(path, "pickled Python objects") from None
        reason = one_line(error).partition(". ")[0]
        raise _damaged(path, f"{type(error).__name__}: {reason}") from None
    return _weights_in(content, path) if isinstance(content, Mapping) else content


def _exported(path: str) -> Any:
    module = import_torch().export.load(path).module()
    for name in ("train", "eval"):  # a program has one mode, and refuses to be asked for another
        vars(module).pop(name, None)
    return module


def _refuse_truncated(path: Path) -> None:
    """An archive that was cut off has lost its list of contents, so that nothing can be said of what it holds."""
    with path.open("rb") as file:
        start = file.read(len(ARCHIVE))
    if not start:
        raise _damaged(path, "it is empty")
    if (start == ARCHIVE or path.suffix == ".pt2") and not _is_whole_archive(path):
        raise _damaged(path, "the end of the archive is missing" if start == ARCHIVE else "it is no archive")


def _is_whole_archive(path: Path) -> bool:
    """Whether its list of contents is that of the whole file, and not of an archive within it that is whole still."""
    try:
        with zipfile.ZipFile(path) as archive:
            return min((entry.header_offset for entry in archive.infolist()), default=-1) == 0
    except zipfile.BadZipFile:
        return False


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(f"{path} is damaged, or no file of PyTorch's ({reason}): copy or save it again.")


def _risky_kind(path: Path) -> str | None:
    """What a file would run when it is opened, told from the names in its archive alone."""
    if not zipfile.is_zipfile(path):
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            refuse_bomb(path, archive)
            names = archive.namelist()
    except zipfile.BadZipFile as error:
        raise _damaged(path, one_line(error)) from None
    if any(re.search(r"(^|/)code/", name) or name.endswith("constants.pkl") for name in names) and path.suffix != ".pt2":
        return "a TorchScript program"
    is_exported = any(name.endswith(("archive_format", "serialized_exported_program.json")) for name in names)
    return "an exported program" if is_exported or path.suffix == ".pt2" else None


def _holds_whole_pickle(path: Path) -> bool:
    """Whether the file's pickled content is whole, which is found out without running it: what is cut off is not."""
    try:
        if not zipfile.is_zipfile(path):
            stream = io.BytesIO(path.read_bytes())
            return sum(_steps_of_pickle(stream) for _ in range(LEGACY_PICKLES)) > 0
        with zipfile.ZipFile(path) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith("data.pkl"))
            return _steps_of_pickle(io.BytesIO(archive.read(name))) > 0
    except (ValueError, zipfile.BadZipFile):
        return False


def _steps_of_pickle(stream: io.BytesIO) -> int:
    """How many steps the next pickle of a stream has: none at its end, and an error where one is not whole."""
    return sum(1 for _ in pickletools.genops(stream)) if stream.tell() < len(stream.getbuffer()) else 0


def _refusal(path: Path, kind: str) -> InputError:
    return InputError(
        f"{path} holds {kind}, which can run any code when opened, so it was not opened. Save the weights alone, "
        "torch.save(model.state_dict(), 'weights.pt'), or export the network by torch.onnx.export; or, if you trust whoever "
        "made the file as you would trust a program of theirs, pass trust_file=True."
    )


def _weights_in(content: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """The state dict, also where a checkpoint holds it beside other things."""
    inner = next((content[name] for name in NESTED if isinstance(content.get(name), Mapping)), content)
    if not inner or not all(hasattr(value, "shape") for value in inner.values()):
        raise InputError(f"{path} holds no state dict: a mapping from names to tensors was expected.")
    return inner
