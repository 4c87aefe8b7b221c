"""Tables: every axis shown, everything said, 80 columns."""

import csv
import dataclasses
import io
import json
from pathlib import Path

import pytest

from fake_dataset import fake_dataset, together, why_table_1
from freeproj.experiments.dataset import Dataset
from freeproj.experiments.records import SetAside
from freeproj.findings.labels import value_text
from freeproj.findings.numbers import PAPER_LENGTHS, PAPER_RESULTS, PAPER_TASKS
from freeproj.report.tables import FORMATS, TABLES, format_table
from freeproj.report.tables.grid import Column, Grid, to_latex, to_markdown, to_terminal

LENGTHS = {"projection.length": (1, 4)}


def seeing(settings, name):
    """Longer words help, but only agents that see."""
    return 0.1 * settings["projection.length"] * (name != "zero")


@pytest.fixture(scope="module")
def study():
    grid = {**LENGTHS, "projection.family": ("haar", "qr"), "redraw_every": (0, 1)}
    return fake_dataset(grid | {"ppo.discount": (0.9, 0.99)}, 4, seeing)


def test_paper_numbers_are_complete_and_frp_has_the_longer_words():
    assert len(PAPER_RESULTS) == 20
    assert {task for task, _, _ in PAPER_RESULTS} == set(PAPER_TASKS)
    assert min(PAPER_LENGTHS.values()) > 1
    first = PAPER_RESULTS["RepeatFirst", "RP", "gru"]
    assert (first.mmer, first.raw) == (-4.88, -8.24)


