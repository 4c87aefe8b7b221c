"""A run folder of somebody else: reading it runs none of its code.

Its settings name `evil:Task`, and `evil.py` lies beside them and in the working folder.
Whoever imports it leaves a trace.
"""

import importlib
import json
import sys

import pytest

from fake_study import write_study
from freeproj.envs import make
from freeproj.envs.baselines import baselines
from freeproj.experiments.agents import load_agent
from freeproj.experiments.records import read_record
from freeproj.storage import names

BOMB = """
from pathlib import Path
Path({trace!r}).write_text("imported")
from corridor import Corridor
Task = Corridor
memory = draw = picture = Corridor
"""
NAMED = {
    "task": ('task = "HigherLower"', 'task = "evil:Task"'),
    "task with numbers": ('task = "HigherLower"', 'task = "evil:Task(n_cells=3)"'),
    "tasks": ('task = "HigherLower"', 'task = ["evil:Task", "RepeatFirst"]'),
    "memory": ('memory = "gru"', 'memory = "evil:memory"'),
    "family": ('family = "haar"', 'family = "evil:draw"'),
    "map": ('maps = ["tile"]', 'maps = ["evil:picture"]'),
    "held-out task": ('task = ""', 'task = "evil:Task"'),
}
STAGE = '\n[[stages]]\nn_updates = 2\ntask = "evil:Task"\n'


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """The file that the bomb writes; its folder is the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "evil", raising=False)
    monkeypatch.setattr(names, "_told", set())
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    importlib.invalidate_caches()
    trace = tmp_path / "trace"
    (tmp_path / "evil.py").write_text(BOMB.format(trace=str(trace)))
    yield trace
    sys.modules.pop("evil", None)


@pytest.fixture
def runs(tmp_path, trace):
    """Good runs, and for each kind of name a run that has it."""
    shape = {"tasks": ("HigherLower",), "memories": ("gru",), "n_updates": 4}
    folder = write_study(tmp_path / "runs", lengths=(1, 4), n_seeds=3, every=2, **shape)
    good = sorted(folder.iterdir())
    for number, (old, new) in enumerate([*NAMED.values(), ("", "")]):
        text = (good[0] / "config.toml").read_text()
        assert old in text
        text = text.replace(old, new, 1) if old else text
        text = (
            text.replace("[written_by]", STAGE + "\n[written_by]") if not old else text
        )
        text = text.replace("seed = 0", f"seed = {number + 10}")
        other = folder / f"other-{number}"
        other.mkdir()
        for name in ("log.jsonl", "final.json", "timing.jsonl"):
            (other / name).write_bytes((good[0] / name).read_bytes())
        (other / "config.toml").write_text(text)
        (other / "evil.py").write_text((tmp_path / "evil.py").read_text())
    return folder


READING = [
    ("runs", "runs"),
    ("runs", "runs", "--json"),
    ("table", "table-results", "--runs", "runs"),
    ("table", "table-lengths", "--runs", "runs"),
    ("table", "table-maps", "--runs", "runs"),
    ("table", "table-held-out", "--runs", "runs"),
    ("compare", "runs"),
    ("compare", "runs/other-0", "runs/other-3"),
    ("figure", "length-curves", "--runs", "runs", "--out", "f.png"),
    ("report", "runs", "--only", "length-curves", "--only", "adaptation"),
    ("published",),
    *(("config", "show", f"runs/other-{number}") for number in range(8)),
    ("config", "show", "runs/other-0", "--json"),
    ("config", "init", "new.toml", "--base", "runs/other-0/config.toml"),
    ("sweep", "study.toml", "--dry-run", "--out", "runs"),
    ("sweep", "study.toml", "--dry-run", "--json"),
]
STUDY = """
base = "runs/other-0/config.toml"
[grid]
tasks = ["evil:Task", "HigherLower", "evil:Task(n_cells=3)"]
memories = ["gru", "evil:memory"]
lengths = [4]
seeds = 2
"""


def test_reading_commands_leave_no_trace(freeproj, runs, trace, tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    for command in READING:
        ended = freeproj(*command)
        assert not trace.exists(), command
        assert "Unexpected" not in ended.err, (command, ended.err)
        if command[0] != "figure" and "table-held-out" not in command:
            assert ended.code == 0, (command, ended.err)


def test_what_is_read_is_what_stands_there(freeproj, runs, trace, tmp_path):
    for number in range(8):
        record = read_record(runs / f"other-{number}")
        assert record.health == "finished", record
    shown = json.loads(freeproj("config", "show", runs / "other-1", "--json").out)
    assert shown["task"] == "evil:Task(n_cells=3)"
    assert "Not imported: evil:Task" in freeproj("config", "show", runs / "other-0").err
    (tmp_path / "study.toml").write_text(STUDY)
    plan = json.loads(freeproj("sweep", "study.toml", "--dry-run", "--json").out)
    assert len(plan["runs"]) == 12
    assert not trace.exists()


@pytest.mark.parametrize("command", ["evaluate", "watch", "export"])
def test_importing_commands_say_what_they_import(command, freeproj, runs, trace):
    more = ("kept.npz",) if command == "export" else ()
    ended = freeproj(command, runs / "other-0", *more)
    assert trace.exists()
    first = ended.err.splitlines()[0]
    assert first.startswith("Importing evil:Task from ")
    assert "evil.py, named by " in first
    assert str(runs / "other-0") in first


def test_training_says_what_it_imports(freeproj, runs, trace):
    ended = freeproj("train", "smoke", "--set", "task=evil:nothing")
    assert "Importing evil:nothing from " in ended.err.splitlines()[0]
    assert "named by smoke or --set" in ended.err
    assert ended.code == 2


@pytest.mark.parametrize(
    "name",
    [
        *("os:abort", "posix:abort", "subprocess:run", "this:s", "numpy:load"),
        *("builtins:exec", "jax:jit", "freeproj.cli:os.abort"),
    ],
)
def test_modules_of_python_and_of_libraries_are_refused(name):
    sys.modules.pop("this", None)
    with pytest.raises(ValueError, match=r"is a module of"):
        make(name)
    assert "this" not in sys.modules


def test_no_way_leads_through_a_module_to_another(trace):
    (trace.parent / "evil.py").write_text("import os\nimport os.path")
    with pytest.raises(ValueError, match="os is a module of Python"):
        make("evil:os.abort")
    with pytest.raises(ValueError, match="is a module of Python"):
        make("evil:os.path.join")


@pytest.mark.parametrize("name", ["evil:Task", "evil:Task(n_cells=3)"])
def test_asking_for_baselines_imports_nothing(name, trace):
    assert baselines(name) is None
    assert not trace.exists()


def test_what_is_no_task_is_not_called(trace):
    text = f"class Task:\n    def __init__(self): open({str(trace)!r}, 'w')\n"
    (trace.parent / "evil.py").write_text(text)
    with pytest.raises(ValueError, match="is not a task"):
        make("evil:Task")
    assert not trace.exists()


def test_loading_in_python_names_the_run(runs, trace):
    lines = []
    with (
        names.announcing(lines.append),
        pytest.raises(ValueError, match="agent"),
    ):
        load_agent(runs / "other-0")
    assert lines[0].endswith(f"named by {runs / 'other-0' / 'config.toml'}.")
