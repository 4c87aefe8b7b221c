"""`freeproj cite` and `freeproj doctor`."""

from __future__ import annotations

import importlib.metadata
import platform

import click

from freeproj import __version__

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

_CORE = [
    "jax",
    "jaxlib",
    "equinox",
    "optax",
    "jaxtyping",
    "numpy",
    "scipy",
    "click",
    "rich",
]
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
def doctor() -> None:
    """Show versions, installed extras and devices."""
    _say("freeproj", __version__)
    _say("python", f"{platform.python_version()} on {platform.system()}")
    for package in (*_CORE, *EXTRAS):
        _say(package, _version_of(package, EXTRAS.get(package, "")))
    import jax

    devices = ", ".join(f"{device.platform}:{device.id}" for device in jax.devices())
    _say("devices", devices)
    _say("float64", "on" if jax.config.read("jax_enable_x64") else "off (default)")


def _say(what: str, value: str) -> None:
    click.echo(f"{what:<17} {value}")


def _version_of(package: str, extra: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        if extra:
            return f"not installed (pip install 'freeproj[{extra}]')"
        return "MISSING: the core needs it; reinstall freeproj"
