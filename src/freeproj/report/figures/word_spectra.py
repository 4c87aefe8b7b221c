"""Spectra of √K for several word lengths: what two figures are computed from."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from freeproj.projection import words
from freeproj.spectra import gaussian_data, sample_root_singular_values

__all__ = ["sample_spectra"]


def sample_spectra(
    lengths: Sequence[int],
    n_words: int,
    dim: int,
    n_samples: int,
    n_trials: int,
    seed: int,
) -> tuple[Float[np.ndarray, "lengths trials p"], dict[str, np.ndarray]]:
    """Draw data and bases anew for each trial, all lengths at n^ℓ = n_words.

    Return the singular values of √K, and the settings behind them.
    """
    n_generators = [words.generators_for(n_words, length) for length in lengths]
    values = [
        _sample(n, length, dim, n_samples, n_trials, seed + 100 * length)
        for n, length in zip(n_generators, lengths, strict=True)
    ]
    return np.stack(values), {
        "lengths": np.asarray(lengths),
        "n_generators": np.asarray(n_generators),
        "dim": np.asarray(dim),
        "n_samples": np.asarray(n_samples),
        "n_trials": np.asarray(n_trials),
    }


@functools.lru_cache(maxsize=8)  # two figures show the same draws
def _sample(
    n: int, length: int, dim: int, n_samples: int, n_trials: int, seed: int
) -> Float[np.ndarray, "trials p"]:
    data = gaussian_data(n_trials, dim, n_samples, seed=seed)
    return sample_root_singular_values(
        data, n, length, n_trials=n_trials, seed=seed + 1
    )
