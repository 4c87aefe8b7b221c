"""Settings as text: read from TOML, overridden one by one, written, hashed, named.

An unknown key or a value of the wrong type is an error that says what is allowed. A run
is named by the hash of its settings.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from freeproj.config import TrainConfig
from freeproj.envs import make
from freeproj.projection import FreeProjection

__all__ = [
    "SHIPPED",
    "config_from",
    "digest",
    "dotted",
    "read_config",
    "run_name",
    "to_toml",
]

_CONFIGS = Path(__file__).parents[1] / "configs"
SHIPPED = tuple(sorted(path.stem for path in _CONFIGS.glob("*.toml")))


def read_config(
    source: str | Path | None = None, settings: Mapping[str, Any] | None = None
) -> TrainConfig:
    """Reads a TOML file, or a shipped one by its name, and overrides `settings`."""
    return config_from(_read_toml(source) if source else {}, settings or {})


def config_from(
    values: Mapping[str, Any], settings: Mapping[str, Any] | None = None
) -> TrainConfig:
    """Builds settings from nested tables and from dotted keys that override them."""
    table = json.loads(json.dumps(values))  # a copy, of plain values only
    for key, value in (settings or {}).items():
        *path, last = key.split(".")
        inner = table
        for name in path:
            inner = inner.setdefault(name, {})
            if not isinstance(inner, dict):
                raise ValueError(f"`{key}`: `{name}` is a value, not a table.")
        inner[last] = value
    return _build(TrainConfig, table, "")


def dotted(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Writes nested tables with dotted keys: {"ppo": {"clip": 1}} as "ppo.clip"."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= dotted(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = value
    return flat


def to_toml(config: TrainConfig) -> str:
    """Writes all settings as TOML, such that `config_from` gives them back."""
    plain = dataclasses.asdict(config)
    tables = {key: value for key, value in plain.items() if isinstance(value, dict)}
    lines = [f"{key} = {_value(plain[key])}" for key in plain if key not in tables]
    for name, table in tables.items():
        lines += ["", f"[{name}]", *(f"{k} = {_value(v)}" for k, v in table.items())]
    return "\n".join(lines) + "\n"


def digest(config: TrainConfig) -> str:
    """Return the hash of all settings: equal for equal settings only."""
    return hashlib.sha256(to_toml(config).encode()).hexdigest()[:12]


def run_name(config: TrainConfig) -> str:
    """Return a folder name: what a person wants to know, and the hash."""
    tasks = "+".join(make(task).name for task in config.tasks)
    shape = f"n{config.projection.n_generators}-l{config.projection.length}"
    return f"{tasks}-{config.memory}-{shape}-s{config.seed}-{digest(config)}"


def _read_toml(source: str | Path) -> dict[str, Any]:
    path = _CONFIGS / f"{source}.toml" if str(source) in SHIPPED else Path(source)
    if not path.is_file():
        known = ", ".join(SHIPPED)
        raise FileNotFoundError(
            f"No file {path}, and none of the shipped ones ({known})."
        )
    try:
        return tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}") from error


def _build(cls: type, table: Mapping[str, Any], prefix: str) -> Any:
    """Makes a settings object from a table; refuses keys and types it does not have."""
    fields = {each.name: each for each in dataclasses.fields(cls)}
    allowed = [*fields, "n_words"] if cls is FreeProjection else list(fields)
    for key in table:
        if key not in allowed:
            raise ValueError(
                f"No setting `{prefix}{key}`. Known: "
                f"{', '.join(prefix + name for name in allowed)}."
            )
    if cls is FreeProjection:
        return _projection(table)
    values = {}
    for key, value in table.items():
        default = _default(fields[key])
        values[key] = _converted(value, default, prefix + key)
    return cls(**values)


def _projection(table: Mapping[str, Any]) -> FreeProjection:
    """Makes the projection; `n_words` stands for the generators at any length."""
    values = {"length": 4, **table}
    n_words = values.pop("n_words", None)
    for key, value in values.items():
        sample = {"scale": 1.0, "family": "", "inverses": False}.get(key, 0)
        values[key] = _converted(value, sample, f"projection.{key}")
    if n_words is None:
        return FreeProjection(**{"n_generators": 4, **values})
    if "n_generators" in values:
        raise ValueError(
            "Give `projection.n_words` or `projection.n_generators`, not both."
        )
    return FreeProjection.with_words(n_words, values.pop("length"), **values)


def _default(each: dataclasses.Field) -> Any:
    if each.default is not dataclasses.MISSING:
        return each.default
    assert each.default_factory is not dataclasses.MISSING
    return each.default_factory()


def _converted(value: Any, default: Any, key: str) -> Any:
    """Returns the value in the type of the default, where nothing is lost by it."""
    if dataclasses.is_dataclass(default):
        if isinstance(value, Mapping):
            return _build(type(default), value, f"{key}.")
    elif isinstance(default, bool) or isinstance(value, bool):
        if isinstance(value, bool) and isinstance(default, bool):
            return value
    elif isinstance(default, float) and isinstance(value, int | float):
        return float(value)
    elif key == "task" and isinstance(value, list) and value:
        return tuple(map(str, value))
    elif isinstance(value, type(default)):
        return value
    kind = "table" if dataclasses.is_dataclass(default) else type(default).__name__
    article = "an" if kind == "int" else "a"
    raise ValueError(f"`{key}` must be {article} {kind}, got {value!r}.")


def _value(value: Any) -> str:
    """Writes one TOML value; JSON's notation is TOML's for these types."""
    return json.dumps(list(value) if isinstance(value, tuple) else value)
