"""`freeproj compare`."""

import json

import pytest

from fake_study import write_study
from freeproj.experiments.agents import load_agent


@pytest.fixture
def folder(tmp_path):
    shape = {"tasks": ("HigherLower",), "memories": ("gru",), "lengths": (1, 4)}
    write_study(tmp_path / "runs", n_seeds=3, n_updates=8, **shape)
    return tmp_path / "runs"


def test_runs_are_compared_and_what_differs_is_named(freeproj, folder):
    one, other = sorted(folder.glob("*-l1-s0-*")) + sorted(folder.glob("*-l4-s0-*"))
    ended = freeproj("compare", one, other)
    assert ended.code == 0
    assert "They differ in 2 settings: projection.n_generators 256 against 4;" in (
        " ".join(ended.out.split())
    )
    assert max(map(len, ended.out.splitlines())) <= 80
    found = json.loads(freeproj("compare", one, other, "--json").out)
    differs = found["differences"]["projection.length"]
    assert differs == {one.name: [1], other.name: [4]}


def test_a_run_and_itself_do_not_differ(freeproj, folder):
    ended = freeproj("compare", folder, folder.parent / "runs" / ".." / "runs")
    assert "All settings and seeds are the same." in ended.out


def test_shipped_agents_have_the_returns_of_their_cards(freeproj):
    ended = freeproj("compare", "cartpole", "flash-cards", "--json")
    found = json.loads(ended.out)
    mean = load_agent("cartpole").card["returns"]["random"]["mean"]
    assert found["rows"][0]["mean"] == pytest.approx(mean)
    tasks = found["differences"]["task"]
    assert tasks == {"cartpole": ["StatelessCartPole"], "flash-cards": ["FlashCards"]}
