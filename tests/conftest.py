"""Shared by all tests: compiled code kept between runs, double precision on request, and what a good error looks like."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import jax
import jaxtyping
import pytest
from jaxtyping import install_import_hook

MOST_MAPS = 40_000  # of the 65,530 that Linux allows by default


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-shapes", action="store_true", help="a third faster: annotated types and shapes are not checked")


def pytest_configure(config: pytest.Config) -> None:
    """Have annotations checked, and compiled programs kept: most of the suite's time is compilation."""
    if not config.getoption("--no-shapes"):
        install_import_hook("epinn", "typed.check")  # before epinn is imported
    jax.config.update("jax_compilation_cache_dir", str(Path.home() / ".cache" / "epinn-tests" / "xla"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    # Entries that another process is just writing, or a home that cannot be written to, cost time, not correctness.
    config.addinivalue_line("filterwarnings", "ignore:Error (reading|writing) persistent compilation cache entry")
    # Networks in tests are tiny and hardly trained: most are no solution.
    config.addinivalue_line("filterwarnings", "ignore::epinn.errors.EpinnWarning")


@pytest.fixture
def x64() -> Iterator[None]:
    """Double precision for one test."""
    with jax.enable_x64(True):
        yield


@pytest.fixture
def types_unchecked() -> Iterator[None]:
    """What users see who pass a wrong type: annotations are not checked in one test."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="module")
def quick_compile() -> Iterator[None]:
    """Code compiled three times as fast, and slower to run: for modules that run much different code, each once."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.fixture
def rejects() -> Callable:
    """`with rejects("word", ...):` expects an InputError of one line that names every word."""
    from epinn import InputError

    @contextmanager
    def check(*words: str) -> Iterator[None]:
        with pytest.raises(InputError) as caught:
            yield
        message = str(caught.value)
        assert "\n" not in message, f"more than one line: {message}"
        for word in words:
            assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", message), f"{word!r} is not named in: {message}"

    return check


@pytest.fixture(autouse=True)
def few_programs():
    """Every compiled program takes some of the memory maps that a process may have; without them the compiler crashes."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > MOST_MAPS:
        jax.clear_caches()
