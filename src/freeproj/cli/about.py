"""`freeproj cite` and `freeproj doctor`."""

import importlib.metadata
import platform

import click

from freeproj import __version__
from freeproj.cli.options import json_option
from freeproj.cli.output import columns, print_json

__all__ = ["EXTRAS", "cite", "doctor"]

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

_CORE = (
    *("jax", "jaxlib", "equinox", "optax", "jaxtyping"),
    *("numpy", "scipy", "click", "rich"),
)
_OF_EXTRAS = {
    "report": "matplotlib jinja2 pillow",
    "gymnasium": "gymnasium",
    "gymnax": "gymnax",
    "memax": "memax",
    "torch": "torch",
    "sb3": "stable-baselines3 sb3-contrib",
    "sklearn": "scikit-learn",
    "ray": "ray",
    "slurm": "submitit",
    "tensorboard": "tensorboardx",
    "wandb": "wandb",
    "docs": "mkdocs-material",
    "test": "popgym",
}
# By distribution: the extra that brings it.
EXTRAS = {name: extra for extra, names in _OF_EXTRAS.items() for name in names.split()}


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
        **{name: _version_of(name, EXTRAS.get(name, "")) for name in (*_CORE, *EXTRAS)},
        "devices": ", ".join(f"{each.platform}:{each.id}" for each in jax.devices()),
        "float64": "on" if jax.config.read("jax_enable_x64") else "off (default)",
    }
    if as_json:
        print_json(found)
    else:
        click.echo(columns(list(found.items())))


def _version_of(package: str, extra: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        if extra:
            return f"not installed (pip install 'freeproj[{extra}]')"
        return "MISSING: the core needs it; reinstall freeproj"