def test_every_axis_is_a_column_and_every_cell_a_row(study):
    text = format_table("table-results", study, "csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 16
    for axis in ("projection.family", "redraw_every", "ppo.discount"):
        assert len({row[axis] for row in rows}) == 2
    shown = format_table("table-results", study)
    for word in ("matrices", "bases", "discount", "Haar", "QR", "fixed"):
        assert word in shown


@pytest.mark.parametrize("name", ["table-results", "table-lengths"])
@pytest.mark.parametrize("width", [80, 100])
def test_tables_fit_the_terminal_and_name_what_they_leave_out(study, name, width):
    text = format_table(name, study, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert "--wide shows all" in " ".join(text.split())
    assert "--wide" not in format_table(name, study, width=240)


def test_chance_blind_ceiling_and_the_paper_stand_below_every_task(study):
    text = format_table("table-results", study)
    for word in ("chance", "open loop: uniform", "ceiling", "paper RP ℓ=1 GRU"):
        assert word in text
    assert "16 trials, 40 updates" in text
    assert "-1.84" in text  # the paper's raw return of RP


def test_differences_are_shares_of_the_headroom_against_the_same_settings(study):
    rows = json.loads(format_table("table-results", study, "json"))
    free = [row for row in rows if row["projection.length"] == 4]
    for row in free:
        twin = next(
            other
            for other in rows
            if other["projection.length"] == 1
            and all(
                other[axis] == row[axis]
                for axis in ("projection.family", "redraw_every", "ppo.discount")
            )
        )
        gap = (row["score_mean"] - twin["score_mean"]) / row["headroom"]
        assert row["difference"] == pytest.approx(gap)


def test_cells_that_do_not_look_get_no_verdict():
    blind = fake_dataset(LENGTHS, 10, lambda settings, name: 0.2)
    rows = json.loads(format_table("table-results", blind, "json"))
    assert [row["uses_observation"] for row in rows] == [False, False]
    assert rows[1]["verdict"] == "does not use its observation"
    text = " ".join(format_table("table-results", blind).split())
    assert "agents earn as much with the observation blanked" in text
    looking = json.loads(
        format_table("table-results", fake_dataset(LENGTHS, 10, seeing), "json")
    )
    assert [row["uses_observation"] for row in looking] == [True, True]
    assert looking[1]["verdict"] == "holds"


def test_runs_that_were_set_aside_are_counted_and_named():
    data = fake_dataset(LENGTHS, 3)
    aside = (SetAside(Path("runs/bad"), "diverged", "loss is not finite"),)
    text = format_table("table-results", Dataset(data.runs, aside))
    assert "7 runs: 6 finished, 1 diverged." in " ".join(text.split())
    assert "runs/bad (loss is not finite)" in " ".join(text.split())


def test_no_data_is_a_dash_with_its_reason():
    data = fake_dataset(LENGTHS, 2, maps=())
    text = format_table("table-results", data)
    assert "nan" not in text
    assert "–: not tested on this projection, or not yet." in text
    assert "No interval below three seeds." in text


def test_lengths_are_chosen_on_half_of_the_seeds():
    data = fake_dataset({"projection.length": (1, 2, 4)}, 10, seeing)
    (row,) = json.loads(format_table("table-lengths", data, "json"))
    assert row["best"] == 4
    assert row["chosen"] == "4 / 4"
    assert row["held_out_difference"] == pytest.approx(16 * 0.3, abs=0.5)


def test_held_out_tasks_have_their_own_table():
    data = fake_dataset({**LENGTHS, "evaluation.task": ("", "RepeatFirst")}, 3)
    text = format_table("table-held-out", data)
    assert "Repeat First" in text
    assert "Higher Lower" not in text
    with pytest.raises(ValueError, match="No task-held-out runs"):
        format_table("table-held-out", fake_dataset(LENGTHS, 1))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("form", FORMATS)
def test_every_table_has_every_form(name, form):
    data = fake_dataset({**LENGTHS, "evaluation.task": ("", "RepeatFirst")}, 2)
    assert format_table(name, data, form).endswith("\n")


def test_csv_has_the_columns_of_all_cells_whatever_they_were_tested_on():
    pairs = (("gru", "tile"), ("mingru", "pad"))
    data = together(*(fake_dataset(n_seeds=1, memory=m, maps=(n,)) for m, n in pairs))
    rows = list(csv.DictReader(io.StringIO(format_table("table-maps", data, "csv"))))
    assert [row["pad_mean"] == "" for row in rows] == [True, False]


def test_bad_forms_and_rows_are_refused():
    with pytest.raises(ValueError, match="`form` must be one of terminal"):
        format_table("table-results", fake_dataset(LENGTHS, 1), "html")
    with pytest.raises(ValueError, match="A row must have 2 cells, got 1"):
        Grid("t", (Column("a"), Column("b")), [[("1",)]])


GRID = Grid(
    "Title",
    (Column("name", True), Column("a_b", rank=1)),
    [[("Task", ""), ("  x ± y", "-1.5 [-2, 3]")], [("5 %|", "[1, 2]")]],
    ["Note with ℓ."],
)


def test_markdown_and_latex_escape_their_signs():
    markdown = to_markdown(GRID)
    assert r"5 %\|" in markdown
    assert "| :-- | --: |" in markdown
    latex = to_latex(GRID)
    assert r"5 \%|" in latex
    assert r"$-$1.5 [$-$2, 3]" in latex
    assert r"{}[1, 2]" in latex
    assert r"a\_b" in latex
    assert r"$\ell$" in latex


def test_a_narrow_terminal_loses_columns_of_high_rank_only():
    text = to_terminal(GRID, 12)
    assert "Not shown at this width: a_b" in " ".join(text.split())
    assert "-1.5" not in text
    assert "x ± y" in text
    told = dataclasses.replace(
        GRID, notes=["Seeds count. A_b: a count. MMER: the best."]
    )
    shown = " ".join(to_terminal(told, 12).split())
    assert "Seeds count. MMER: the best. Not shown" in shown
    assert "A_b: a count." in " ".join(to_terminal(told, 200).split())


def test_the_pilots_pattern_is_in_the_table():
    rows = json.loads(format_table("table-results", why_table_1(4), "json"))
    slip = [r for r in rows if r["projection.family"] == "qr"]
    for row in slip:
        below = row["score_mean"] < row["chance"] - 3
        assert below == (row["projection.length"] == 1)


def test_the_papers_numbers_stand_only_beside_agents_that_see_what_its_agents_saw():
    def shown(observation):
        data = fake_dataset(n_seeds=3, observation=observation)
        (row,) = json.loads(format_table("table-maps", data, form="json"))
        return row["paper_raw"]

    assert shown("projected") == pytest.approx(-1.84 / 16)
    assert shown("plain") is None


def test_memories_are_called_by_their_names():
    names = ("gru", "mingru", "transformer", "own:Decay")
    shown = [value_text("memory", name) for name in names]
    assert shown == ["GRU", "minGRU", "transformer", "Decay"]


def test_titles_and_notes_speak_of_what_is_shown():
    maps = {"maps": ("tile", "zero"), "evaluation.maps": ("tile",)}
    own = fake_dataset({"projection.length": (1, 4)}, 3, task="mine:Thing", **maps)
    results, returns = (format_table(f"table-{n}", own) for n in ("results", "maps"))
    assert results.startswith("Held-out return of an episode\n")
    assert "headroom" not in results + returns
    assert "Blanked: the observation" in returns
    assert not {"Random:", "QR:", "Paper:"} & set(returns.split())
    assert "the paper's Table 1" in format_table("table-results", fake_dataset())
