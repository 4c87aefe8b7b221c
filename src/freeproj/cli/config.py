"""`freeproj config`: show all settings, or write them to a new file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from freeproj.cli.options import (
    FILE,
    NamingGroup,
    json_option,
    parse_settings,
    set_option,
)
from freeproj.cli.output import echo, print_json

if TYPE_CHECKING:
    from freeproj.learning.config import TrainConfig

__all__ = ["config", "init", "show"]

_SET = set_option("Override a setting")


@click.group(cls=NamingGroup)
def config() -> None:
    """Show all settings of a run, or write them to a file to edit."""


@config.command()
@click.argument("source", required=False)
@_SET
@json_option
def show(source: str | None, settings: tuple[str, ...], as_json: bool) -> None:
    """Print all settings of SOURCE: a preset, a TOML file or a run's folder.

    Without SOURCE, print the defaults, which are the paper's settings.
    """
    from freeproj.experiments.settings import flat, own_names, to_toml

    chosen = _shown(source, settings)
    if names := own_names(chosen):
        echo(
            f"Not imported: {', '.join(names)}. So it is not checked whether these "
            "settings go together.",
            err=True,
        )
    if as_json:
        print_json(flat(chosen))
    else:
        echo(to_toml(chosen).rstrip("\n"))


@config.command()
@click.argument("file", type=FILE)
@click.option("--base", default="laptop", help="Preset or file to start from.")
@_SET
def init(file: Path, base: str, settings: tuple[str, ...]) -> None:
    """Write all settings to FILE; edit it and pass it to `freeproj train`."""
    from freeproj.experiments.settings import to_toml
    from freeproj.storage.files import write_text

    if file.exists():
        raise ValueError(f"{file} exists already; name a new file.")
    text = f"# Started from {base}. A key that is left out has the paper's value.\n"
    text += to_toml(_shown(base, settings))
    write_text(file, text)
    echo(file)


def _shown(source: str | None, settings: tuple[str, ...]) -> TrainConfig:
    """Read settings without importing what they name."""
    from freeproj.experiments.settings import read_base, shown_config

    if source and (Path(source) / "config.toml").is_file():
        source = str(Path(source) / "config.toml")
    return shown_config(read_base(source) if source else {}, parse_settings(settings))
