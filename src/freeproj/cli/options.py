"""Options that several commands share, and lists of words."""

import itertools
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from freeproj.storage.names import import_own, suggestion

__all__ = ["FILE", "NamingGroup", "SpreadCommand", "import_option", "jobs_option"]
__all__ += [
    "json_option",
    "out_option",
    "quiet_option",
    "run_argument",
    "seed_option",
    "set_option",
]
__all__ += ["settings_option", "split_words", "wide_option"]

FILE = click.Path(path_type=Path, dir_okay=False)

run_argument = click.argument("run", type=click.Path(path_type=Path))
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
quiet_option = click.option("--quiet", is_flag=True, help="Show no progress.")
wide_option = click.option("--wide", is_flag=True, help="All columns, however wide.")
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Processes, or SLURM jobs at once. Default: one per core; all.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="Seed of the episodes."
)


def out_option(default: str, text: str) -> Callable:
    """Return `--out FOLDER`."""
    kind = click.Path(path_type=Path, file_okay=False)
    return click.option("--out", type=kind, default=Path(default), help=text)


def settings_option(*names: str, text: str) -> Callable:
    """Return an option KEY=VALUE that may be repeated; the command gets one dict."""
    return click.option(
        *names,
        multiple=True,
        metavar="KEY=VALUE",
        callback=lambda _context, _option, settings: dict(map(_parse, settings)),
        help=f"{text}; may be repeated.",
    )


def set_option(text: str) -> Callable:
    """Return `--set KEY=VALUE`, such as depth=7 for {"depth": 7}."""
    return settings_option("--set", "settings", text=text)


def _parse(setting: str) -> tuple[str, Any]:
    key, equals, text = (part.strip() for part in setting.partition("="))
    if not (equals and key and text):
        raise ValueError(f"`--set` takes KEY=VALUE, got {setting!r}.")
    try:
        return key, tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return key, text  # a bare word, such as a task's name


import_option = click.option(
    "--import",
    multiple=True,
    metavar="MODULE",
    expose_value=False,
    callback=lambda _context, _option, modules: [
        import_own(module, f"module {module!r}") for module in modules
    ],
    help="Import this module first; it may add questions, figures or tables.",
)


class NamingGroup(click.Group):
    """A group of commands that answers an unknown name with the nearest one."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            near, listed = suggestion(args[0], known), ", ".join(known)
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
        option = ""
        for before, arg in itertools.pairwise(["", *args]):
            if before in self.spread or (option and not arg.startswith("-")):
                repeated += [option, arg]
            else:
                option = arg if arg in self.spread else ""
                repeated += [] if option else [arg]
        repeated += [option] if args and args[-1] == option else []
        return super().parse_args(ctx, repeated)


def split_words(values: Iterable[str]) -> list[str]:
    """Return words that were given one by one or with commas between them."""
    return [word for value in values for word in value.split(",") if word]
