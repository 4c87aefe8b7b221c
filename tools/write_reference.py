"""Write the generated parts of the documentation.

    python tools/write_reference.py

Commands come from click, settings from the dataclasses, figures and tables from their
registries, studies from their files, short tables from the published data. Replaces
what stands between `<!-- NAME -->` and `<!-- end NAME -->` in docs/; a test holds the
pages equal to what this would write. What the code does not say (a line on each preset,
meanings without a docstring) is in reference.toml beside this file.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

import freeproj
import write_answer
from freeproj import cli
from freeproj.experiments.study import STUDIES, read_study
from freeproj.findings.labels import map_title, task_title, value_text
from freeproj.learning.config import TrainConfig
from freeproj.published import load
from freeproj.report.figures import FIGURES
from freeproj.report.tables import TABLES
from freeproj.report.tables.maps import map_records

BAR = "\\|"  # within a table; in code it would be shown as written
DOCS = Path(__file__).parents[1] / "docs"
SAID: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("reference.toml").read_text(encoding="utf-8")
)


def main() -> None:
    """Write all pages."""
    for path in sorted(DOCS.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = filled(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(path)


def filled(text: str) -> str:
    """Return a page with all of its generated blocks written anew."""
    for name in BLOCKS:
        marks = rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)"
        if re.search(marks, text, re.DOTALL):
            body = f"\n{_written(name)}\n\n"
            text = re.sub(
                marks, lambda m, b=body: f"{m[1]}{b}{m[2]}", text, flags=re.DOTALL
            )
    return text


@functools.cache
def _written(name: str) -> str:
    return BLOCKS[name]()


# Commands


def commands_block() -> str:
    """Return every command with its options, in groups."""
    parts = []
    for group, names in cli._GROUPS.items():
        parts.append(f"## {group}")
        parts += [
            _command(path, each) for name in names for path, each in _leaves(name)
        ]
    return "\n\n".join(parts)


def _leaves(name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield a command, or the commands of a group."""
    command = cli._commands.get_command(click.Context(cli._commands), name)
    if isinstance(command, click.Group):
        for inner, each in command.commands.items():
            yield f"{name} {inner}", each
    elif command is not None:
        yield name, command


def _command(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"freeproj {path}", show_default=True)
    usage = " ".join(command.collect_usage_pieces(context))
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    page = SAID["guides"].get(path.split()[0], "")
    more = f" [More]({page})." if page else ""
    lines = [f"### {path}", f"`freeproj {path} {usage}`", _escaped(text) + more]
    records = [each.get_help_record(context) for each in command.params]
    rows = [
        (f"`{flags.replace('|', ', ')}`", _escaped(" ".join(told.split())))
        for flags, told in filter(None, records)
        if told
    ]
    if rows:
        lines.append(_table(("option", ""), rows))
    return "\n\n".join(lines)


# Settings


def settings_block() -> str:
    """Return every setting with its default and meaning, section by section."""
    config, parts = TrainConfig(), []
    for section in ("", "projection", "ppo", "network", "evaluation"):
        held = getattr(config, section) if section else config
        rows = [
            (f"`{key}`", f"`{_shown(value)}`", meaning(key, held))
            for key, value in _fields(held, section)
        ]
        parts.append(f"## {f'`{section}`' if section else 'The run'}")
        parts.append(_table(("setting", "default", "meaning"), rows))
    return "\n\n".join(parts)


def _fields(held: Any, section: str) -> Iterator[tuple[str, Any]]:
    for field in dataclasses.fields(held):
        value = getattr(held, field.name)
        if not dataclasses.is_dataclass(value):
            yield ".".join(filter(None, [section, field.name])), value


def meaning(key: str, held: Any) -> str:
    """Return what a setting means: as reference.toml or the class's docstring says."""
    if key in SAID["settings"]:
        return _escaped(SAID["settings"][key])
    args = inspect.cleandoc(held.__doc__ or "").partition("Args:\n")[2]
    found = dict(re.findall(r"^    (\w+): (.*(?:\n      .*)*)", args, re.MULTILINE))
    return _escaped(" ".join(found[key.split(".")[-1]].split()).rstrip("."))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{each}"' for each in value) + "]"
    return f'"{value}"' if isinstance(value, str) else f"{value:.4g}"


# Lists


def presets_block() -> str:
    """Return the presets."""
    return _table(("preset", ""), [(f"`{k}`", v) for k, v in SAID["presets"].items()])


def figures_block() -> str:
    """Return the names of all figures."""
    rows = [
        (f"`{name}`", "yes" if spec.needs_runs else "no", spec.title)
        for name, spec in ((name, FIGURES.resolve(name)) for name in FIGURES)
    ]
    return _table(("figure", "needs runs", ""), rows)


