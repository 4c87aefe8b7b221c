"""Fixtures that every test may use."""

import os
import tempfile
from pathlib import Path

import jax
import jaxtyping
import pytest
from hypothesis import settings

# Compiled programs of the tests do not go into the user's own cache.
os.environ["FREEPROJ_CACHE"] = str(Path(tempfile.gettempdir()) / "freeproj-tests")

# How long an example takes says something about the machine, nothing about the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# The heart of the package: `pytest -m fast` takes under a minute on two cores.
FAST = (
    "cli/test_runs.py",
    "envs/test_own_tasks.py",
    "envs/test_registry.py",
    "experiments/test_dataset.py",
    "experiments/test_settings.py",
    "experiments/test_study.py",
    "learning/test_config.py",
    "projection/test_actions.py",
    "projection/test_cayley.py",
    "projection/test_words.py",
    "test_study.py",
    "test_version.py",
)


def is_fast(path):
    """Whether a file of tests stands in `FAST`."""
    folder = Path(__file__).parent
    inside = path.is_relative_to(folder)
    return inside and path.relative_to(folder).as_posix() in FAST


def pytest_ignore_collect(collection_path, config):
    """Does not even import the other files where only fast tests are asked for."""
    if config.option.markexpr == "fast" and collection_path.suffix == ".py":
        return not is_fast(collection_path)
    return None


def pytest_collection_modifyitems(items):
    """Marks what stands in the files of `FAST`."""
    for item in items:
        if is_fast(item.path) and "slow" not in item.keywords:
            item.add_marker("fast")


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
