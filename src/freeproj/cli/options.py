"""Options that several commands share, and lists of words."""

import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from freeproj.storage.names import import_own, suggestion

__all__ = ["COUNT", "FILE", "FOLDER", "NamingGroup", "SpreadCommand", "import_option"]
__all__ += ["jobs_option", "json_option", "out_option", "quiet_option", "run_argument"]
__all__ += ["seed_option", "set_option", "split_words", "wide_option"]

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
COUNT = click.IntRange(min=1)

run_argument = click.argument("run", type=click.Path(path_type=Path))
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
quiet_option = click.option("--quiet", is_flag=True, help="Show no progress.")
wide_option = click.option("--wide", is_flag=True, help="All columns, however wide.")
jobs_option = click.option(
    "--jobs",
    type=COUNT,
    help="Processes, or SLURM jobs at once. Default: one per core; all.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="Random seed."
)


def out_option(default: str, text: str) -> Callable:
    """Return `--out FOLDER`."""
    return click.option("--out", type=FOLDER, default=Path(default), help=text)


def set_option(text: str, *names: str) -> Callable:
    """Return `--set KEY=VALUE`, or another, such as depth=7 for {"depth": 7}."""
    return click.option(
        *(names or ("--set", "settings")),
        multiple=True,
        metavar="KEY=VALUE",
        callback=lambda _context, _option, settings: dict(map(_parse, settings)),
        help=f"{text}; may be repeated.",
    )


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
            near = suggestion(args[0], known) or f" Known: {', '.join(known)}."
            raise click.UsageError(f"No command {args[0]!r}.{near}")
        return super().resolve_command(ctx, args)


class SpreadCommand(click.Command):
    """A command some of whose options take all the words that follow: `--maps a b`."""

    def __init__(self, *args: Any, spread: tuple[str, ...] = (), **settings: Any):
        super().__init__(*args, **settings)
        self.spread = spread

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Join the words after such an option by commas; `split_words` parts them."""
        joined: list[str] = []
        for arg in args:
            if joined[-2:-1] and joined[-2] in self.spread and not arg.startswith("-"):
                joined[-1] += f",{arg}"
            else:
                joined.append(arg)
        return super().parse_args(ctx, joined)


def split_words(values: Iterable[str]) -> list[str]:
    """Return words that were given one by one or with commas between them."""
    return [word for value in values for word in value.split(",") if word]
