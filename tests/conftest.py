"""Fixtures that every test may use."""

import jax
import jaxtyping
import pytest


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
