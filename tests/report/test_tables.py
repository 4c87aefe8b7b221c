"""Tables: our cells beside the paper's, in every form, with what they rest on."""

import csv
import io
import re

import pytest

from freeproj import stats
from freeproj.report.paper.numbers import PAPER_LENGTHS, PAPER_RESULTS, PAPER_TASKS
from freeproj.report.tables import FORMATS, TABLES, format_table
from freeproj.report.tables.grid import Grid, to_latex, to_markdown, to_terminal

FAMILIES = ((256, 1), (16, 2), (4, 4), (2, 8))


def runs(offset, task="RepeatFirst", memory="gru", families=FAMILIES, n_seeds=4):
    """Rows of runs whose seed s returns offset[ℓ] + s at its first of two updates."""
    return [
        stats.Row(
            task, memory, n, length, seed, update, "projection", split, "window",
            offset[length] + seed - update * (split == "test"), 64, 16,
        )
        for n, length in families
        for seed in range(n_seeds)
        for update in (1, 2)
        for split in ("train", "test")
    ]  # fmt: skip


@pytest.fixture
def rows():
    return runs({1: -8.0, 2: -6.0, 4: -7.0, 8: -9.0})


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def cell(records, **wanted):
    (found,) = (
        record
        for record in records
        if all(record[name] == value for name, value in wanted.items())
    )
    return found


def test_paper_numbers_are_complete_and_frp_has_the_longer_words():
    assert len(PAPER_RESULTS) == 20
    assert {task for task, _, _ in PAPER_RESULTS} == set(PAPER_TASKS)
    assert min(PAPER_LENGTHS.values()) > 1
    first = PAPER_RESULTS["RepeatFirst", "RP", "gru"]
    assert (first.mmer, first.raw) == (
        (-4.88, 0.47, -4.84, -4.87),
        (-8.24, 1.18, -8.18, -8.05),
    )
    for memory in ("gru", "s5"):
        for task in PAPER_TASKS:
            plain, free = (PAPER_RESULTS[task, m, memory] for m in ("RP", "FRP"))
            assert free.mmer.mean > plain.mmer.mean


def test_csv_has_our_numbers_beside_the_papers(rows):
    records = read(format_table("table-results", rows, form="csv"))
    place = {"task": "RepeatFirst", "memory": "gru"}
    ours = cell(records, **place, method="FRP", source="ours")
    assert (ours["length"], ours["n_generators"], ours["mmer_n"]) == ("2", "16", "4")
    assert float(ours["mmer_mean"]) == pytest.approx(-7.0 + 1.5)
    assert float(ours["raw_mean"]) == pytest.approx(-8.0 + 1.5)
    assert (ours["updates_min"], ours["updates_max"]) == ("2", "2")
    assert (ours["n_finished"], ours["n_unfinished"]) == ("512", "128")
    paper = cell(records, **place, method="FRP", source="paper")
    assert (paper["mmer_mean"], paper["mmer_n"]) == ("-4.48", "10")
    assert paper["updates_max"] == "228"


def test_frp_keeps_a_longer_word_where_plain_projection_is_best():
    rows = runs({1: 0.0, 2: -6.0, 4: -5.0, 8: -9.0})
    rows = [
        row._replace(mean_return=9.0)
        if (row.length, row.split) == (8, "train")
        else row
        for row in rows
    ]
    for by, length in (("test-mmer", "4"), ("train-mmer", "8")):
        records = read(format_table("table-results", rows, form="csv", by=by))
        place = {"task": "RepeatFirst", "memory": "gru", "source": "ours"}
        free = cell(records, **place, method="FRP")
        assert (free["length"], free["chosen_by"]) == (length, by)
        assert cell(records, **place, method="RP")["length"] == "1"


def test_every_cell_of_the_paper_is_there_and_no_data_is_nan_with_count_zero(rows):
    for data in ([], rows):
        records = read(format_table("table-results", data, form="csv"))
        assert len(records) == 40
    empty = cell(records, task="Minesweeper", method="RP", memory="s5", source="ours")
    assert (empty["mmer_n"], empty["n_finished"]) == ("0", "0")
    assert empty["mmer_mean"] == empty["raw_iqm"] == empty["chance"] == "nan"
    assert empty["length"] == ""


def test_seeds_without_data_are_counted_in_the_table(rows):
    blind = [
        row._replace(mean_return=float("nan"), n_finished=0)
        if row.seed == 3 or (row.seed == 2 and row.update == 2)
        else row
        for row in rows
    ]
    line = next(
        line
        for line in format_table("table-results", blind).splitlines()
        if "RP(GRU)" in line and "ours" in line and "3 of 4" in line
    )
    assert "(n=2)" in line  # the last update saw two seeds only


