"""Names from files of others reach terminals, pages and spreadsheets as plain text."""

import os
import stat

import pytest

from freeproj import cache
from freeproj.experiments.tidy import _setting, _text
from freeproj.names import Registry, printable
from freeproj.report.tables import _cell
from freeproj.report.tables.grid import Column, Grid, to_latex, to_markdown, to_terminal

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
    assert _setting(_text(formula)) == formula  # and it comes back
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
