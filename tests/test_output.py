"""Names from files of others reach terminals, pages and spreadsheets as plain text."""

import os
import stat
import subprocess
import sys

import pytest

from fake_dataset import fake_dataset
from freeproj.cli import main
from freeproj.experiments.store import _text
from freeproj.report.tables import _cell, _csv
from freeproj.report.tables.grid import Column, Grid, to_latex, to_markdown, to_terminal
from freeproj.storage import cache
from freeproj.storage.names import Registry, printable

EVIL = "a\x1b[31m<b>\nx\u202e"


def test_control_characters_are_shown_and_not_obeyed():
    assert printable(EVIL) == r"a\x1b[31m<b>\nx\u202e"
    assert printable("é ℓ λ 1\u202f000\n", keep="\n") == "é ℓ λ 1\u202f000\n"


def test_tables_are_plain_text_in_every_format():
    grid = Grid(EVIL, (Column(EVIL, True), Column("n")), [[(EVIL, "1")]], [EVIL])
    for text in (to_terminal(grid, 120), to_markdown(grid), to_latex(grid)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<b>" not in to_markdown(grid)
    (row,) = [line for line in to_latex(grid).splitlines() if line.endswith(r"& 1 \\")]
    assert row.startswith("  a")


@pytest.mark.parametrize("formula", ["=1+1", "+cmd", "-x", "@sum"])
def test_no_csv_cell_is_a_formula(formula):
    assert _cell(formula) == f"'{formula}"
    assert _text(formula)[0] == '"'
    assert _cell(-1.5) == -1.5


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "a\\b", "m:a", ""])
def test_a_registered_name_cannot_leave_its_folder(name):
    with pytest.raises(ValueError, match="needs a name without"):
        Registry("figure").add(name, object())


def test_the_cache_is_for_its_owner_only(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    assert cache._is_own(folder)
    folder.chmod(0o777)
    assert cache._is_own(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    assert not cache._is_own(folder)


EVIL_LINES = "x\x1b[31m\n<b>\u202e"


@pytest.mark.parametrize(
    "command", [["runs"], ["compare", "{}"], ["table", "table-results", "--runs"]]
)
def test_commands_escape_what_files_say(command, tmp_path, capsys):
    data = fake_dataset({"memory": (EVIL_LINES, "gru")}, n_seeds=2)
    path = str(data.save(tmp_path / "d.npz"))
    main([path if part == "{}" else part for part in command] + [path])
    printed = "".join(capsys.readouterr())
    assert r"\x1b" in printed
    assert not {"\x1b", "\u202e"} & set(printed)


def test_heads_of_csv_columns_are_no_formulas():
    assert _csv([{"=1+1": 2.0}]) == "'=1+1\n2.0\n"


def test_a_message_stays_short(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["config", "show", "x" * 5000])
    assert stop.value.code == 2
    assert len(capsys.readouterr().err) < 1100


@pytest.mark.parametrize("encoding", ["latin-1", "cp437", "cp1252"])
def test_output_in_any_encoding_has_the_nearest_characters(encoding):
    code = (
        "from freeproj.cli.output import *; print_in_any_encoding(); "
        "echo('ℓ = 4 – γ ≤ 1 … 漢')"
    )
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, check=True
    )
    shown = done.stdout.decode(encoding).replace("–", "-").replace("…", "...").strip()
    shown = shown.replace("γ", "gamma").replace("≤", "<=")
    assert shown == "l = 4 - gamma <= 1 ... ?"
