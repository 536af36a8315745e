"""Checksums inside files, and those that pictures have."""

import io

import matplotlib.pyplot as plt
import pytest

from epinn.app.store.seal import BLANK, is_intact, is_whole_picture, sealed


def test_a_file_is_intact_as_long_as_nothing_changes():
    content = sealed(f'{{"sha256": "{BLANK}", "a": 1}}'.encode())
    assert is_intact(content)
    assert not is_intact(content.replace(b'"a": 1', b'"a": 2'))
    assert not is_intact(content + b" ")


def test_a_file_without_a_checksum_is_neither_intact_nor_damaged():
    assert is_intact(b'{"a": 1}') is None


def test_a_file_without_a_place_for_it_cannot_be_sealed():
    with pytest.raises(ValueError, match="sha256"):
        sealed(b'{"a": 1}')


@pytest.fixture(scope="module")
def png():
    figure, axes = plt.subplots(figsize=(1, 1))
    axes.plot([0, 1])
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=20)
    plt.close(figure)
    return buffer.getvalue()


def test_every_byte_of_a_picture_is_guarded(png):
    assert is_whole_picture(png)
    for place in range(len(png)):
        assert not is_whole_picture(png[:place] + bytes([png[place] ^ 16]) + png[place + 1 :]), place


@pytest.mark.parametrize("change", [lambda png: png[:-5], lambda png: png + b"x", lambda png: b"", lambda png: png[:8]])
def test_a_picture_that_is_too_short_or_too_long_is_no_picture(png, change):
    assert not is_whole_picture(change(png))