def test_other_tasks_and_memories_get_rows_without_the_papers(rows):
    more = rows + runs(dict.fromkeys((1, 2, 4, 8), 1.0), "MyTask", "lstm")
    records = read(format_table("table-results", more, form="csv"))
    mine = [record for record in records if record["task"] == "MyTask"]
    assert [(r["method"], r["source"]) for r in mine] == [
        ("RP", "ours"),
        ("FRP", "ours"),
    ]


def test_chance_mmer_uses_the_cells_own_number_of_evaluations(rows):
    baselines = {"RepeatFirst": (-8, 16, 0.485)}
    options = {"baselines": baselines, "form": "csv"}
    records = read(format_table("table-results", rows, **options))
    place = {"task": "RepeatFirst", "memory": "gru", "method": "RP"}
    for source, n_evaluations in (("ours", 2), ("paper", 228)):
        luck = stats.chance_mmer(
            -8.0, 0.485, n_episodes=64, n_evaluations=n_evaluations
        )
        record = cell(records, **place, source=source)
        assert float(record["chance_mmer"]) == pytest.approx(luck)
        assert (float(record["chance"]), float(record["ceiling"])) == (-8, 16)
    without = read(format_table("table-results", rows, form="csv"))
    assert cell(without, **place, source="ours")["chance_mmer"] == "nan"


def test_baselines_and_luck_stand_in_the_text(rows):
    text = format_table("table-results", rows, baselines={"RepeatFirst": (-8.0, 16.0)})
    assert re.search(r"uniform policy +ours +— +-8\.00", text)
    assert re.search(r"ceiling +16\.00 +16\.00", text)
    flat = " ".join(text.split())
    assert "MMER of -2.93 by luck alone in 228 evaluations of 64 episodes" in flat
    assert "the paper reports -6.64 to -4.48" in flat
    assert "the best of several on what it reports" in flat


def test_length_table_says_what_the_length_was_chosen_by(rows):
    train_best = [
        row._replace(mean_return=row.mean_return + 20)
        if row.split == "train" and row.length == 8
        else row
        for row in rows
    ]
    records = read(format_table("table-lengths", train_best, form="csv"))
    chosen = {
        record["by"]: record["length"]
        for record in records
        if (record["task"], record["memory"]) == ("RepeatFirst", "gru")
    }
    assert chosen == {"test-mmer": "2", "train-mmer": "8", "train-raw": "8"}
    text = format_table("table-lengths", train_best)
    # paper's, by test MMER, by training MMER, by the last training return
    assert re.search(r"RepeatFirst +gru +2 +2 +8 +8 ", text)
    assert re.search(r"Minesweeper +s5 +8 +— +— +—", text)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("form", [*FORMATS, "csv"])
def test_every_table_has_every_form_even_without_data(name, form, rows):
    for data in ([], rows):
        text = format_table(name, data, form=form)
        assert "RepeatFirst" in text
        assert text.endswith("\n")


def test_unknown_names_are_refused(rows):
    with pytest.raises(ValueError, match=r"No table 'table-3'\. Known: table-results"):
        format_table("table-3", rows)
    with pytest.raises(ValueError, match=r"`form` must be one of terminal, .*csv"):
        format_table("table-results", rows, form="docx")
    with pytest.raises(ValueError, match="`counting` must be one of window, episodes"):
        format_table("table-results", rows, counting="all")
    two = [*rows, *runs({1: 0.0}, families=((4, 1),))]
    with pytest.raises(ValueError, match="RP runs of 2 values of `n_generators`"):
        format_table("table-results", two)


GRID = Grid(
    "A_B",
    ("name", "x|y ℓ"),
    [[("50 % & more", "-1.00 ± 2.00"), ("range", "[-3.00, — ]")], [("b", "1–2")]],
    ["A note with #."],
)


def test_latex_escapes_its_signs_and_sets_minus_signs():
    text = to_latex(GRID)
    assert r"50 \% \& more & $-$1.00 $\pm$ 2.00 \\" in text
    assert r"\caption{A\_B. A note with \#.}" in text
    assert r"{}[$-$3.00, --- ]" in text
    assert text.count(r"\midrule") == 2
    assert text.isascii()


def test_markdown_keeps_its_columns_apart():
    lines = to_markdown(GRID).splitlines()
    assert r"| name | x\|y ℓ |" in lines
    assert "| b | 1–2 |" in lines


def test_narrow_terminals_lose_no_number():
    for width in (30, 200):
        squeezed = "".join(to_terminal(GRID, width=width).split())
        assert "-1.00±2.00" in squeezed


def test_uneven_rows_are_refused():
    with pytest.raises(ValueError, match="A row must have 2 cells, got 1"):
        Grid("t", ("a", "b"), [[("x",)]])
