"""Damage to weights: every changed byte is refused, or changes nothing."""

import contextlib
import json
import zipfile

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.experiments.agents import LoadedAgent, export_agent, load_agent
from freeproj.experiments.arrays import load_tree, save_tree
from freeproj.experiments.run import open_run, run_training
from freeproj.experiments.settings import read_config
from freeproj.learning.train import start

TINY = {
    "task": "freeproj.envs.flash_cards:FlashCards",
    "n_trials": 1,
    "projection.dim": 4,
    "projection.input_dim": 4,
    "network.embedding_size": 1,
    "network.hidden_size": 1,
    "network.head_size": 1,
}


@pytest.fixture(scope="module")
def tiny():
    config = read_config("smoke", TINY)
    return LoadedAgent(start(jax.random.key(0), config).agent, config)


def bits(tree):
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


def flips(path, read, every=1):
    """Change every byte of a file; return what `read` gave where it did not refuse."""
    whole, found, refusals = path.read_bytes(), [], []
    for at in range(0, len(whole), every):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        try:
            found.append(read(path))
        except ValueError as error:
            refusals.append(str(error))
    assert all(str(path) in said and "\n" not in said for said in refusals)
    assert len(refusals) > len(found), "most flips must be noticed"
    return found


def test_every_flipped_byte_of_weights_is_refused_or_changes_nothing(tiny, tmp_path):
    path = tmp_path / "agent.npz"
    save_tree(path, tiny.agent)
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tiny.agent)]
    expected = bits(tiny.agent)
    for found in flips(path, lambda path: load_tree(path, leaves)):
        assert bits(found) == expected


def test_every_flipped_byte_of_a_large_array_is_refused(tmp_path):
    """Above some 4 KB zipfile compares no checksum until the member's very end."""
    path, tree = tmp_path / "agent.npz", [jnp.arange(3000.0)]
    save_tree(path, tree)
    whole = path.read_bytes()
    for at in [*range(200), *range(200, len(whole) - 200, 97)]:
        damaged = bytearray(whole)
        damaged[at] ^= 4
        path.write_bytes(damaged)
        with contextlib.suppress(ValueError):
            assert bits(load_tree(path, tree)) == bits(tree)


@pytest.mark.timeout(3600)  # every byte: a minute of processor time
@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.slow)])
def test_flipped_bytes_of_an_exported_agent_are_refused_or_change_nothing(
    every, tiny, tmp_path
):
    path = export_agent(tiny, tmp_path / "kept.npz", {"task": "flash cards"})
    expected, config, card = bits(tiny.agent), tiny.config, load_agent(path).card
    seen = flips(path, load_agent, every)
    assert all(bits(each.agent) == expected for each in seen)
    assert all(each.config == config and each.card == card for each in seen)


@pytest.mark.parametrize("kind", ["<f2", "<f8", "<i4", "<U4"])
def test_arrays_of_another_type_are_refused(kind, tmp_path):
    np.savez(tmp_path / "t.npz", **{"00000": np.ones(3).astype(kind)})
    with pytest.raises(ValueError, match="do not fit"):
        load_tree(tmp_path / "t.npz", [jnp.zeros(3)])


def broken(agent):
    weight = agent.actor[-1].weight
    where = lambda each: each.actor[-1].weight  # noqa: E731
    return eqx.tree_at(where, agent, weight.at[0].set(jnp.nan))


def test_weights_that_are_not_finite_are_refused(tiny, tmp_path):
    path = tmp_path / "kept.npz"
    export_agent(LoadedAgent(broken(tiny.agent), tiny.config), path, {})
    with pytest.raises(ValueError, match=r"kept\.npz has weights that are not finite"):
        load_agent(path)


def test_a_checkpoint_that_is_not_finite_is_damage_and_no_divergence(tmp_path):
    config = read_config("smoke", TINY)
    run = open_run(tmp_path, config)
    state = start(jax.random.key(0), config)
    state = state._replace(agent=broken(state.agent), n_done=jnp.asarray(1, jnp.int32))
    run.record(state, {"update": 1})
    with pytest.raises(ValueError, match="not finite"):
        run_training(config, tmp_path)
    assert run.health == "running"


def test_weights_of_another_agent_do_not_match_the_card(tiny, tmp_path):
    ours = export_agent(tiny, tmp_path / "ours.npz", {})
    other = LoadedAgent(start(jax.random.key(1), tiny.config).agent, tiny.config)
    theirs = export_agent(other, tmp_path / "theirs.npz", {})
    with zipfile.ZipFile(ours) as a, zipfile.ZipFile(theirs) as b:
        mixed = {each: a.read(each) for each in a.namelist()}
        mixed["card.npy"] = b.read("card.npy")
    with zipfile.ZipFile(ours, "w") as archive:
        for name, data in mixed.items():
            archive.writestr(name, data)
    with pytest.raises(ValueError, match="other weights than its card says"):
        load_agent(ours)
    assert len(json.loads(json.dumps(load_agent(theirs).card))["sha256"]) == 64
