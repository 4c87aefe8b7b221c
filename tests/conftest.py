"""Fixtures that every test may use."""

import itertools
import os
import re
import signal
import tempfile
from pathlib import Path

import jax
import jaxtyping
import pytest
from beartype import BeartypeConf
from beartype.claw import beartype_packages
from hypothesis import settings

# Compiled programs of the tests do not go into the user's own cache.
os.environ["FREEPROJ_CACHE"] = str(Path(tempfile.gettempdir()) / "freeproj-tests")

# Most of the tests' time goes into compiling programs that then run once. This way it
# takes a quarter; tests of stored numbers ask for the options that users have.
QUICK = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"

# jaxtyping checks types and shapes, beartype types only, in a tenth of the time. These
# packages have few arrays: there jaxtyping checks the modules with shapes, and those
# with imports for type checkers only, which beartype alone cannot resolve.
PLAIN = ("experiments", "findings", "published", "report", "stats", "storage")
SOURCE = Path(__file__).parents[1] / "src" / "freeproj"


def check_types():
    """Checks the annotations of everything that is imported from here on."""
    parts = [each for each in SOURCE.iterdir() if not each.name.startswith("_")]
    shaped = [f"freeproj.{each.stem}" for each in parts if each.name not in PLAIN]
    for path in (path for name in PLAIN for path in (SOURCE / name).rglob("[!_]*.py")):
        if re.search("jaxtyping|TYPE_CHECKING", path.read_text(encoding="utf-8")):
            module = path.relative_to(SOURCE).with_suffix("")
            shaped.append(".".join(("freeproj", *module.parts)))
    jaxtyping.install_import_hook(shaped, "beartype.beartype")
    conf = BeartypeConf(claw_is_pep526=False)
    beartype_packages([f"freeproj.{name}" for name in PLAIN], conf=conf)


check_types()

# A shell's background jobs ignore Ctrl-C, and so would the programs that tests stop.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, nothing about the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")


def pytest_configure(config):
    """Compiles quickly, except where minutes of training are asked for."""
    if config.option.markexpr != "slow":
        os.environ.setdefault("XLA_FLAGS", QUICK)


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
