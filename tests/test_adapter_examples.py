"""The examples of the adapters run as they stand, and say what they should."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name, *arguments):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    ).stdout


def test_the_gymnasium_example_plays_sixteen_trials_per_episode():
    printed = run("gymnasium_wrapper.py")
    assert printed.count("16 trials") == 3
    assert "(4, 128)" in printed


def test_the_pytorch_example_keeps_norms():
    pytest.importorskip("torch")
    assert run("torch_layer.py").splitlines()[-1].count("1.4142") == 5


def test_the_scikit_learn_example_compares_three_projections():
    printed = run("sklearn_pipeline.py").splitlines()
    rows = {line[:16].strip(): float(line[16:].split()[0]) for line in printed[2:]}
    assert rows["free, length 4"] < rows["Gaussian"]


def test_the_stable_baselines3_example_trains_both_ways():
    pytest.importorskip("sb3_contrib")
    printed = run("sb3_recurrent_ppo.py", "--steps", "500")
    assert "RP   (length 1): return" in printed
    assert "FRP  (length 4): return" in printed


@pytest.mark.parametrize("agent", ["ppo", "frame"])
def test_the_certificate_example_certifies_what_it_trained(agent, tmp_path):
    pytest.importorskip("sb3_contrib")
    short = ("--agent", agent, "--steps", "512", "--episodes", "8")
    printed = run("certify_sb3.py", *short, "--out", str(tmp_path))
    assert f"Does it adapt? {agent} on CartPole-v1" in printed
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{agent}.zip",
        f"{agent}.html",
    }
    if agent == "frame":
        rows = {line.split()[0]: line for line in printed.splitlines()[3:6]}
        assert rows["random"].endswith("100 %")
        assert rows["minus"].endswith("100 %")
