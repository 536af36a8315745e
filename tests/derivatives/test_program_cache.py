"""Where compiled programs are kept: beside the user's other caches, unless JAX has been told otherwise."""

import os
import subprocess
import sys

import jax
import pytest

from epinn.derivatives import program_cache
from epinn.derivatives.program_cache import keep_compiled_programs

SCRIPT = """
import jax
import epinn
from epinn.derivatives.program_cache import keep_compiled_programs

keep_compiled_programs()
jax.jit(lambda x: x + 1)(1.0)
"""


@pytest.fixture
def told_nothing(monkeypatch, tmp_path):
    """JAX without a folder for compiled programs, and a user without any either."""
    before = {
        name: getattr(jax.config, name) for name in ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    }
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jax.config.update("jax_compilation_cache_dir", None)
    yield tmp_path
    for name, value in before.items():
        jax.config.update(name, value)


def test_they_are_in_the_cache_folder_of_the_user(told_nothing):
    keep_compiled_programs()
    assert jax.config.jax_compilation_cache_dir.startswith(str(told_nothing / "epinn" / "compiled"))


def test_what_jax_was_told_stays(told_nothing):
    jax.config.update("jax_compilation_cache_dir", "elsewhere")
    keep_compiled_programs()
    assert jax.config.jax_compilation_cache_dir == "elsewhere"


def test_machines_of_several_kinds_share_no_programs(told_nothing, monkeypatch):
    keep_compiled_programs()
    here = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", None)
    monkeypatch.setattr(program_cache.Path, "read_text", lambda self: "flags : another one")
    keep_compiled_programs()
    assert jax.config.jax_compilation_cache_dir != here


@pytest.mark.parametrize("kind", ["new", "file"])
def test_a_process_leaves_them_there_without_a_word(tmp_path, kind):
    """Where no folder can be made, since a file is in its place, all works as well."""
    place = tmp_path / "cache"
    if kind == "file":
        place.write_text("")
    here = os.environ | {"XDG_CACHE_HOME": str(place)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], check=False, env=here, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert kind == "file" or any((place / "epinn" / "compiled").rglob("*"))
