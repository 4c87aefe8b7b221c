"""PyTorch: the projection as a layer without parameters.

    layer = FreeProjectionLayer(4, FreeProjection(4, 4), seed=0)
    hidden = layer(observations)              # (..., 4) -> (..., 128)
    layer.resample()                          # a new word, as at a new episode

Bases and word are buffers: they move with `.to(...)`, and `state_dict` keeps them. From
the same bases and word the numbers are those of the JAX path. JAX is not imported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from freeproj.adapters.numpy_core import as_numpy

__all__ = ["FreeProjectionLayer"]


class FreeProjectionLayer(nn.Module):
    """Returns M_o ξ = scale · T_2 λ(w) T_1 ξ for the last axis of its input.

    Args:
        in_features: the entries of ξ, at most the projection's `dim`.
        projection: a `FreeProjection` or a `NumpyProjection` (which needs no JAX), of
            the family `haar` or `permutation`.
        seed: what bases and word are drawn from; None takes a fresh one.
        bases: base matrices (or permutations) to use instead of drawn ones.
    """

    bases: Tensor
    word: Tensor

    def __init__(
        self,
        in_features: int,
        projection: Any,
        *,
        seed: int | None = None,
        bases: Any = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.projection = as_numpy(projection)
        if self.projection.family not in ("haar", "permutation"):
            raise ValueError(
                "The layer multiplies letters, so `family` must be haar or "
                f"permutation, got {self.projection.family!r}."
            )
        if not 1 <= in_features <= self.projection.dim:
            raise ValueError(
                f"`in_features` must be 1 to {self.projection.dim} (the projection's "
                f"`dim`), got {in_features}; choose a larger `dim`."
            )
        self.in_features = in_features
        self.out_features = self.projection.input_dim
        self._rng = np.random.default_rng(seed)
        drawn = self.projection.draw_bases(self._rng) if bases is None else bases
        dtype = dtype or torch.get_default_dtype()
        self.register_buffer("bases", self._dense(drawn).to(device, dtype))
        word = torch.as_tensor(self.projection.draw_word(self._rng), dtype=torch.long)
        self.register_buffer("word", word.to(device))

    def forward(
        self,
        observations: Float[Tensor, "*batch d_obs"],
        words: Int[Tensor, "#*batch length"] | None = None,
    ) -> Float[Tensor, "*batch d_in"]:
        """Projects with the layer's word, or each observation with a word of its own.

        `words` has one word per observation: the shape of the input, with letters in
        place of entries.
        """
        if observations.shape[-1] != self.in_features:
            raise ValueError(
                f"The layer takes {self.in_features} entries (`in_features`), got "
                f"{observations.shape[-1]}."
            )
        if words is None:
            return observations @ self.matrix().T
        self._check(words)
        batch = observations.shape[:-1]
        letters = words.expand(*batch, words.shape[-1]).reshape(-1, words.shape[-1])
        turned = self._turn(
            self._pad(observations.reshape(-1, self.in_features)), letters
        )
        return self._fit(turned).reshape(*batch, self.out_features)

    def matrix(
        self, word: Int[Tensor, " length"] | None = None
    ) -> Float[Tensor, "d_in d_obs"]:
        """Returns M_o of a word, by default of the layer's own."""
        word = self.word if word is None else word
        self._check(word)
        eye = torch.eye(
            self.in_features, dtype=self.bases.dtype, device=self.bases.device
        )
        columns = self._pad(eye)
        for letter in reversed(word.tolist()):
            columns = columns @ self._factor(letter).T
        return self._fit(columns).T

    def resample(self, *, bases: bool = False) -> None:
        """Draws a new word in place; with `bases`, new base matrices before it."""
        if bases:
            drawn = self._dense(self.projection.draw_bases(self._rng))
            self.bases.copy_(drawn.to(self.bases))
        self.word.copy_(torch.as_tensor(self.projection.draw_word(self._rng)))

    def sample_words(self, n_words: int) -> Int[Tensor, "n_words length"]:
        """Draws words to pass to `forward`, one per row."""
        drawn = [self.projection.draw_word(self._rng) for _ in range(n_words)]
        return torch.as_tensor(
            np.stack(drawn), dtype=torch.long, device=self.word.device
        )

    def extra_repr(self) -> str:
        law = self.projection
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"n_generators={law.n_generators}, length={law.length}, dim={law.dim}"
        )

    def _turn(
        self, vectors: Float[Tensor, "n d"], letters: Int[Tensor, "n length"]
    ) -> Float[Tensor, "n d"]:
        """Returns λ(w)ξ for each pair, from the last letter to the first.

        Rows with the same letter go through one product: n matrices are never copied
        for each row.
        """
        for column in letters.unbind(1)[::-1]:
            turned = torch.zeros_like(vectors)
            for letter in column.unique().tolist():
                rows = column == letter
                turned[rows] = vectors[rows] @ self._factor(letter).T
            vectors = turned
        return vectors

    def _factor(self, letter: int) -> Float[Tensor, "d d"]:
        base = self.bases[abs(letter) - 1]
        return base.T if letter < 0 else base

    def _pad(self, vectors: Float[Tensor, "n d_obs"]) -> Float[Tensor, "n d"]:
        return nn.functional.pad(vectors, (0, self.projection.dim - self.in_features))

    def _fit(self, vectors: Float[Tensor, "n d"]) -> Float[Tensor, "n d_in"]:
        # A negative width cuts.
        missing = self.out_features - self.projection.dim
        return self.projection.scale * nn.functional.pad(vectors, (0, missing))

    def _dense(self, bases: Any) -> Float[Tensor, "n d d"]:
        law, array = self.projection, np.array(bases)
        if array.ndim == 2:  # permutations: U[σ(j), j] = 1
            array = (np.arange(law.dim)[:, None] == array[:, None, :]).astype(
                np.float64
            )
        expected = (law.n_generators, law.dim, law.dim)
        if array.shape != expected:
            raise ValueError(f"`bases` must have shape {expected}, got {array.shape}.")
        return torch.as_tensor(array)

    def _check(self, words: Int[Tensor, "*batch length"]) -> None:
        n, length = self.projection.n_generators, self.projection.length
        low = -n if self.projection.inverses else 1
        bad = (words < low) | (words > n) | (words == 0)
        if words.shape[-1] != length or bad.any():
            raise ValueError(
                f"`words` must have {length} letters in {low}..{n}, not 0, got "
                f"{words.tolist()}."
            )
