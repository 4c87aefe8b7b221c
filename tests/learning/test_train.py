"""Laws of training: replay, separation of evaluation, probes with known answers."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj import FreeProjection, envs, evaluate, train
from freeproj.learning.config import (
    EvaluationConfig,
    NetworkConfig,
    PPOConfig,
    TrainConfig,
)
from freeproj.learning.evaluate import EpisodeStats
from freeproj.learning.rollout import collect, first_steps
from freeproj.learning.train import (
    DivergedError,
    TrainState,
    draw_params,
    seed_key,
    start,
    update,
)
from probes import PROBES


@pytest.fixture(autouse=True)
def _probes(monkeypatch):
    """Lets `make` find the probes, in the tests of this file only."""
    for probe in PROBES:
        family = envs.registry.Family(probe.__name__, probe)
        monkeypatch.setitem(envs.REGISTRY, probe.__name__, family)


NETWORK = NetworkConfig(
    embedding_size=16, hidden_size=16, head_size=16, n_layers=2, state_size=16
)


def small(**settings) -> TrainConfig:
    """A run of seconds."""
    chosen = {
        "task": "HigherLower",
        "projection": FreeProjection(2, 3, dim=16),
        "n_updates": 2,
        "n_envs": 8,
        "n_steps": 40,
        "n_trials": 2,
        "network": NETWORK,
        "ppo": PPOConfig(n_epochs=2, n_minibatches=2, learning_rate=1e-3),
        "evaluation": EvaluationConfig(n_envs=4, n_steps=40),
    }
    return TrainConfig(**{**chosen, **settings})


@pytest.mark.parametrize("memory", ["gru", "s5"])
@pytest.mark.parametrize(
    ("task", "encoder"),
    [
        ("HigherLower", "none"),
        ("StatelessPendulum", "none"),
        (("StatelessCartPole", "Minesweeper"), "none"),
        ("StatelessCartPole", "frame"),
    ],
    ids=["discrete", "continuous", "mixed", "frame"],
)
def test_replay_with_unchanged_weights_has_ratio_one_and_the_stored_values(
    memory, task, encoder
):
    config = small(task=task, encoder=encoder, memory=memory, n_trials=1)
    env = config.training_env()

    @jax.jit
    def replay(key):
        key_start, key_first, key_second = jax.random.split(key, 3)
        state = start(key_start, config)
        agent, params = state.agent, draw_params(key_start, config)
        going, _, _ = collect(key_first, env, params, agent, state.rollout, 170)
        memory = going.memory  # not empty: the rollout begins in the middle of episodes
        _, rollout, _ = collect(key_second, env, params, agent, going, 60)
        fresh = first_steps(env, rollout.inputs)
        policy, values, _ = agent.sequence(rollout.inputs, memory, fresh, rollout.mask)
        return rollout, policy.log_prob(rollout.action), values, fresh

    rollout, log_prob, values, fresh = replay(jax.random.key(3))
    assert fresh.any()
    np.testing.assert_allclose(jnp.exp(log_prob - rollout.log_prob), 1, atol=1e-5)
    np.testing.assert_allclose(values, rollout.value, atol=1e-5)


@pytest.mark.fast
def test_masked_actions_are_never_taken():
    config = small(task=("StatelessCartPole", "Minesweeper"), action_map="random")
    env = config.training_env()
    state = jax.jit(start, static_argnums=1)(jax.random.key(0), config)
    params = draw_params(jax.random.key(0), config)
    run = jax.jit(
        lambda s: collect(jax.random.key(1), env, params, s.agent, s.rollout, 80)
    )
    _, rollout, _ = run(state)
    assert rollout.mask is not None
    assert not rollout.mask.all()
    allowed = jnp.take_along_axis(rollout.mask, rollout.action[..., None], -1)
    assert allowed.all()


def test_the_same_key_gives_the_same_run_and_another_does_not():
    first, second = (train(jax.random.key(1), small()) for _ in range(2))
    assert repr(first.log) == repr(second.log)  # nan equals nan as text
    for a, b in zip(*map(jax.tree.leaves, (first.agent, second.agent)), strict=True):
        np.testing.assert_array_equal(a, b)
    other = train(jax.random.key(2), small())
    assert repr(other.log) != repr(first.log)


def test_evaluation_leaves_training_untouched():
    often = train(jax.random.key(1), small())
    never = small(evaluation=EvaluationConfig(every=0))
    rare = train(jax.random.key(1), never)
    for a, b in zip(*map(jax.tree.leaves, (often.agent, rare.agent)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not any("test" in name for name in rare.log[0])


def test_a_run_that_goes_on_from_a_state_is_the_unbroken_run():
    config = small(n_updates=3)
    whole = train(jax.random.key(1), config)
    kept: list[TrainState] = []
    train(
        jax.random.key(1),
        dataclasses.replace(config, n_updates=1),
        # A copy: the next update may reuse the state's memory.
        report=lambda state, _row: kept.append(jax.tree.map(jnp.copy, state)),
    )
    rest = train(jax.random.key(1), config, state=kept[0])
    assert repr(rest.log) == repr(whole.log[1:])
    for a, b in zip(*map(jax.tree.leaves, (rest.agent, whole.agent)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("every", "changes"), [(0, []), (1, [2, 3, 4]), (2, [3])])
def test_bases_are_redrawn_as_often_as_told(every, changes):
    config, key = small(redraw_every=every), jax.random.key(0)
    tables = [draw_params(key, config, number).table for number in (1, 2, 3, 4)]
    for number in (2, 3, 4):
        same = np.array_equal(tables[number - 1], tables[number - 2])
        assert same == (number not in changes)


@pytest.mark.parametrize("running", ["keep", "rematch", "restart"])
def test_a_redraw_leaves_running_episodes_alone_unless_told(running):
    # An episode has 2 · 51 steps, a rollout 40: none ends in the first two.
    config, key = small(running_episodes=running), jax.random.key(0)
    env, step = config.training_env(), jax.jit(update, static_argnums=2)
    state = start(key, config)
    first = state.rollout.episodes
    state, _ = step(state, draw_params(key, config, 1), config)
    params = draw_params(key, config, 2)
    state, _ = step(state, params, config)
    last = state.rollout.episodes
    seen = jnp.einsum("ek,ekd->ed", last.shown, last.matrix)
    shown = state.rollout.inputs[:, env.layout["observation"]]
    np.testing.assert_allclose(shown, seen, atol=1e-5)  # no stale frame
    assert np.array_equal(last.matrix, first.matrix) == (running == "keep")
    assert np.array_equal(last.word, first.word) == (running != "restart")
    if running != "keep":
        np.testing.assert_allclose(last.matrix, params.table[last.word, 0], atol=1e-6)


def test_lengths_families_and_seeds_share_one_program(caplog):
    configs = [
        small(
            projection=FreeProjection.with_words(64, length, dim=16, family=family),
            seed=length,
        )
        for length in (1, 2)
        for family in ("haar", "qr")
    ]
    assert len({config.program for config in configs}) == 1
    train(seed_key(0), configs[0])
    with jax.log_compiles():
        for config in configs[1:]:
            train(seed_key(config.seed), config)
    compiled = [r.getMessage() for r in caplog.records if "compil" in r.getMessage()]
    assert not [line for line in compiled if "update" in line or "_test" in line]


def test_seeds_beyond_32_bits_are_seeds_of_their_own():
    keys = [jax.random.key_data(seed_key(s)).tolist() for s in (0, 1, 2**32, 2**64 - 1)]
    assert len({tuple(key) for key in keys}) == 4
    assert keys[1] == jax.random.key_data(jax.random.key(1)).tolist()


def test_training_stops_at_the_first_number_that_is_not_finite():
    ppo = PPOConfig(n_epochs=2, n_minibatches=2, learning_rate=1e38, max_grad_norm=1e38)
    with pytest.raises(DivergedError, match="update 1"):
        train(jax.random.key(0), small(ppo=ppo))


def test_maps_are_played_from_the_same_starts_and_zero_is_always_there():
    plan = EvaluationConfig(n_envs=4, n_steps=40, maps=("tile", "minus_tile", "random"))
    config = small(evaluation=plan)
    agent = start(jax.random.key(0), config).agent
    found = evaluate(jax.random.key(1), agent, config)
    assert list(found) == ["tile", "minus_tile", "random", "zero"]
    again = evaluate(jax.random.key(1), agent, config, maps="zero")["zero"]
    assert again.episodes.n_finished == 4
    plain = small(evaluation=plan, observation="plain")
    assert plain.test_maps == ("pad", "zero")
    assert small(evaluation=plan, observation="none").test_maps == ("zero",)


def test_windows_without_an_end_are_nan_with_a_count():
    config = small(
        n_trials=16, evaluation=EvaluationConfig(n_envs=4, n_steps=10, episodes=False)
    )
    result = train(jax.random.key(0), dataclasses.replace(config, n_updates=1))
    row = result.log[0]
    assert np.isnan(row["test/tile/window/episode_return"])
    assert row["test/tile/window/n_finished"] == 0
    assert np.isnan(row["test/tile/episodes/episode_return"])
    assert row["test/tile/episodes/n_unfinished"] == 4
    assert np.isnan(row["train/episode_return"])
    assert row["train/n_finished"] == 0


def test_evaluation_counts_each_first_episode_once_and_trials_add_up():
    config = small(task="HigherLower", n_trials=3)
    agent = jax.jit(start, static_argnums=1)(jax.random.key(0), config).agent
    found = evaluate(jax.random.key(1), agent, config)["tile"]
    # An episode has 3 · 51 steps: none ends within the window of 40.
    assert found.window.n_finished == 0
    assert found.episodes.n_finished == 4
    assert found.trial_counts.tolist() == [4, 4, 4]
    total = found.trial_returns.sum()
    np.testing.assert_allclose(total, found.episodes.mean_return, atol=1e-5)


def test_the_held_out_task_is_played_with_its_own_actions():
    config = small(
        task=("StatelessCartPole", "RepeatFirst"),
        evaluation=EvaluationConfig(task="Minesweeper", n_envs=4, n_steps=20),
    )
    assert config.training_env().action_space.n == 16
    row = train(jax.random.key(0), dataclasses.replace(config, n_updates=1)).log[0]
    assert row["test/tile/episodes/n_finished"] == 4
    tasks = ("StatelessCartPole", "RepeatFirst")
    counts = [row[f"train/{task}/n_finished"] for task in tasks]
    assert sum(counts) == row["train/n_finished"]


def learner(task, **settings):
    """Enough training for a probe."""
    return small(
        task=task,
        **{
            # Under random words a sign could not be told from its opposite.
            "projection": FreeProjection(2, 3, dim=16, family="identity"),
            "n_envs": 64,
            "n_steps": 32,
            "n_updates": 30,
            "ppo": PPOConfig(
                n_epochs=4, n_minibatches=4, learning_rate=5e-3, gae_lambda=0.95
            ),
            "evaluation": EvaluationConfig(
                every=30, n_envs=256, n_steps=32, maps=("pad",)
            ),
            **settings,
        },
    )


def test_values_become_the_known_ones():
    config = learner("ProbeValue", n_trials=2, evaluation=EvaluationConfig(every=0))
    state = jax.jit(start, static_argnums=1)(jax.random.key(0), config)
    step, params = (
        jax.jit(update, static_argnums=2),
        draw_params(jax.random.key(0), config),
    )
    for _ in range(config.n_updates):
        state, _ = step(state, params, config)
    env = config.training_env()
    run = jax.jit(
        lambda s: collect(jax.random.key(1), env, params, s.agent, s.rollout, 16)
    )
    _, rollout, _ = run(state)
    first = np.asarray(first_steps(env, rollout.inputs))
    value = np.asarray(rollout.value)
    # Two trials of one step each that pays 1: a trial's end does not cut the return.
    assert value[first].mean() == pytest.approx(1.99, abs=0.15)
    assert value[~first].mean() == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(
    ("memory", "n_updates"),
    [("gru", 20), pytest.param("s5", 40, marks=pytest.mark.slow)],
)
def test_memory_solves_what_only_memory_solves(memory, n_updates):
    # At this large rate agents forget again later, some seeds after 40 updates.
    config = learner("ProbeMemory", memory=memory, n_trials=1, n_updates=n_updates)
    row = train(jax.random.key(0), config).log[-1]
    # A guess earns 0.5.
    assert row["test/pad/episodes/episode_return"] > 0.9
    assert row["test/zero/episodes/episode_return"] < 0.75  # it needs its observation


def test_later_trials_are_better_where_only_earlier_trials_can_tell():
    config = learner("ProbeArms", n_trials=8, previous_reward=True, n_updates=60)
    trials = train(jax.random.key(0), config).log[-1]["test/pad/trial_returns"]
    assert abs(trials[0] - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 256)  # a guess
    assert min(trials[5:]) > 0.7


def test_one_episode_has_no_standard_error():
    for count, known in ((0, False), (1, False), (2, True)):
        stats = EpisodeStats(*map(jnp.asarray, (0.5, 0.1, count, 0)))
        assert bool(jnp.isfinite(stats.standard_error)) is known
