"""Settings as TOML: files that others may have written, and our own."""

import json
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from freeproj.storage.files import read_regular

__all__ = ["parse_toml", "read_toml", "write_toml"]

_MAX_BYTES = 2**17  # of a file of settings
_MAX_DOTS = 200  # in a line: the time that Python takes is quadratic in them


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; an error names it."""
    try:
        text = read_regular(path, _MAX_BYTES).decode()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8.") from None
    return parse_toml(text, path)


def parse_toml(text: str, source: object) -> dict[str, Any]:
    """Parse TOML that others may have written; an error names its source."""
    if any(line.count(".") > _MAX_DOTS for line in text.split("\n")):
        raise ValueError(f"{source} has more than {_MAX_DOTS} dots in one line.")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source} is not TOML: {error}") from error
    except RecursionError:
        raise ValueError(f"{source} is nested too deeply.") from None


def write_toml(plain: Mapping[str, Any]) -> str:
    """Write settings: single values first, then tables, then the list of stages."""
    tables = {key: value for key, value in plain.items() if isinstance(value, dict)}
    stages = [dict(stage) for stage in plain.get("stages", ())]
    single = [key for key in plain if key not in tables and key != "stages"]
    lines = [f"{key} = {_value(plain[key])}" for key in single]
    blocks = [(f"[{name}]", table) for name, table in tables.items()]
    for head, table in (*blocks, *(("[[stages]]", stage) for stage in stages)):
        lines += ["", head, *(f"{k} = {_value(v)}" for k, v in table.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """Write one TOML value; JSON and TOML write values alike, except infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return json.dumps(list(value) if isinstance(value, tuple) else value)
