"""`freeproj config`: show all settings, or write them to a new file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from freeproj.cli.settings import parse_settings

__all__ = ["config", "init", "show"]

_SET = click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Override a setting."
)


@click.group()
def config() -> None:
    """Show all settings of a run, or write them to a file to edit."""


@config.command()
@click.argument("source", required=False)
@_SET
@click.option("--json", "as_json", is_flag=True, help="Print JSON with dotted keys.")
def show(source: str | None, settings: tuple[str, ...], as_json: bool) -> None:
    """Print all settings of SOURCE: a preset, a TOML file or a run's folder.

    Without SOURCE, print the defaults, which are the paper's settings.
    """
    from freeproj.experiments.settings import flat, read_config, to_toml

    if source and (Path(source) / "config.toml").is_file():
        source = str(Path(source) / "config.toml")
    chosen = read_config(source, parse_settings(settings))
    text = json.dumps(flat(chosen), indent=2) + "\n" if as_json else to_toml(chosen)
    click.echo(text, nl=False)


@config.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--base", default="laptop", show_default=True, help="Preset or file to start from."
)
@_SET
def init(file: Path, base: str, settings: tuple[str, ...]) -> None:
    """Write all settings to FILE; edit it and pass it to `freeproj train`."""
    from freeproj.experiments.settings import read_config, to_toml
    from freeproj.storage.files import write_atomically

    if file.exists():
        raise ValueError(f"{file} exists already; name a new file.")
    text = f"# Started from {base}. A key that is left out has the paper's value.\n"
    text += to_toml(read_config(base, parse_settings(settings)))
    write_atomically(file, lambda out: out.write(text.encode()))
    click.echo(file)
