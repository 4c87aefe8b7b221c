"""Every script in examples/ runs as it is."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from freeproj.report.figures.style import book_style

ROOT = Path(__file__).parents[1]
# These need extras and have options of their own: `test_adapter_examples` runs them.
ADAPTERS = {"certify_sb3", "gymnasium_wrapper", "sb3_recurrent_ppo", "sklearn_pipeline"}
ADAPTERS |= {"torch_layer"}
SCRIPTS = sorted(
    path for path in (ROOT / "examples").glob("*.py") if path.stem not in ADAPTERS
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_runs(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_words_always_cost_and_simulation_agrees():
    module = runpy.run_path(str(ROOT / "examples" / "cost_of_words.py"))
    numbers = module["compute"](
        aspects=(0.5, 4.0), lengths=(1, 4), dim=32, n_words=16, n_trials=6
    )
    assert (numbers["predicted"][:, 1:] > numbers["predicted"][:, :1]).all()
    own, *words = np.moveaxis(numbers["simulated"], -1, 0)
    for column, found in zip((1, -1), words, strict=True):
        extra = found - own
        error = extra.std(axis=0, ddof=1) / np.sqrt(len(extra))
        expected = numbers["predicted"][:, column] - numbers["predicted"][:, 0]
        assert (np.abs(extra.mean(axis=0) - expected) < 4 * error + 1.5 / 32).all()
    with book_style():
        (axes,) = module["draw"](numbers).axes
    assert len(axes.containers) == 2
