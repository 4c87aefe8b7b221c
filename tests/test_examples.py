"""Every script in examples/ runs as it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# These need extras and have options of their own: `test_adapter_examples` runs them.
ADAPTERS = {"gymnasium_wrapper", "sb3_recurrent_ppo", "sklearn_pipeline", "torch_layer"}
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
