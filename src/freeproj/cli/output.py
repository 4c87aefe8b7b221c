"""What commands print: text of files of others is shown, never obeyed."""

from __future__ import annotations

import click

from freeproj.names import printable

__all__ = ["echo"]


def echo(text: object = "", *, err: bool = False) -> None:
    """Print a text with its control characters escaped, but for line ends and tabs."""
    click.echo(printable(str(text), keep="\n\t"), err=err)
