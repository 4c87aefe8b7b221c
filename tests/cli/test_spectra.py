"""`freeproj spectra`, as people call it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import freeproj
from freeproj.cli import main
from freeproj.cli.spectra import spectra
from freeproj.spectra import own_data_report


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
    np.save(path, np.random.default_rng(0).normal(size=(50, 20)))
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
    np.save(path, np.random.default_rng(0).normal(size=(500, 200)))
    code, out, _ = run(path, "--lengths", 2, 4, 8, "--ridge", "1e-2")
    assert code == 0
    rows = table(out)
    assert [row[1] for row in rows] == [2, 4, 8]
    assert all(abs(row[3] - row[4]) < 0.02 for row in rows)
    assert all(abs(row[3] / 2.5 - row[7]) < 1e-4 for row in rows), "d_eff/p"
    assert "p = 500 samples (rows) x d = 200 dimensions (columns)" in out
    assert "mean squared norm 1" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--lengths", "1", "2", "4", "--ridge", "0.1", "1"),
        ("--lengths", "1,2,4", "--ridge", "0.1,1"),
        ("--lengths", "1", "--lengths", "2", "4", "--ridge", "0.1", "--ridge", "1"),
        ("--lengths=1,2,4", "--ridge", "0.1", "1"),
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


def test_scale_and_mean_do_not_matter(run, data, tmp_path):
    louder = tmp_path / "louder.npy"
    np.save(louder, 1000 * np.load(data) + 5)
    short = ("--trials", 0, "--lengths", 1, 2)
    first, second = run(data, *short)[1], run(louder, *short)[1]
    assert first.splitlines()[2:] == second.splitlines()[2:]


def test_the_command_and_python_give_the_same_numbers(run, data):
    told = json.loads(run(data, "--trials", 2, "--lengths", 2, "--json")[1])
    report = own_data_report(np.load(data).T, (2,), n_trials=2)
    np.testing.assert_allclose(told["predicted"], report.predicted)
    np.testing.assert_allclose(told["measured"], report.measured)
    assert told["scale"] == pytest.approx(report.scale)


def test_samples_in_columns_are_seen_by_the_target(run, data, target, tmp_path):
    np.save(tmp_path / "t.npy", np.load(data).T)
    short = ("--trials", 2, "--lengths", 4, "--target", target)
    plain = run(data, *short)[1].splitlines()
    turned = run(tmp_path / "t.npy", *short)[1].splitlines()
    assert plain[3:] == turned[3:]
    assert "p = 50 samples (columns) x d = 20 dimensions (rows)" in turned[0]


def test_an_npz_file_holds_data_and_target_by_name(run, data, target, tmp_path):
    path = tmp_path / "both.npz"
    np.savez(path, X=np.load(data), y=np.load(target))
    short = ("--trials", 0)
    plain = run(data, *short, "--target", target)[1].splitlines()
    for named in ("y", f"{path}:y"):
        assert (
            run(f"{path}:X", *short, "--target", named)[1].splitlines()[1:]
            == (plain[1:])
        )
    code, _, err = run(path, *short)
    assert code == 2
    assert "holds 2 arrays; name one as both.npz:NAME" in err


def test_a_target_with_an_offset_is_predicted_as_well(run, data, target, tmp_path):
    np.save(tmp_path / "far.npy", np.load(target) + 1000)
    near, far = (
        json.loads(run(data, "--trials", 0, "--target", each, "--json")[1])["risk"]
        for each in (target, tmp_path / "far.npy")
    )
    assert far["risks"] == pytest.approx(near["risks"], rel=1e-6)
    assert far["predicts"] is near["predicts"] is True


def test_at_most_eight_options(run):
    assert len(spectra.params) - 1 <= 8


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
        ("zero.npy", "must hold samples that differ"),
        ("none.npy", "no such file"),
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
    assert "--lengths" in done.stdout


@pytest.fixture
def target(data, tmp_path):
    path, rng = tmp_path / "target.npy", np.random.default_rng(1)
    np.save(path, np.load(data) @ rng.normal(size=20) + rng.normal(size=50))
    return path


def test_a_target_shows_the_risk_and_what_words_cost(run, data, target):
    code, out, _ = run(data, "--trials", 2, "--target", target)
    assert code == 0
    assert "Best without words: ridge" in out
    assert "Words never lower the predicted risk" in out
    assert "R²" in out
    assert "ridgeless" in out


def test_noise_gets_no_ridge_recommended(run, data, tmp_path):
    np.save(tmp_path / "noise.npy", np.random.default_rng(5).normal(size=50))
    out = run(data, "--trials", 0, "--target", tmp_path / "noise.npy")[1]
    assert "not shown to predict this target" in out
    assert "Best without words" not in out


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


def test_a_target_of_another_length_is_refused(run, data, tmp_path):
    np.save(tmp_path / "y.npy", np.ones(7))
    code, _, err = run(data, "--target", tmp_path / "y.npy")
    assert (code, err.count("\n")) == (2, 1)
    assert "50 samples (rows) or 20 samples (columns)" in err


def test_the_page_shows_what_the_command_prints(run, tmp_path, monkeypatch):
    page = Path(__file__).parents[2] / "docs" / "choosing.md"
    text = page.read_text(encoding="utf-8")
    prepare = next(
        block
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        if "# np.save" in block
    )
    monkeypatch.chdir(tmp_path)
    exec(prepare.replace("# np.save", "np.save").split(": samples in")[0], {})
    (shown,) = re.findall(r"\$ freeproj spectra (.*?)```", text, re.DOTALL)
    arguments, expected = shown.split("\n", 1)
    assert run(*arguments.split())[1] == expected
