"""Fixtures that every test may use."""

import jax
import pytest


@pytest.fixture
def getkey():
    """A function that returns a fresh key at each call; the same ones in every run."""
    keys = iter(jax.random.split(jax.random.key(20260417), 1000))
    return lambda: next(keys)
