"""Archives that would fill the memory are refused before they are unpacked."""

import zipfile

import pytest

from epinn import InputError
from epinn.interop.archive import refuse_bomb


def archive(path, size, packed):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as made:
        made.writestr("net/data.pkl", b"\0" * size)
    return zipfile.ZipFile(path)


def test_what_unpacks_to_far_more_is_refused(tmp_path):
    with archive(tmp_path / "net.pt", 2**24, packed=True) as opened, pytest.raises(InputError, match="unpacks to 16 MB"):
        refuse_bomb(tmp_path / "net.pt", opened)


def test_what_is_stored_as_it_is_is_fine(tmp_path):
    with archive(tmp_path / "net.pt", 2**24, packed=False) as opened:
        refuse_bomb(tmp_path / "net.pt", opened)


def test_what_is_small_is_fine(tmp_path):
    with archive(tmp_path / "net.pt", 2**20, packed=True) as opened:
        refuse_bomb(tmp_path / "net.pt", opened)
