"""Options that several commands share: `--set KEY=VALUE`, and lists of words."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any

import click

__all__ = ["SpreadCommand", "parse_settings", "split_words"]


class SpreadCommand(click.Command):
    """A command some of whose options take all the words that follow: `--maps a b`."""

    def __init__(self, *args: Any, spread: tuple[str, ...] = (), **settings: Any):
        super().__init__(*args, **settings)
        self.spread = spread

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option in front of each of its words."""
        repeated: list[str] = []
        option, awaits = "", False
        for arg in args:
            if awaits or (option and not arg.startswith("-")):
                repeated += [option, arg]
                awaits = False
                continue
            option = arg if arg in self.spread else ""
            awaits = bool(option)
            repeated += [] if option else [arg]
        repeated += [option] if awaits else []
        return super().parse_args(ctx, repeated)


def split_words(values: Iterable[str]) -> list[str]:
    """Return words that were given one by one or with commas between them."""
    return [word for value in values for word in value.split(",") if word]


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """Turn `["depth=7", "drawing=arcs"]` into `{"depth": 7, "drawing": "arcs"}`."""
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