def tables_block() -> str:
    """Return the names of all tables."""
    rows = [(f"`{name}`", TABLES.resolve(name).title) for name in TABLES]
    return _table(("table", ""), rows)


def shipped_block() -> str:
    """Return the studies that ship with the package, with their sizes."""
    rows = []
    for name in STUDIES:
        file = Path(freeproj.__file__).parent / "studies" / f"{name}.toml"
        asked = tomllib.loads(file.read_text(encoding="utf-8"))["stated"]["question"]
        configs = read_study(name).runs()
        steps = [c.n_updates * c.n_envs * c.n_steps for c in configs]
        low, high = (f"{n / 1e6:.2g}" for n in (min(steps), max(steps)))
        size = low if low == high else f"{low}–{high}"
        rows.append((f"`{name}`", _escaped(asked), f"{len(configs):,}", size))
    return _table(("study", "question", "runs", "million steps a run"), rows)


# Short tables of results: a few rows of the whole tables


@functools.cache
def _whole(block: str) -> str:
    return write_answer.BLOCKS[block]()


def _rows_of(block: str, *chosen: str) -> str:
    """Return the head of a table and the rows that begin with one of these."""
    lines = _whole(block).splitlines()
    kept = [
        row
        for start in chosen
        for row in lines[2:]
        if row.removeprefix("| ").startswith(start)
    ]
    return "\n".join(lines[:2] + kept)


def invariant_block() -> str:
    """Return what each kind of agent earns on unseen projections, task by task."""
    kinds = {
        "frame": {"encoder": "frame", "redraw_every": 1},
        "RP": {"encoder": "none", "observation": "projected", "projection.length": 1},
        "FRP": {"encoder": "none", "observation": "projected", "projection.length": 4},
        "trained blind": {"observation": "none"},
        "plain": {"observation": "plain"},
    }
    study = load("invariant")
    rows = []
    for task in study.values("task"):
        cells = []
        for kind, settings in kinds.items():
            records = map_records(study.where(task=task, **settings))
            name = {"plain": "pad", "trained blind": "zero"}.get(kind, "random")
            seen = records[0].maps.get(name) if records else None
            cells.append(write_answer._estimate(seen) if seen else "–")
        rows.append((task_title(task), *cells))
    return _table(("return per trial", *kinds), rows)


def frame_maps_block() -> str:
    """Return what frame agents earn on each test projection."""
    study = load("invariant").where(encoder="frame", redraw_every=1)
    maps = ("tile", "minus_tile", "random", "zero")
    rows = [
        (
            task_title(str(record.settings["task"])),
            *(write_answer._estimate(record.maps[name]) for name in maps),
        )
        for record in map_records(study)
    ]
    return _table(("agents with a frame", *map(map_title, maps)), rows)


def anchor_block() -> str:
    """Return CartPole in the setting of Lu et al., with and without a frame."""
    study, rows = load("lu-2023"), []
    for encoder in study.values("encoder"):
        runs = study.where(encoder=encoder).runs
        (record,) = map_records(study.where(encoder=encoder))
        trials = np.mean(
            [run.metrics["test/random/trial_returns"][-3:] for run in runs], (0, 1)
        )
        rows.append(
            (
                value_text("encoder", encoder),
                *(
                    write_answer._estimate(record.maps[name])
                    for name in ("random", "tile")
                ),
                *(f"{trials[each]:.2f}" for each in (0, -1)),
                write_answer._estimate(record.maps["zero"]),
            )
        )
    heads = ("three seeds", "random projections", "tile", "first trial", "last trial")
    return _table((*heads, "blanked"), rows)


BLOCKS: Mapping[str, Callable[[], str]] = {
    "commands": commands_block,
    "all settings": settings_block,
    "presets": presets_block,
    "figures": figures_block,
    "tables": tables_block,
    "shipped studies": shipped_block,
    "invariant": invariant_block,
    "frame maps": frame_maps_block,
    "anchor": anchor_block,
    "short signs": lambda: _rows_of(
        "signs", "Repeat Previous, fixed", "Higher Lower, fixed"
    ),
    "short lengths": lambda: _rows_of(
        "lengths", "Stateless CartPole (`as-written`)", "Stateless CartPole (`why"
    ),
    "short fixed": lambda: _rows_of("fixed", "Stateless CartPole", "Repeat Previous"),
    "short in-context": lambda: _rows_of("in-context", "1 |", "4 |"),
    "short held-out": lambda: "\n".join(
        line
        for line in _whole("held-out").splitlines()
        if not re.match(r"\| .* \| 4 \|", line)
    ),
}


def _escaped(text: str) -> str:
    return text.replace("|", BAR).replace("<", "&lt;")


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    return write_answer.table(heads, rows)


if __name__ == "__main__":
    main()
