"""`freeproj report`."""

from fake_study import write_study


def test_report_prints_three_numbers_and_the_page(freeproj, tmp_path):
    runs = write_study(
        tmp_path / "runs",
        tasks=("HigherLower",),
        lengths=(1, 4),
        n_updates=8,
        n_seeds=2,
    )
    out = tmp_path / "out"
    ended = freeproj("report", runs, "--out", out, "--only", "adaptation", "--quiet")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert len(lines) == 4
    assert lines[-1] == str(out / "report.html")
    assert (out / "adaptation.npz").exists()


def test_report_of_no_runs_is_one_clear_line(freeproj, tmp_path):
    ended = freeproj("report", tmp_path / "nowhere")
    assert ended.code == 2
    assert "nowhere" in ended.err
    ended = freeproj("report", tmp_path)
    assert ended.code == 2
    assert "freeproj sweep quick" in ended.err
