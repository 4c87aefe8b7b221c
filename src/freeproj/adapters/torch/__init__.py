"""PyTorch: the projection and the frame as layers without parameters."""

from __future__ import annotations

from freeproj.adapters.torch.frames import FrameLayer, TorchFrame
from freeproj.adapters.torch.projection import FreeProjectionLayer

__all__ = ["FrameLayer", "FreeProjectionLayer", "TorchFrame"]
