"""The command line as a whole: help, versions, refusals."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import freeproj as package
from freeproj.cli import _COMMANDS, about

ROOT = Path(__file__).parents[2]
COMMANDS = list(_COMMANDS)


def test_help_lists_every_command(freeproj):
    shown = freeproj("--help")
    assert shown.code == 0
    assert all(f"  {name} " in shown.out for name in COMMANDS)
    assert [line for line in shown.out.splitlines() if line.endswith(":")] == [
        *("Options:", "Begin here:", "Train:", "Agents:", "Results:"),
        "Tasks and data:",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(freeproj, command):
    shown = freeproj(command, "--help")
    assert shown.code == 0
    assert "Usage: freeproj" in shown.out


def test_help_imports_neither_jax_nor_drawing():
    code = (
        "import sys\n"
        "from freeproj.cli import main\n"
        f"for command in [[], *([name] for name in {COMMANDS})]:\n"
        "    try:\n        main([*command, '--help'])\n"
        "    except SystemExit as stop:\n        assert not stop.code, command\n"
        "    heavy = {'jax', 'matplotlib'} & set(sys.modules)\n"
        "    heavy |= set() if command else {'numpy', 'rich'} & set(sys.modules)\n"
        "    assert not heavy, (command, heavy)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_version(freeproj):
    assert freeproj("--version").out == f"freeproj {package.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "No command 'nosuch'. Known: demo"),
        (["trian"], "No command 'trian'. Did you mean `train`?"),
        (["config", "shwo"], "No command 'shwo'. Did you mean `show`?"),
        (["figure"], "Missing argument 'NAME'"),
        (["figure", "nosuch"], "No figure 'nosuch'. Known: "),
        (["figure", "cayley", "--out", "c.gif"], "must end in .png, .svg, .pdf"),
        (["figure", "cayley", "--set", "depth"], "KEY=VALUE"),
        (["figure", "cayley", "--set", "nosuch=1"], "Known: drawing"),
        (["figure", "cayley", "--set", "n_generators=3"], "drawing=isometric"),
        (["figure", "cayley", "--from", "nosuch.npz"], "nosuch.npz: no such file"),
        (["figure", "cayley", "--nosuch"], "No such option"),
        (["reproduce", "--only", "nosuch"], "No figure 'nosuch'"),
    ],
)
def test_bad_input_ends_with_one_line_and_code_2(freeproj, arguments, message):
    ended = freeproj(*arguments)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert ended.out == ""


def test_cite_names_the_paper(freeproj):
    shown = freeproj("cite").out
    assert "@software{freeproj" in shown
    assert "Hayase" in shown


def test_doctor_names_versions_and_devices(freeproj):
    shown = freeproj("doctor")
    assert shown.code == 0
    assert "cpu:0" in shown.out
    assert json.loads(freeproj("doctor", "--json").out)["devices"] == "cpu:0"
    lines = dict(line.split(maxsplit=1) for line in shown.out.splitlines())
    assert lines["freeproj"] == package.__version__
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = extras["optional-dependencies"]
    shown = about.EXTRAS
    assert set(shown.values()) == set(extras) - {"all"}
    for name, extra in shown.items():
        assert any(each.startswith(name) for each in extras[extra]), name
