"""One self-contained page: pictures with their numbers, readable from disk, offline."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from freeproj import __version__
from freeproj.files import write_atomically

__all__ = ["Picture", "write_page"]

_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("freeproj.report"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)


@dataclass(frozen=True)
class Picture:
    """A drawn picture: its name, its one-line title, its PNG and its numbers."""

    name: str
    title: str
    png: Path
    numbers: Path

    @property
    def source(self) -> str:
        """The PNG as a data address, so that the page needs no other file."""
        encoded = base64.b64encode(self.png.read_bytes()).decode()
        return f"data:image/png;base64,{encoded}"


def write_page(path: str | Path, pictures: Sequence[Picture]) -> Path:
    """Writes the page with all pictures in it and returns its path."""
    path = Path(path)
    template = _TEMPLATES.get_template("report.html.jinja")
    page = template.render(pictures=pictures, version=__version__)
    write_atomically(path, lambda file: file.write(page.encode()))
    return path
