"""Training by the name of a preset: the same run as by key and config."""

import jax
import numpy as np
import pytest

import freeproj as fp
from freeproj.learning.train import train

SMALL = {"n_updates": 2, "n_envs": 4, "n_steps": 16, "evaluation": {"n_envs": 4}}


@pytest.fixture(scope="module")
def trained():
    return fp.train("smoke", seed=3, progress=False, **SMALL)


def weights(result):
    return [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(result.agent)]


def test_a_preset_a_seed_and_a_key_give_the_same_agent(trained, capsys):
    config = trained.config
    assert (config.seed, config.n_updates, config.evaluation.n_envs) == (3, 2, 4)
    assert weights(fp.train(3, config)) == weights(trained)
    assert capsys.readouterr().err.count("steps/s") == 2  # progress
    by_key = fp.train(jax.random.key(3), config)
    assert weights(by_key) == weights(trained)
    assert weights(train(jax.random.key(3), config)) == weights(trained)
    assert capsys.readouterr().err == ""  # as before: whoever has a key sees nothing
    agent, log = by_key
    assert agent is by_key.agent
    assert len(log) == 2


def test_a_run_is_stored_where_asked_and_not_trained_again(trained, tmp_path, capsys):
    stored = fp.train(trained.config, out=tmp_path)
    assert weights(stored) == weights(trained)
    (folder,) = tmp_path.iterdir()
    assert (folder / "final.json").is_file()
    assert capsys.readouterr().err.count("steps/s") == 2
    assert weights(fp.train(trained.config, out=tmp_path)) == weights(trained)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["mine.npz", "mine"])
def test_what_is_saved_is_loaded(trained, tmp_path, name):
    back = fp.load_agent(trained.save(tmp_path / name))
    assert weights(back) == weights(trained)
    assert back.config == trained.config
    assert "StatelessCartPole" in back._repr_html_()


def test_results_show_themselves(trained):
    assert repr(trained).startswith("Trained(StatelessCartPole, gru, seed 3; 2 updates")
    assert "<table>" in trained._repr_html_()
    (axes,) = trained.plot().axes
    assert len(axes.lines) == 1 + len(trained.config.test_maps)
    assert len(trained.plot("loss/value").axes[0].lines) == 1
    assert set(trained.evaluate(("pad", "random"))) == {"pad", "random"}
    with pytest.raises(ValueError, match="no column 'nosuch'"):
        trained.plot("nosuch")


def test_settings_may_be_objects(trained):
    task = fp.envs.make("RepeatFirst")
    changed = fp.train(
        trained.config,
        progress=False,
        task=task,
        n_updates=1,
        ppo=fp.PPOConfig(n_minibatches=2, clip=0.1),
    )
    assert changed.config.tasks == ("RepeatFirst",)
    assert changed.config.ppo.clip == 0.1
    assert changed.config.seed == 3


@pytest.mark.parametrize(
    ("given", "settings", "message"),
    [
        ((0, "nonsense"), {}, r"^nonsense: no such file, and not a shipped config"),
        (("lapto",), {}, "Did you mean `laptop`"),
        (("smoke", "laptop"), {}, r"train\(0, 'laptop'\)"),
        ((0.5,), {}, "a seed or a key from jax.random.key, got float"),
        ((True, "smoke"), {}, "got bool"),
        ((0, "smoke"), {"seed": 1}, "Two seeds were given, 0 and 1"),
        (("smoke",), {"tsk": "HigherLower"}, "Did you mean `task`"),
        (("smoke",), {"ppo": {"clp": 1}}, "Did you mean `ppo.clip`"),
    ],
)
@pytest.mark.usefixtures("untyped")
def test_bad_input_is_one_clear_line(given, settings, message):
    with pytest.raises((ValueError, TypeError, OSError), match=message) as caught:
        fp.train(*given, **settings)
    assert "\n" not in str(caught.value)
