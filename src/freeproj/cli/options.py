"""Options that several commands share, and lists of words."""

import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from freeproj.storage.names import import_own, suggestion

__all__ = [
    "FILE",
    "NamingGroup",
    "SpreadCommand",
    "import_option",
    "json_option",
    "out_option",
    "parse_settings",
    "quiet_option",
    "seed_option",
    "set_option",
    "split_words",
]

FILE = click.Path(path_type=Path, dir_okay=False)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
quiet_option = click.option("--quiet", is_flag=True, help="Show no progress.")
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="Seed of the episodes."
)


def set_option(text: str) -> Callable:
    """Return `--set KEY=VALUE`, which may be repeated."""
    what = f"{text}; may be repeated."
    return click.option(
        "--set", "settings", multiple=True, metavar="KEY=VALUE", help=what
    )


def out_option(default: str, text: str) -> Callable:
    """Return `--out FOLDER`."""
    kind = click.Path(path_type=Path, file_okay=False)
    return click.option("--out", type=kind, default=Path(default), help=text)


def _import(context: click.Context, option: click.Parameter, modules: tuple) -> None:
    for module in modules:
        import_own(module, f"module {module!r}")


import_option = click.option(
    "--import",
    multiple=True,
    metavar="MODULE",
    expose_value=False,
    callback=_import,
    help="Import this module first; it may add questions, figures or tables.",
)


class NamingGroup(click.Group):
    """A group of commands that answers an unknown name with the nearest one."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            near = suggestion(args[0], known)
            listed = ", ".join(known)
            raise click.UsageError(f"No command {args[0]!r}.{near} Known: {listed}.")
        return super().resolve_command(ctx, args)


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
