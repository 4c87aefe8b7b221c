"""Families of matrices that a user wrote, and what a family must be."""

import jax.numpy as jnp
import pytest

from freeproj.projection.families import family_of


def turn(key, dim):
    """Draws nothing: every word turns everything round."""
    return -jnp.eye(dim)


def test_a_function_becomes_a_family_of_independent_matrices():
    assert not family_of("test_families_of_others:turn").grouped
    with pytest.raises(ValueError, match=r"turm.*Did you mean `turn`"):
        family_of("test_families_of_others:turm")
