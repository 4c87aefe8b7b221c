"""The study of a notebook: tables, comparisons and plots by axes."""

import sys

import numpy as np
import pytest

import freeproj as fp
from fake_study import write_study

RETURN = "test/tile/episodes/episode_return"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    write_study(
        folder,
        tasks=("HigherLower", "RepeatFirst"),
        memories=("gru",),
        lengths=(1, 4),
        n_seeds=8,
        n_updates=8,
        gain=lambda task, memory, length: 0.2 + 0.5 * (length == 4),
    )
    return fp.Study(folder)


def test_the_table_has_a_row_for_each_cell(study):
    table = study.table()
    assert table.axes == ("task", "projection.length")
    assert [row.cell for row in table.rows] == [
        ("HigherLower", 1), ("HigherLower", 4), ("RepeatFirst", 1), ("RepeatFirst", 4)
    ]  # fmt: skip
    values = study.where(task="HigherLower").dataset.scores(RETURN).by_cell()[(4,)]
    row = table.rows[1]
    assert row.mean == pytest.approx(np.mean(list(values.values())) / 16)
    assert row.low < row.mean < row.high
    assert row.seeds == 8
    assert repr(table).startswith("return per trial on tile, mean over seeds")
    assert repr(table).count("\n") == 5
    assert table._repr_html_().count("<tr>") == 5
    assert table.to_dicts()[1]["projection.length"] == 4


def test_the_better_side_wins_and_the_worse_does_not(study):
    longer, shorter = {"projection.length": 4}, {"projection.length": 1}
    found = study.compare(longer, shorter)
    assert found.outcome == "holds"
    assert len(found.findings) == 2
    assert "pooled over task" in found.selection
    assert study.compare(shorter, longer).outcome == "does not hold"


def test_comparisons_that_make_no_sense_are_refused(study):
    with pytest.raises(ValueError, match="the same settings"):
        study.compare({"projection.length": 4}, {"task": "HigherLower"})
    with pytest.raises(ValueError, match="No run has"):
        study.compare({"projection.length": 4}, {"projection.length": 2})


def test_the_plot_has_a_panel_for_each_task(study):
    pytest.importorskip("matplotlib")
    figure = study.plot()
    titles = [panel.get_title() for panel in figure.axes]
    assert titles == ["Higher Lower", "Repeat First"]
    assert all(len(panel.lines) == 3 for panel in figure.axes)  # and chance


def test_published_studies_are_asked_as_the_page_asks():
    answer = fp.Study.published("storage").ask("storage")
    assert answer.outcome == "holds"
    assert answer.sentence.startswith("At equal storage")


def test_a_study_says_what_it_holds(study):
    text = (
        "Study of 32 runs (32 finished), 8 seeds; axes: task (2), projection.length (2)"
    )
    assert repr(study) == text
    assert "RepeatFirst" in study._repr_html_()
    pandas = pytest.importorskip("pandas")
    pandas.testing.assert_frame_equal(study.to_pandas(), study.dataset.to_pandas())


def test_tables_are_saved_by_the_ending_of_their_name(study, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    rows = study.save_table(tmp_path / "x.csv").read_text().splitlines()
    assert len(rows) == 1 + len(study.to_pandas())
    with pytest.raises(ValueError, match=r"\.csv or \.parquet, got 'x\.xlsx'"):
        study.save_table(tmp_path / "x.xlsx")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match="pip install pandas pyarrow"):
            study.save_table(tmp_path / "x.parquet")
    assert not (tmp_path / "x.parquet").exists()
    pytest.importorskip("pyarrow")
    back = pandas.read_parquet(study.save_table(tmp_path / "x.parquet"))
    assert list(back.columns) == list(study.to_pandas().columns)
    assert back.value.tolist() == study.to_pandas().value.tolist()
