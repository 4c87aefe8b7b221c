"""`freeproj compare`."""

import json

import pytest

from fake_dataset import fake_dataset
from fake_study import write_study
from freeproj.cli.runs import _table
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


def test_two_folders_have_a_verdict_for_each_memory(freeproj, tmp_path):
    shape = {"tasks": ("HigherLower",), "memories": ("gru", "s5"), "lengths": (1,)}
    for name, gain in (("plain", 0.1), ("better", 0.5)):
        level = {"gain": lambda task, memory, length, gain=gain: gain}
        write_study(tmp_path / name, n_seeds=3, n_updates=8, **shape, **level)
    both = (tmp_path / "plain", tmp_path / "better", "--json")
    answers = json.loads(freeproj("compare", *both).out)["answers"]
    ends = [answer["sentence"].split(".")[0][-5:] for answer in answers]
    assert ends == ["(GRU)", " (S5)"]
    pooled = json.loads(freeproj("compare", *both, "--pool", "memory").out)["answers"]
    assert [answer["selection"] for answer in pooled] == [
        "Higher Lower; pooled over memory"
    ]


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


def test_runs_that_were_never_tested_are_refused(freeproj, tmp_path):
    untested = fake_dataset({"encoder": ("none", "frame")}, n_seeds=3, maps=())
    ended = freeproj("compare", untested.save(tmp_path / "untested.npz"))
    assert ended.code == 2
    assert "None of these runs was tested; `freeproj evaluate`" in ended.err


def test_no_interval_lies_above_the_best_possible_return(freeproj, tmp_path):
    runs = fake_dataset(
        {"memory": ("gru", "s5")},
        n_seeds=3,
        trial_return=lambda settings, name: 0.95,
        noise=0.2,
        task="RepeatFirst",
    )
    ended = freeproj("compare", runs.save(tmp_path / "runs.npz"), "--json")
    highs = [row["interval"][1] for row in json.loads(ended.out)["rows"]]
    assert max(highs) == 1.0


def test_long_names_are_told_apart_in_eighty_columns():
    same = "published:invariant: Noisy Stateless CartPole, ℓ = 1, fixed bases"
    names = [f"{same}, {encoder}" for encoder in ("framed", "unframed")]
    row = {"mean": 0.5, "interval": (-0.123, 0.456), "seeds": 10, "without": 2}
    text = _table([row | {"runs": name} for name in names])
    assert max(map(len, text.splitlines())) <= 80
    assert (text.count(" framed"), text.count(" unframed")) == (1, 1)
    assert text.count("-0.123 to 0.456") == 2


def test_what_an_older_version_had_no_setting_for_does_not_differ(freeproj):
    ended = freeproj(
        "compare", "published:storage", "published:sign-or-scale", "--json"
    )
    differ = json.loads(ended.out)["differences"]
    assert not {"encoder", "frame_size", "frame_threshold"} & set(differ)
    assert differ["projection.length"]["published:storage"] == [1, 2, 4, 8]
