"""JSON for a page: rounded numbers, no nan, nothing that could end a script."""

from __future__ import annotations

import json
import math
from typing import Any

__all__ = ["plain", "script_json"]

_DIGITS = 5


def script_json(data: Any) -> str:
    """Return JSON that can stand in a <script> element whatever the texts in it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def plain(value: Any) -> Any:
    """Round numbers to what a screen can show and turn nan into null."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    return value
