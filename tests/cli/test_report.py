"""`freeproj report`."""

from fake_study import write_study


def test_report_prints_the_answer_and_the_page(freeproj, tmp_path):
    runs = write_study(
        tmp_path / "runs",
        tasks=("HigherLower",),
        memories=("gru",),
        lengths=(1, 4),
        n_updates=8,
        n_seeds=2,
    )
    out = tmp_path / "out"
    ended = freeproj("report", runs, "--out", out, "--only", "adaptation", "--quiet")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert 2 <= len(lines) <= 5
    assert lines[-1] == str(out / "report.html")
    assert (out / "adaptation.npz").exists()


def test_report_of_the_published_studies_needs_no_runs(freeproj, tmp_path):
    out = tmp_path / "out"
    only = ("--only", "lsmdp-spaces", "--quiet")
    ended = freeproj("report", "--published", "--out", out, *only)
    assert ended.code == 0
    page = (out / "report.html").read_text()
    assert "Your own runs" not in page
    assert "trains a small study on your machine" in page


def test_report_of_no_runs_is_one_clear_line(freeproj, tmp_path):
    ended = freeproj("report", tmp_path / "nowhere")
    assert ended.code == 2
    assert "nowhere" in ended.err
    ended = freeproj("report", tmp_path)
    assert ended.code == 2
    assert "freeproj sweep quick" in ended.err
    ended = freeproj("report")
    assert ended.code == 2
    assert "--published" in ended.err
