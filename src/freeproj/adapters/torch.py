"""PyTorch: the projection and the frame as layers without parameters.

    layer = FreeProjectionLayer(4, FreeProjection(4, 4), seed=0)
    hidden = layer(observations)              # (..., 4) -> (..., 128)
    layer.resample()                          # a new word, as at a new episode

Bases, word and random stream are buffers: they move with `.to(...)`, and `state_dict`
keeps them. The matrices of all words are formed once per set of bases, so `forward` is
one product, or a look-up and a batched product, and can be compiled and exported. From
the same bases and word the numbers are those of the JAX path.

    layer = FrameLayer(128, size=4)
    frame = layer.empty(batch)                        # at an episode's start
    seen, frame = layer(observations, frame, starts)  # (batch, 128) -> (batch, 5)
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from freeproj.adapters.numpy_core import checked, draw_bases, draw_word, matrix, table
from freeproj.projection.frames import ROUNDING
from freeproj.storage.checks import at_least

__all__ = ["FrameLayer", "FreeProjectionLayer", "TorchFrame"]

_Device = torch.device | str | None


class FreeProjectionLayer(nn.Module):
    """Return M_o ξ = scale · T_2 λ(w) T_1 ξ for the last axis of the input.

    Args:
        in_features: the number of entries of ξ, at most the projection's `dim`.
        projection: a `FreeProjection`, or d for `FreeProjection(4, 4, d)`.
        seed: what bases and words are drawn from; None takes a fresh one.
        bases: base matrices (or permutations) to use instead of drawn ones.
    """

    bases: Tensor
    word: Tensor
    stream: Tensor  # (seed, number of draws)
    weight: Tensor
    table: Tensor | None

    def __init__(
        self,
        in_features: int,
        projection: Any,
        *,
        seed: int | None = None,
        bases: Any = None,
        device: _Device = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        self.projection = law = checked(projection, in_features)
        self.in_features, self.out_features = in_features, law.input_dim
        entropy = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] >> 1
        self.register_buffer("stream", torch.tensor([int(entropy), 0], device=device))
        drawn = draw_bases(law, self._generator())
        if bases is not None:
            given = np.array(bases)
            needed, got = ((each.shape, each.dtype.kind) for each in (drawn, given))
            if got != needed:
                rule = f"must have shape and kind {needed}, got {got}"
                raise ValueError(f"`bases` {rule}.")
            drawn = given
        dtype = dtype or torch.get_default_dtype()
        kept = dtype if drawn.dtype.kind == "f" else None
        self.register_buffer("bases", torch.tensor(drawn, dtype=kept, device=device))
        word = torch.tensor(draw_word(law, self._generator()), dtype=torch.long)
        self.register_buffer("word", word.to(device))
        empty = torch.empty(self.out_features, in_features, device=device, dtype=dtype)
        self.register_buffer("weight", empty, persistent=False)
        self.register_buffer("table", None, persistent=False)
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
        _check_entries(self, observations)
        if words is None:
            return functional.linear(observations, self.weight)
        if not torch.compiler.is_compiling():
            self._check(words)
        table, rows = self._rows(words)
        # Σ_j ξ_j · (row j of the transposed matrix), without a matrix per observation.
        rows, weights = torch.broadcast_tensors(rows, observations)
        each, by = (x.reshape(-1, self.in_features) for x in (rows, weights))
        flat = functional.embedding_bag(each, table, mode="sum", per_sample_weights=by)
        return flat.reshape(*weights.shape[:-1], self.out_features)

    def matrix(
        self, word: Int[Tensor, " length"] | None = None
    ) -> Float[Tensor, "d_in d_obs"]:
        """Return M_o of a word, by default of the layer's own."""
        if word is None:
            return self.weight
        self._check(word)
        table, rows = self._rows(word)
        return table[rows].T

    def resample(self, *, bases: bool = False) -> None:
        """Draw a new word in place; with `bases`, new base matrices before it."""
        law = self.projection
        if bases:
            self.bases.copy_(torch.as_tensor(draw_bases(law, self._generator())))
            self._form()
        self.word.copy_(torch.as_tensor(draw_word(law, self._generator())))
        self.weight.copy_(self.matrix(self.word))

    def sample_words(self, n_words: int) -> Int[Tensor, "n_words length"]:
        """Draw words to pass to `forward`, one per row."""
        rng = self._generator()
        drawn = [draw_word(self.projection, rng) for _ in range(n_words)]
        return torch.tensor(np.stack(drawn)).to(self.word)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, {self.projection}"

    def _generator(self) -> np.random.Generator:
        """Return the generator of the next draw, and count the draw."""
        seed, n_draws = self.stream.tolist()
        self.stream[1] += 1
        return np.random.default_rng((seed, n_draws))

    def _form(self) -> None:
        """Form the matrix of the layer's word and, if they are few, of all words."""
        if self.bases.is_meta:
            return
        every = None
        if not self.projection.inverses:  # their places in a table are no numbers
            bases = self.bases.cpu().numpy()
            every = table(self.projection, bases, self.in_features)
        self.table = None if every is None else self._stacked(every[1])
        self.weight.copy_(self.matrix(self.word))

    def _rows(
        self, words: Int[Tensor, "*batch length"]
    ) -> tuple[Float[Tensor, "rows d_in"], Int[Tensor, "*batch d_obs"]]:
        """Return stacked transposed matrices, and the rows that belong to each word."""
        law, device = self.projection, words.device
        entries = torch.arange(self.in_features, device=device)
        if self.table is not None:
            powers = law.n_generators ** torch.arange(law.length, device=device).flip(0)
            place = ((words - 1) * powers).sum(-1)
            return self.table, place[..., None] * self.in_features + entries
        flat, bases = words.reshape(-1, law.length), self.bases.cpu().numpy()
        distinct, place = flat.unique(dim=0, return_inverse=True)
        every = [matrix(law, word, bases, self.in_features) for word in distinct.cpu()]
        place = place.view(words.shape[:-1])[..., None]
        return self._stacked(np.stack(every)), place * self.in_features + entries

    def _stacked(self, matrices: Float[np.ndarray, "n d_in d_obs"]) -> Tensor:
        rows = matrices.transpose(0, 2, 1).reshape(-1, self.out_features)
        return torch.tensor(rows).to(self.weight)

    def _check(self, words: Int[Tensor, "*batch length"]) -> None:
        n, length = self.projection.n_generators, self.projection.length
        low = -n if self.projection.inverses else 1
        in_range = (words >= low) & (words <= n) & (words != 0)
        if words.shape[-1] != length or not in_range.all():
            raise ValueError(
                f"`words` must have {length} letters in {low}..{n}, not 0, got "
                f"{words.tolist()}."
            )


