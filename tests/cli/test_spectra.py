"""`freeproj spectra`, as people call it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import freeproj
from freeproj.cli import main


@pytest.fixture
def run(capsys):
    """Runs the command; returns exit code, output and error output."""

    def call(*arguments):
        try:
            main(["spectra", *map(str, arguments)])
        except SystemExit as stop:
            code = stop.code
        else:
            code = 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, np.random.default_rng(0).normal(size=(20, 50)))
    return path


def table(output):
    """The rows of numbers: ridge, ℓ, n, predicted, measured, …; without ℓ = 0."""
    lines = [line.split() for line in output.splitlines()]
    return [
        [float(cell) for cell in cells]
        for cells in lines
        if len(cells) == 9 and cells[0].replace(".", "").isdigit()
    ]


def test_predicted_stands_beside_measured_for_a_200_by_500_matrix(run, tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, np.random.default_rng(0).normal(size=(200, 500)))
    code, out, _ = run(path, "--lengths", 2, 4, 8, "--ridge", "1e-2")
    assert code == 0
    rows = table(out)
    assert [row[1] for row in rows] == [2, 4, 8]
    assert all(abs(row[3] - row[4]) < 0.02 for row in rows)
    assert all(abs(row[3] / 2.5 - row[7]) < 1e-4 for row in rows), "d_eff/p"
    assert "d = 200 dimensions (rows) x p = 500 samples (columns)" in out
    assert "mean squared norm 1" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--lengths", "1", "2", "4", "--ridge", "0.1", "1"),
        ("--lengths", "1,2,4", "--ridge", "0.1,1"),
        ("--lengths", "1", "--lengths", "2", "4", "--ridge", "0.1", "--ridge", "1"),
        ("--lengths=1,2,4", "--ridges", "0.1", "1"),
    ],
)
def test_several_values_can_be_written_in_any_way(run, data, arguments):
    outputs = {run(data, *arguments, "--words", 16, "--trials", 0)[1]}
    outputs.add(run(*arguments, "--words", 16, "--trials", 0, data)[1])
    assert len(outputs) == 1
    out = outputs.pop()
    for ridge in ("0.1", "1"):
        for length, n in (("1", "16"), ("2", "4"), ("4", "2")):
            assert any(
                line.split()[:3] == [ridge, length, n] for line in out.splitlines()
            )


def test_scale_does_not_matter_unless_asked(run, data, tmp_path):
    louder = tmp_path / "louder.npy"
    np.save(louder, 1000 * np.load(data))
    short = ("--trials", 0, "--lengths", 1, 2)
    first, second = run(data, *short)[1], run(louder, *short)[1]
    assert first.splitlines()[2:] == second.splitlines()[2:]
    kept = run(louder, *short, "--no-rescale")[1]
    assert "scale: as in the file" in kept
    assert kept.splitlines()[5] != second.splitlines()[5]


def test_transposed_files_with_transpose_are_the_same_data(run, data, tmp_path):
    np.save(tmp_path / "t.npy", np.load(data).T)
    short = ("--trials", 2, "--lengths", 4)
    plain = run(data, *short)[1].splitlines()
    turned = run(tmp_path / "t.npy", *short, "--transpose")[1].splitlines()
    assert plain[3:] == turned[3:]
    assert "d = 20 dimensions (columns) x p = 50 samples (rows)" in turned[0]


def test_centering_takes_the_mean_sample_out(run, data, tmp_path):
    np.save(tmp_path / "moved.npy", np.load(data) + 5)
    short = ("--trials", 0, "--center", "--lengths", 2)
    assert (
        run(tmp_path / "moved.npy", *short)[1].splitlines()[4:]
        == (run(data, *short)[1].splitlines()[4:])
    )


def test_the_plot_and_its_numbers_are_written(run, data, tmp_path):
    plot = tmp_path / "new" / "own.png"
    code, out, _ = run(data, "--lengths", 2, 4, "--trials", 2, "--plot", plot)
    assert code == 0
    assert out.split()[-2:] == [str(plot), str(plot.with_suffix(".npz"))]
    assert plot.read_bytes().startswith(b"\x89PNG")
    with np.load(plot.with_suffix(".npz")) as numbers:
        assert numbers["measured"].shape == (2, 1)


def test_measurements_depend_on_the_seed_only(run, data):
    short = (data, "--lengths", 4, "--trials", 2)
    assert run(*short)[1] == run(*short)[1]
    assert run(*short)[1] != run(*short, "--seed", 1)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--lengths", 3), "nearest are 216 (n = 6) and 343 (n = 7)"),
        (("--lengths", 1.5), "must be whole numbers, got '1.5'"),
        (("--lengths", 0), "`length` must be at least 1, got 0"),
        (("--ridge", -1), "`ridges` must be finite and greater than 0, got -1"),
        (("--ridge", "abc"), "must be numbers, got 'abc'"),
        (("--words", 0), "`n_words` must be at least 1"),
        (("--trials", -1), "--trials"),
        (("--plot", "own.bmp"), "must end in .png, .svg, .pdf, got 'own.bmp'"),
        (("--array", "x"), "--array works only with .npz files"),
        (("--lengths",), "requires an argument"),
    ],
)
def test_bad_options_end_with_one_line_and_exit_code_2(run, data, arguments, message):
    code, out, err = run(data, *arguments)
    assert code == 2
    assert message in err
    assert err.startswith("freeproj: ")
    assert err.count("\n") == 1
    assert out == ""


def test_bad_files_end_with_one_line_and_exit_code_2(run, tmp_path):
    np.save(tmp_path / "nan.npy", np.full((2, 2), np.nan))
    np.save(tmp_path / "zero.npy", np.zeros((2, 2)))
    for name, message in [
        ("nan.npy", "NaN"),
        ("zero.npy", "must not be zero everywhere"),
        ("none.npy", "No file"),
        ("none.txt", "must end in"),
    ]:
        code, out, err = run(tmp_path / name)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err


def test_help_imports_no_heavy_library():
    code = (
        "import sys\nfrom freeproj.cli import main\n"
        "try:\n    main(['spectra', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([n for n in ('jax', 'numpy', 'matplotlib') if n in sys.modules])"
    )
    source = str(Path(freeproj.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert "--transpose" in done.stdout


@pytest.fixture
def target(data, tmp_path):
    path, rng = tmp_path / "target.npy", np.random.default_rng(1)
    np.save(path, rng.normal(size=20) @ np.load(data) + rng.normal(size=50))
    return path


def test_a_target_chooses_length_and_ridge_by_risk(run, data, target):
    code, out, _ = run(data, "--trials", 0, "--target", target)
    assert code == 0
    assert "predicted risk of ridge regression" in out
    assert "Take no words, ridge" in out
    assert "per sample" in out


def test_json_is_plain_and_has_the_same_numbers(run, data, target):
    out = run(data, "--trials", 0, "--target", target, "--json")[1]
    told = json.loads(out)
    assert told["lengths"] == [1, 2, 4, 8]
    assert told["risk"]["lengths"] == [0, 1, 2, 4, 8]
    assert told["measured"] == [[None]] * 4
    assert told["ridges_per_sample"] == [0.01 / 50]
    assert min(told["risk"]["risks"]) < told["risk"]["zero_risk"]


def test_advice_without_a_target_names_no_length(run, data):
    out = run(data, "--trials", 0)[1]
    assert "would always favour the longest word" in out
    assert "--target" in out


def test_uncentred_data_are_warned_of(run, data, tmp_path):
    moved = tmp_path / "moved.npy"
    np.save(moved, np.load(data) + 10)
    assert "not centred" in run(moved, "--trials", 0)[1]
    assert "not centred" not in run(moved, "--trials", 0, "--center")[1]


def test_a_target_of_another_length_is_refused(run, data, tmp_path):
    np.save(tmp_path / "y.npy", np.ones(7))
    code, _, err = run(data, "--target", tmp_path / "y.npy")
    assert (code, err.count("\n")) == (2, 1)
    assert "each of the 50 samples" in err
