"""Printing for commands: control characters from files of others are escaped."""

from __future__ import annotations

import click

from freeproj.storage.names import printable

__all__ = ["echo"]


def echo(text: object = "", *, err: bool = False) -> None:
    """Print a text with its control characters escaped, but for line ends and tabs."""
    click.echo(printable(str(text), keep="\n\t"), err=err)
