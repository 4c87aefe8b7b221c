"""`--set KEY=VALUE`: values as in TOML, bare words as strings."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

__all__ = ["parse_settings"]


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Turns `["depth=7", "drawing=arcs"]` into `{"depth": 7, "drawing": "arcs"}`."""
    return dict(_parse(setting) for setting in settings)


def _parse(setting: str) -> tuple[str, Any]:
    key, equals, text = setting.partition("=")
    key, text = key.strip(), text.strip()
    if not (equals and key and text):
        raise ValueError(f"`--set` takes KEY=VALUE, got {setting!r}.")
    try:
        return key, tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return key, text  # a bare word, such as a task's name
