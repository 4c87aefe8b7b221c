"""PyTorch: frames as a layer without parameters, used like a recurrent cell.

    layer = FrameLayer(128, size=4)
    frame = layer.empty(batch)                        # at an episode's start
    seen, frame = layer(observations, frame, starts)  # (batch, 128) -> (batch, 5)

Each row of the batch is an episode. It is shown in an orthonormal frame of what it has
shown so far, in coordinates that no projection changes (`projection.frames`).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from freeproj.projection.frames import ROUNDING

__all__ = ["FrameLayer", "TorchFrame"]


class TorchFrame(NamedTuple):
    """The directions met so far: the first `n_known` rows, zeros after them."""

    rows: Float[Tensor, "*batch k d"]
    n_known: Int[Tensor, "*batch"]


class FrameLayer(nn.Module):
    """Return coordinates in the frame of an episode, and what is left over.

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
        self.in_features = in_features
        self.size = in_features if size is None else size
        for name, value in (("in_features", in_features), ("size", self.size)):
            if value < 1:
                raise ValueError(f"`{name}` must be at least 1, got {value}.")
        if not threshold >= 0:
            raise ValueError(f"`threshold` must not be negative, got {threshold}.")
        self.threshold, self.out_features = threshold, self.size + 1

    def empty(
        self,
        *batch: int,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> TorchFrame:
        """Return the frames of episodes that have shown nothing yet."""
        rows = torch.zeros(
            *batch, self.size, self.in_features, device=device, dtype=dtype
        )
        return TorchFrame(rows, torch.zeros(*batch, device=device, dtype=torch.long))

    def forward(
        self,
        observations: Float[Tensor, "*batch d"],
        frame: TorchFrame | None = None,
        starts: Bool[Tensor, "*batch"] | None = None,
    ) -> tuple[Float[Tensor, "*batch slot"], TorchFrame]:
        """Return what is seen and the frames after it.

        Args:
            frame: the frames before; None: empty ones.
            starts: where an episode begins, so that its frame is emptied first.
        """
        x = observations
        if x.shape[-1] != self.in_features:
            raise ValueError(
                f"The layer takes {self.in_features} entries (`in_features`), got "
                f"{x.shape[-1]}."
            )
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
        shown, after = self(observations[0], frame, masks[0])
        seen = [shown]
        for x, mask in zip(observations[1:], masks[1:], strict=True):
            shown, after = self(x, after, mask)
            seen.append(shown)
        return torch.stack(seen), after

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, size={self.size}"


def _product(
    matrix: Float[Tensor, "*batch n d"], vector: Float[Tensor, "*batch d"]
) -> Float[Tensor, "*batch n"]:
    return (matrix @ vector[..., None])[..., 0]
