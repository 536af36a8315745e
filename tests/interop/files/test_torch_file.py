"""Files of PyTorch's: damage is called damage, and weights in half precision are read."""

import numpy as np
import pytest

from epinn.errors import InputError
from epinn.interop.files.read import read

torch = pytest.importorskip("torch")

from safetensors.torch import save_file  # noqa: E402

ARCHITECTURE = "1x2x1:tanh"


@pytest.fixture
def module():
    return torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))


def save(kind, module, path):
    if kind == "TorchScript":
        torch.jit.save(torch.jit.trace(module, torch.zeros(3, 1)), path)
    elif kind == "exported":
        torch.export.save(torch.export.export(module, (torch.zeros(3, 1),)), path)
    elif kind == "legacy":
        torch.save(module.state_dict(), path, _use_new_zipfile_serialization=False)
    else:
        torch.save(module if kind == "module" else module.state_dict(), path)


@pytest.mark.filterwarnings("ignore:.*torch.jit")
@pytest.mark.parametrize("kind", ["state dict", "module", "legacy", "TorchScript", "exported"])
def test_a_file_that_was_cut_off_is_damaged_and_no_matter_of_trust(module, tmp_path, kind):
    path = tmp_path / ("cut.pt2" if kind == "exported" else "cut.pt")
    save(kind, module, path)
    content = path.read_bytes()
    for share in (0.0, 0.1, 0.3, 0.6, 0.99):
        path.write_bytes(content[: int(share * len(content))])
        for trust in (False, True):
            with pytest.raises(InputError, match=r"is damaged[^\n]*save it again\.$") as caught:
                read(path, ARCHITECTURE, trust)
            assert "trust" not in str(caught.value)


def test_what_is_no_file_of_pytorchs_is_not_advised_to_be_trusted(tmp_path, rejects):
    (tmp_path / "notes.pt").write_bytes(b"not a file")
    with rejects("damaged", "PyTorch's"):
        read(tmp_path / "notes.pt", ARCHITECTURE)


@pytest.mark.parametrize("kind", ["bfloat16", "float16"])
@pytest.mark.parametrize("given", ["text", "module"])
def test_half_precision_becomes_single(module, tmp_path, kind, given):
    half = {name: value.to(getattr(torch, kind)) for name, value in module.state_dict().items()}
    torch.save(half, tmp_path / "half.pt")
    save_file(half, tmp_path / "half.safetensors")
    for name in ("half.pt", "half.safetensors"):
        found = read(tmp_path / name, ARCHITECTURE if given == "text" else module)
        weight = found.weights[0] if given == "text" else found[0].weight.detach().numpy()
        assert weight.dtype == np.float32
        assert np.array_equal(weight, half["0.weight"].float().numpy())


def test_layers_come_in_the_order_in_which_the_module_defines_them(tmp_path):
    names = ("enc", "mid_up", "mid_down", "out")
    sizes = ((1, 2), (2, 2), (2, 2), (2, 1))
    module = torch.nn.ModuleDict({name: torch.nn.Linear(*size) for name, size in zip(names, sizes, strict=True)})
    torch.save(module.state_dict(), tmp_path / "state.pt")
    layers = read(tmp_path / "state.pt", "1x2x2x2x1")
    assert all(np.array_equal(w, module[n].weight.detach().numpy()) for w, n in zip(layers.weights, names, strict=True))
