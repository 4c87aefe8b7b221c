"""`freeproj published`: what it lists, prints and suggests."""

import json

from freeproj.published import load, names


def test_the_command_lists_prints_and_suggests(freeproj):
    lines = freeproj("published").out.splitlines()
    assert max(map(len, lines)) <= 80
    (row,) = (line.split() for line in lines if line.startswith("storage "))
    assert row == ["storage", "40", "10", "1", "1", "0.48", "2026-11-17", "0.2.0"]
    listed = json.loads(freeproj("published", "--json").out)["studies"]
    assert {each["study"] for each in listed} == set(names())
    shown = freeproj("published", "why-table-1").out
    assert "Repeat Previous (chance -0.49" in shown
    looks = load("why-table-1").meta["stated"]["looks"]
    assert f"\n  looks     {looks}\n" in shown
    assert max(map(len, shown.splitlines())) <= 80
    cells = json.loads(freeproj("published", "why-table-1", "--json").out)["cells"]
    for memory, paper in (("gru", {-0.7256, -0.4256}), ("s5", {-0.7144, -0.5031})):
        wanted = {"task": "RepeatPrevious", "memory": memory}.items()
        found = [c["paper_raw"] for c in cells if wanted <= c["cell"].items()]
        assert {round(each, 4) for each in found} == paper
    wide = freeproj("published", "why-table-1", "--wide").out
    assert all(head in wide for head in ("tile (norm 1) 95 %", "MMER", "paper's MMER"))
    wrong = freeproj("published", "why-table-2")
    assert wrong.code == 2
    assert "Did you mean `why-table-1`?" in wrong.err
