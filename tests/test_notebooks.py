"""Every notebook in examples/ runs from the top, cell by cell."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def cells(path):
    """Returns the code of a notebook's cells."""
    stored = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(c["source"]) for c in stored if c["cell_type"] == "code"]


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(notebook, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(cells(notebook))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(notebook):
    stored = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert all(not c["outputs"] for c in stored if c["cell_type"] == "code")
    assert stored[0]["cell_type"] == "markdown"
