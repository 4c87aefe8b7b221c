"""`--import MODULE`: a user's module that adds questions, figures or tables."""

from __future__ import annotations

import click

__all__ = ["import_option"]


def _import(context: click.Context, option: click.Parameter, modules: tuple) -> None:
    from freeproj.storage.names import import_own

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
