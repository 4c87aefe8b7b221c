"""PyTorch: the projection as a layer without parameters.

    layer = FreeProjectionLayer(4, FreeProjection(4, 4), seed=0)
    hidden = layer(observations)              # (..., 4) -> (..., 128)
    layer.resample()                          # a new word, as at a new episode

Bases, word and random stream are buffers: they move with `.to(...)`, and `state_dict`
keeps them. The matrices of all words are formed once per set of bases, so `forward` is
one product, or a look-up and a batched product, and can be compiled and exported. From
the same bases and word the numbers are those of the JAX path.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from freeproj.adapters.numpy_core import (
    MAX_TABLE,
    checked,
    draw_bases,
    draw_word,
    matrix,
    table,
)

__all__ = ["FreeProjectionLayer"]


class FreeProjectionLayer(nn.Module):
    """Return M_o ξ = scale · T_2 λ(w) T_1 ξ for the last axis of the input.

    Args:
        in_features: the number of entries of ξ, at most the projection's `dim`.
        projection: a `FreeProjection`, of any family.
        seed: what bases and words are drawn from; None takes a fresh one.
        bases: base matrices (or permutations) to use instead of drawn ones.
    """

    bases: Tensor
    word: Tensor
    stream: Tensor  # (seed, number of draws)
    weight: Tensor
    table: Tensor | None
    entries: Tensor
    places: Tensor

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
        self.projection = law = checked(projection)
        if not 1 <= in_features <= law.dim:
            raise ValueError(
                f"`in_features` must be 1 to {law.dim} (the projection's `dim`), got "
                f"{in_features}; choose a larger `dim`."
            )
        self.in_features, self.out_features = in_features, law.input_dim
        entropy = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> 1
        self.register_buffer("stream", torch.tensor([int(entropy), 0], device=device))
        drawn = draw_bases(law, self._generator())
        if bases is not None:
            drawn = _like(np.array(bases), drawn)
        kept = torch.as_tensor(drawn).to(device)
        dtype = dtype or torch.get_default_dtype()
        self.register_buffer(
            "bases", kept.to(dtype) if kept.is_floating_point() else kept
        )
        word = torch.as_tensor(draw_word(law, self._generator()), dtype=torch.long)
        self.register_buffer("word", word.to(device))
        empty = torch.empty(self.out_features, in_features, device=device, dtype=dtype)
        self.register_buffer("weight", empty, persistent=False)
        self.register_buffer("table", None, persistent=False)
        entries = torch.arange(in_features, device=device)
        self.register_buffer("entries", entries, persistent=False)
        # Weights that turn a word's letters into its first row of the table.
        powers = [law.n_generators**k * in_features for k in range(law.length)][::-1]
        few = law.n_words * in_features <= MAX_TABLE
        places = torch.tensor(powers if few else [0], device=device)
        self.register_buffer("places", places, persistent=False)
        self._form()
        self.register_load_state_dict_post_hook(_form_again)

    def forward(
        self,
        observations: Float[Tensor, "*batch d_obs"],
        words: Int[Tensor, "#*batch length"] | None = None,
    ) -> Float[Tensor, "*batch d_in"]:
        """Project with the layer's word, or each observation with a word of its own.

        `words` has one word per observation: the shape of the input, with letters in
        place of entries.
        """
        if observations.shape[-1] != self.in_features:
            raise ValueError(
                f"The layer takes {self.in_features} entries (`in_features`), got "
                f"{observations.shape[-1]}."
            )
        if words is None:
            return nn.functional.linear(observations, self.weight)
        if not torch.compiler.is_compiling():
            self._check(words)
        table, first_rows = self._rows(words)
        # Σ_j ξ_j · (row j of the transposed matrix), without a matrix per observation.
        rows = first_rows.unsqueeze(-1) + self.entries
        rows, weights = torch.broadcast_tensors(rows, observations)
        flat = nn.functional.embedding_bag(
            rows.reshape(-1, self.in_features),
            table,
            mode="sum",
            per_sample_weights=weights.reshape(-1, self.in_features),
        )
        return flat.reshape(*weights.shape[:-1], self.out_features)

    def matrix(
        self, word: Int[Tensor, " length"] | None = None
    ) -> Float[Tensor, "d_in d_obs"]:
        """Return M_o of a word, by default of the layer's own."""
        if word is None:
            return self.weight
        self._check(word)
        return self._matrix(word)

    def resample(self, *, bases: bool = False) -> None:
        """Draw a new word in place; with `bases`, new base matrices before it."""
        law = self.projection
        if bases:
            self.bases.copy_(torch.as_tensor(draw_bases(law, self._generator())))
        self.word.copy_(torch.as_tensor(draw_word(law, self._generator())))
        if bases:
            self._form()
        else:
            self.weight.copy_(self._matrix(self.word))

    def sample_words(self, n_words: int) -> Int[Tensor, "n_words length"]:
        """Draw words to pass to `forward`, one per row."""
        rng = self._generator()
        drawn = [draw_word(self.projection, rng) for _ in range(n_words)]
        return torch.as_tensor(
            np.stack(drawn), dtype=torch.long, device=self.word.device
        )

    def extra_repr(self) -> str:
        law = self.projection
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"n_generators={law.n_generators}, length={law.length}, dim={law.dim}"
        )

    def _load_from_state_dict(self, state_dict, prefix, *others) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        # Files of 0.1 have no random stream: keep the layer's own.
        state_dict.setdefault(prefix + "stream", self.stream)
        super()._load_from_state_dict(state_dict, prefix, *others)

    def _generator(self) -> np.random.Generator:
        """Return the generator of the next draw, and count the draw."""
        seed, n_draws = self.stream.tolist()
        self.stream[1] += 1
        return np.random.default_rng((seed, n_draws))

    def _form(self) -> None:
        """Form the matrix of the layer's word and, if they are few, of all words."""
        if self.bases.is_meta:
            return
        law = self.projection
        few = law.n_words * self.out_features * self.in_features <= MAX_TABLE
        if few and not law.inverses:
            every = table(law, self.bases.cpu().numpy(), self.in_features)[1]
            self.table = self._rows_of(every)
        self.weight.copy_(self._matrix(self.word))

    def _matrix(self, word: Int[Tensor, " length"]) -> Float[Tensor, "d_in d_obs"]:
        table, first_row = self._rows(word)
        return table[first_row + self.entries].T

    def _rows(
        self, words: Int[Tensor, "*batch length"]
    ) -> tuple[Float[Tensor, "rows d_in"], Int[Tensor, "*batch"]]:
        """Return stacked transposed matrices, and the row where each word's begins.

        The matrices are those of all words, if they were formed; otherwise those of the
        distinct words given.
        """
        if self.table is not None:
            return self.table, ((words - 1) * self.places).sum(-1)
        flat = words.reshape(-1, self.projection.length)
        distinct, place = flat.unique(dim=0, return_inverse=True)
        first_rows = place.view(words.shape[:-1]) * self.in_features
        law, bases = self.projection, self.bases.cpu().numpy()
        letters = distinct.cpu().numpy()
        every = [matrix(law, word, bases, self.in_features) for word in letters]
        return self._rows_of(np.stack(every)), first_rows

    def _rows_of(
        self, matrices: Float[np.ndarray, "n_words d_in d_obs"]
    ) -> Float[Tensor, "rows d_in"]:
        """Transpose the matrices and stack them."""
        rows = matrices.transpose(0, 2, 1).reshape(-1, self.out_features)
        return torch.tensor(rows).to(self.weight)

    def _check(self, words: Int[Tensor, "*batch length"]) -> None:
        n, length = self.projection.n_generators, self.projection.length
        low = -n if self.projection.inverses else 1
        least, most = words.aminmax()
        zero = self.projection.inverses and (words == 0).any()
        if words.shape[-1] != length or least < low or most > n or zero:
            raise ValueError(
                f"`words` must have {length} letters in {low}..{n}, not 0, got "
                f"{words.tolist()}."
            )


def _form_again(layer: FreeProjectionLayer, _keys: Any) -> None:
    # A function of the module, since pickle knows no lambdas.
    layer._form()


def _like(bases: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Refuse bases of another shape or kind than the family draws."""
    if bases.shape != drawn.shape or bases.dtype.kind != drawn.dtype.kind:
        raise ValueError(
            f"`bases` must have shape {drawn.shape} and kind {drawn.dtype.kind!r}, got "
            f"{bases.shape} and {bases.dtype.kind!r}."
        )
    return bases
