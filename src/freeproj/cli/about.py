"""`freeproj config`, `doctor` and `cite`: what is set, installed, and to be named."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from freeproj import __version__
from freeproj.cli import output
from freeproj.cli.options import FILE, NamingGroup, json_option, set_option

if TYPE_CHECKING:
    from freeproj.learning.config import TrainConfig

__all__ = ["EXTRAS", "cite", "config", "doctor", "init", "show"]

_BIBTEX = """\
@software{{freeproj,
  title   = {{freeproj: free random projections for in-context reinforcement learning}},
  author  = {{{{The freeproj developers}}}},
  version = {{{version}}},
  year    = {{2026}},
  license = {{Apache-2.0}}
}}

@inproceedings{{hayase2026free,
  title     = {{Free Random Projection for In-Context Reinforcement Learning}},
  author    = {{Hayase, Tomohiro and Collins, Beno{{\\^i}}t and Inoue, Nakamasa}},
  booktitle = {{International Conference on Artificial Intelligence and Statistics}},
  year      = {{2026}}
}}"""

_CORE = ("jax", "jaxlib", "equinox", "optax", "jaxtyping", "numpy", "scipy", "click")
# By distribution: the extra that brings it.
EXTRAS = {
    **dict.fromkeys(("matplotlib", "jinja2", "pillow"), "report"),
    **dict.fromkeys(("stable-baselines3", "sb3-contrib"), "sb3"),
    **{"scikit-learn": "sklearn", "submitit": "slurm", "tensorboardx": "tensorboard"},
    **{"mkdocs-material": "docs", "popgym": "test"},
    **{
        each: each for each in ["gymnasium", "gymnax", "memax", "torch", "ray", "wandb"]
    },
}


@click.command()
def cite() -> None:
    """Print BibTeX entries for the software and the paper."""
    click.echo(_BIBTEX.format(version=__version__))


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Show versions, installed extras and devices."""
    import jax

    found = {
        "freeproj": __version__,
        "python": f"{platform.python_version()} on {platform.system()}",
        **{name: _version_of(name) for name in (*_CORE, "rich", *EXTRAS)},
        "devices": ", ".join(f"{each.platform}:{each.id}" for each in jax.devices()),
        "float64": "on" if jax.config.read("jax_enable_x64") else "off (default)",
    }
    output.show(found, output.columns(list(found.items())), as_json)


def _version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        extra = EXTRAS.get(package)
        lacking = "MISSING: the core needs it; reinstall freeproj"
        return f"not installed (pip install 'freeproj[{extra}]')" if extra else lacking


@click.group(cls=NamingGroup)
def config() -> None:
    """Show all settings of a run, or write them to a file to edit."""


@config.command()
@click.argument("source", required=False)
@set_option("Override a setting")
@json_option
def show(source: str | None, settings: dict[str, Any], as_json: bool) -> None:
    """Print all settings of SOURCE: a preset, a file or a run.

    SOURCE is the name of a preset, a TOML file or a run's folder. Without it, print the
    defaults, which are the paper's settings.
    """
    from freeproj.experiments.settings import flat, own_names, to_toml

    chosen = _shown(source, settings)
    if names := ", ".join(own_names(chosen)):
        why = "So it is not checked whether these settings go together."
        output.echo(f"Not imported: {names}. {why}", err=True)
    output.show(flat(chosen), to_toml(chosen).rstrip("\n"), as_json)


@config.command()
@click.argument("file", type=FILE)
@click.option("--base", default="laptop", help="Preset or file to start from.")
@set_option("Override a setting")
def init(file: Path, base: str, settings: dict[str, Any]) -> None:
    """Write all settings to FILE; edit it and pass it to `freeproj train`."""
    from freeproj.experiments.settings import to_toml
    from freeproj.storage.files import write_text

    if file.exists():
        raise ValueError(f"{file} exists already; name a new file.")
    head = f"# Started from {base}. A key that is left out has the paper's value.\n"
    write_text(file, head + to_toml(_shown(base, settings)))
    output.echo(file)


def _shown(source: str | None, settings: dict[str, Any]) -> TrainConfig:
    """Read settings without importing what they name."""
    from freeproj.experiments.settings import read_base, shown_config

    if source and (Path(source) / "config.toml").is_file():
        source = str(Path(source) / "config.toml")
    return shown_config(read_base(source) if source else {}, settings)
