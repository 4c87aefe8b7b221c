"""A folder in the Hub's layout gives the agent back, and describes it."""

import json
import tomllib

import jax
import numpy as np
import pytest
import yaml

from freeproj.experiments.agents import load_agent
from freeproj.experiments.hub import read_hub, write_hub
from freeproj.storage import names

CARD = {
    "returns": {
        "tile": {"mean": 0.5, "trials": [0.4, 0.6], "episodes": 64},
        "random": {"mean": None, "trials": [None, 0.1], "episodes": 0},
    },
    "command": "freeproj train smoke",
    "does_not": "",
}


@pytest.fixture(scope="module")
def loaded():
    return load_agent("flash-cards")


@pytest.fixture
def folder(loaded, tmp_path):
    return write_hub(loaded.agent, loaded.config, tmp_path / "mine", CARD)


def test_the_agent_of_a_folder_plays_the_same_episode(loaded, folder):
    back = load_agent(folder)
    assert back.config == loaded.config
    assert back.card == CARD
    pairs = zip(jax.tree.leaves(back.agent), jax.tree.leaves(loaded.agent), strict=True)
    assert all(np.array_equal(one, other) for one, other in pairs)
    shown = np.eye(loaded.env.observation_size)[[0, 1, 1, 0, 2]]
    played = []
    for agent in (loaded, back):
        agent.reset("random", seed=3)
        played.append([agent.act(each) for each in shown])
    assert played[0] == played[1]


def test_the_front_matter_is_a_model_index(folder):
    text = (folder / "README.md").read_text()
    _, matter, rest = text.split("---\n", 2)
    front = yaml.safe_load(matter)
    assert front["library_name"] == "freeproj"
    (model,) = front["model-index"]
    assert model["name"] == "mine"
    (metric,) = model["results"][0]["metrics"]  # only what was measured
    assert metric["value"] == 0.5
    assert model["results"][0]["dataset"]["name"].endswith("FlashCards")
    assert "freeproj train smoke" in rest
    assert "replay.gif" not in rest  # none was drawn


@pytest.mark.parametrize("change", ["size", "name", "cut", "byte", "type", "card"])
def test_a_folder_that_does_not_fit_is_refused(folder, change):
    weights = folder / "model.safetensors"
    data = weights.read_bytes()
    if change == "size":
        settings = (folder / "config.toml").read_text()
        settings = settings.replace("hidden_size = 64", "hidden_size = 32")
        (folder / "config.toml").write_text(settings)
    elif change == "name":
        weights.write_bytes(data.replace(b"weight", b"height"))
    elif change == "cut":
        weights.write_bytes(data[:-8])
    elif change == "byte":
        weights.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif change == "type":
        weights.write_bytes(data.replace(b'"F32"', b'"I32"'))
    else:
        (folder / "results.json").write_text("{")
    with pytest.raises(ValueError, match=r"do not fit|not a safetensors|damaged"):
        read_hub(folder)


def test_an_import_is_announced_as_named_by_the_folder(folder, monkeypatch):
    settings = folder / "config.toml"
    task = tomllib.loads(settings.read_text())["task"]
    settings.write_text(settings.read_text().replace(task, "corridor:Corridor", 1))
    monkeypatch.setattr(names, "_told", set())
    lines = []
    with names.announcing(lines.append), pytest.raises(ValueError, match="do not fit"):
        load_agent(folder)
    assert lines[0].startswith("Importing corridor:Corridor from ")
    assert lines[0].endswith(f"named by {settings}.")


def test_results_may_be_missing(folder):
    (folder / "results.json").unlink()
    assert load_agent(folder).card == {}
    assert json.loads(json.dumps(load_agent(folder).card)) == {}