def _form_again(layer: FreeProjectionLayer, _keys: Any) -> None:
    # A function of the module, since pickle knows no lambdas.
    layer._form()


class TorchFrame(NamedTuple):
    """The directions met so far: the first `n_known` rows, zeros after them."""

    rows: Float[Tensor, "*batch k d"]
    n_known: Int[Tensor, "*batch"]


class FrameLayer(nn.Module):
    """Return coordinates in the frame of an episode, and what is left over.

    Each row of the batch is an episode; no projection changes what it shows
    (`projection.frames`).

    Args:
        in_features: the number of entries of an observation.
        size: k, the number of directions that a frame keeps; the output has one entry
            more. By default `in_features`.
        threshold: the norm that a direction must have to be kept as new.
    """

    def __init__(
        self, in_features: int, size: int | None = None, *, threshold: float = 0.0
    ):
        super().__init__()
        self.in_features, self.size = in_features, in_features if size is None else size
        at_least(1, in_features=in_features, size=self.size)
        at_least(0, threshold=threshold)
        self.threshold, self.out_features = threshold, self.size + 1

    def empty(
        self, *batch: int, device: _Device = None, dtype: torch.dtype | None = None
    ) -> TorchFrame:
        """Return the frames of episodes that have shown nothing yet."""
        shape = *batch, self.size, self.in_features
        n_known = torch.zeros(*batch, device=device, dtype=torch.long)
        return TorchFrame(torch.zeros(*shape, device=device, dtype=dtype), n_known)

    def forward(
        self,
        observations: Float[Tensor, "*batch d"],
        frame: TorchFrame | None = None,  # None: empty ones
        starts: Bool[Tensor, "*batch"] | None = None,
    ) -> tuple[Float[Tensor, "*batch slot"], TorchFrame]:
        """Return what is seen and the frames after it, emptied where one `starts`."""
        x = observations
        _check_entries(self, x)
        if frame is None:
            frame = self.empty(*x.shape[:-1], device=x.device, dtype=x.dtype)
        rows, n_known = frame
        if starts is not None:
            rows = rows.masked_fill(starts[..., None, None], 0.0)
            n_known = n_known.masked_fill(starts, 0)
        known = _product(rows, x)
        rest = x - _product(rows.mT, known)
        more = _product(rows, rest)  # once more, for rounding
        known, rest = known + more, rest - _product(rows.mT, more)
        length = torch.linalg.vector_norm(rest, dim=-1)
        least = (ROUNDING * torch.linalg.vector_norm(x, dim=-1)).clamp(self.threshold)
        is_new = (length > least) & (n_known < self.size)
        order = torch.arange(self.size, device=x.device)
        place = (order == n_known[..., None]) & is_new[..., None]
        row = rest / torch.where(is_new, length, 1.0)[..., None]
        rows = torch.where(place[..., None], row[..., None, :], rows)
        known = torch.where(place, length[..., None], known)
        left_over = torch.where(is_new, 0.0, length)[..., None]
        return torch.cat([known, left_over], -1), TorchFrame(rows, n_known + is_new)

    def unroll(
        self,
        observations: Float[Tensor, "steps *batch d"],
        frame: TorchFrame | None = None,
        starts: Bool[Tensor, " steps *batch"] | None = None,
    ) -> tuple[Float[Tensor, "steps *batch slot"], TorchFrame]:
        """See a sequence, time first; the same as one `forward` after the other."""
        masks = [None] * len(observations) if starts is None else starts
        seen = []
        for x, mask in zip(observations, masks, strict=True):
            shown, frame = self(x, frame, mask)
            seen.append(shown)
        return torch.stack(seen), frame  # pyright: ignore

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, size={self.size}"


def _product(matrix: Tensor, vector: Tensor) -> Tensor:
    return (matrix @ vector[..., None])[..., 0]


def _check_entries(layer: Any, observations: Tensor) -> None:
    n, given = layer.in_features, observations.shape[-1]
    if given != n:
        raise ValueError(f"The layer takes {n} entries (`in_features`), got {given}.")
