"""Fixtures that every test may use."""

import itertools
import os
import signal
import tempfile
from pathlib import Path

import jax
import jaxtyping
import pytest
from hypothesis import settings

# Compiled programs of the tests do not go into the user's own cache.
os.environ["FREEPROJ_CACHE"] = str(Path(tempfile.gettempdir()) / "freeproj-tests")

# A shell's background jobs ignore Ctrl-C, and so would the programs that tests stop.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, nothing about the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def pytest_ignore_collect(collection_path, config):
    """Does not even import files without fast tests where only those are asked for."""
    if config.option.markexpr != "fast" or collection_path.suffix != ".py":
        return None
    return "mark.fast" not in collection_path.read_text(encoding="utf-8")


_COUNT = itertools.count(1)
_MAPS = Path("/proc/self/maps")  # Linux only


def pytest_runtest_teardown():
    """Drops compiled programs before they fill the process's table of memory maps.

    Each program holds some; at 65,530, Linux's default, JAX crashes when it reads or
    writes the next one. A process of the whole suite compiles enough for that.
    """
    if next(_COUNT) % 20 == 0 and _MAPS.exists():
        with _MAPS.open("rb") as maps:
            if sum(1 for _ in maps) > 30_000:
                jax.clear_caches()


@pytest.fixture
def getkey():
    """A function that returns a fresh key at each call; the same ones in every run."""
    keys = iter(jax.random.split(jax.random.key(20260417), 1000))
    return lambda: next(keys)


@pytest.fixture
def untyped():
    """Switches the signatures' checks off, as they are for users."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
