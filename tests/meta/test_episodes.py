"""Laws of the meta-environment: what an episode keeps and what it renews."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify

from freeproj import FreeProjection, MetaEnv, envs
from freeproj.projection.maps import fixed_map
from random_play import quick_jit

PROJECTION = FreeProjection(2, 3, dim=32)
TASKS = ["StatelessCartPole", "HigherLower", "Minesweeper", "RepeatFirst"]


def play(env, key, params, n_steps, step=None):
    """Plays at random; returns what was seen and done, step by step."""
    step = step or env.step

    def body(carry, key):
        inputs, state = carry
        key_action, key_step = jax.random.split(key)
        action = choose(env, key_action, state)
        following = step(key_step, state, action, params)
        seen = {
            "inputs": inputs,
            "state": state,
            "action": action,
            "reward": following[2],
            "terminated": following[3],
            **following[5],
        }
        return following[:2], seen

    key_reset, key_play = jax.random.split(key)
    start = env.reset(key_reset, params)
    return jax.lax.scan(body, start, jax.random.split(key_play, n_steps))[1]


def choose(env, key, state):
    mask = env.action_mask(state)
    if mask is None:
        return env.action_space.sample(key)
    return jax.random.categorical(key, jnp.where(mask, 0.0, -jnp.inf))


@pytest.mark.parametrize("task", TASKS)
def test_an_episode_has_exactly_n_trials_from_one_start_under_one_word(getkey, task):
    env = MetaEnv(task, PROJECTION, n_trials=3)
    params = env.draw_params(getkey())
    seen = jax.jit(lambda key: play(env, key, params, 400))(getkey())
    ends = np.flatnonzero(seen["terminated"])
    assert len(ends) >= 2
    trials = np.asarray(seen["trial_ended"])
    before = 0
    for end in ends:
        assert trials[before : end + 1].sum() == 3
        for part in ("word", "initial", "matrix", "action_map"):
            for leaf in jax.tree.leaves(getattr(seen["state"], part)):
                rows = np.asarray(leaf)[before : end + 1]
                assert np.all(rows == rows[:1]), part
        starts = [before, *(before + 1 + np.flatnonzero(trials[before:end]))]
        shown = np.asarray(seen["inputs"])[starts][:, env.layout["observation"]]
        np.testing.assert_array_equal(shown, np.broadcast_to(shown[0], shown.shape))
        before = end + 1


def test_words_and_starts_change_between_episodes(getkey):
    env = MetaEnv("RepeatFirst", FreeProjection(256, 1, dim=16), n_trials=1)
    seen = play(env, getkey(), env.draw_params(getkey()), 400)
    first = np.flatnonzero(np.asarray(seen["terminated"]))[:6] + 1
    words = np.asarray(seen["state"].word)[first]
    decks = np.asarray(seen["state"].initial[0].deck)[first]
    assert len(set(words.tolist())) > 3
    assert len(np.unique(decks, axis=0)) == len(first)


@pytest.mark.fast
@pytest.mark.parametrize(("normalized", "size"), [(False, 1 / 52), (True, 51 / 52)])
def test_the_agent_sees_what_the_layout_says(getkey, normalized, size):
    env = MetaEnv(
        "HigherLower",
        PROJECTION,
        n_trials=2,
        previous_reward=True,
        normalize_observations=normalized,
    )
    params = env.draw_params(getkey())
    seen = play(env, getkey(), params, 120)
    parts = {name: np.asarray(seen["inputs"])[:, s] for name, s in env.layout.items()}
    assert sum(part.shape[1] for part in parts.values()) == env.input_size
    over, ended = (np.asarray(seen[name]) for name in ("terminated", "trial_ended"))
    first = np.r_[True, over[:-1]]
    np.testing.assert_array_equal(parts["first_step"][:, 0], first)
    np.testing.assert_array_equal(parts["trial_ended"][1:, 0], ended[:-1] & ~over[:-1])
    one_hot = np.eye(2)[np.asarray(seen["action"])[:-1]] * ~first[1:, None]
    np.testing.assert_array_equal(parts["previous_action"][1:], one_hot)
    rewards = np.sign(seen["reward"])[:-1] * ~first[1:] * size
    np.testing.assert_allclose(parts["previous_reward"][1:, 0], rewards, rtol=1e-6)


@pytest.mark.fast
def test_observations_are_projected_by_the_matrix_of_the_word(getkey):
    env = MetaEnv("StatelessCartPole", PROJECTION, n_trials=2)
    bases = PROJECTION.draw_bases(getkey())
    table = env.table_of(PROJECTION.matrices(bases, 2))
    params = env.draw_params(getkey())._replace(table=table)
    seen = play(env, getkey(), params, 60)
    going = ~np.asarray(seen["trial_ended"])[:-1]
    raw = np.asarray(seen["final_observation"])[:-1][going]
    shown = np.asarray(seen["inputs"])[1:, env.layout["observation"]][going]
    words = np.asarray(seen["state"].word)[:-1][going]
    for observation, projected, word in zip(raw, shown, words, strict=True):
        matrix = PROJECTION.matrix(PROJECTION.letters(word), bases, 2)
        np.testing.assert_allclose(projected, matrix @ observation, atol=1e-5)


def test_a_word_too_rare_for_a_table_gives_the_same_matrix(getkey):
    few = MetaEnv("StatelessCartPole", PROJECTION)
    bases = PROJECTION.draw_bases(getkey())
    drawn = few.draw_params(getkey())
    assert drawn.bases is None
    table = few.table_of(PROJECTION.matrices(bases, 2))
    _, tabled = few.reset(getkey(), drawn._replace(table=table))
    _, multiplied = few.reset(
        getkey(), drawn._replace(table=None, bases=bases), few.letters(tabled)
    )
    np.testing.assert_allclose(tabled.matrix, multiplied.matrix, atol=1e-5)
    np.testing.assert_array_equal(few.letters(multiplied), few.letters(tabled))
    many = MetaEnv("StatelessCartPole", FreeProjection(2, 30, dim=16))
    params = many.draw_params(getkey())
    assert params.table is None
    inputs, state = many.reset(getkey(), params)
    assert np.isfinite(inputs).all()
    assert state.word.shape == (30,)


@pytest.mark.fast
def test_redraw_changes_what_is_seen_and_no_redraw_does_not(getkey):
    env = MetaEnv("HigherLower", PROJECTION)
    params, key = env.draw_params(getkey()), getkey()
    redrawn = env.redraw(getkey(), params)
    part = env.layout["observation"]
    first, state = env.reset(key, params)
    again, _ = env.reset(key, params)
    changed, _ = env.reset(key, redrawn)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first[part] - changed[part]).max() > 1e-3
    np.testing.assert_array_equal(first[part.stop :], changed[part.stop :])
    # ... and, if asked for, in the middle of an episode: at once, and the word stays.
    seen, moved = env.with_params(first, state, redrawn)
    assert jnp.array_equal(moved.word, state.word)
    np.testing.assert_allclose(seen[part], state.shown @ moved.matrix, atol=1e-6)
    assert np.abs(seen[part] - first[part]).max() > 1e-3
    same, kept = env.with_params(first, state, params)
    np.testing.assert_array_equal(kept.matrix, state.matrix)
    np.testing.assert_allclose(same, first, atol=1e-6)


@pytest.mark.fast
def test_fresh_starts_deal_anew_under_the_same_word(getkey):
    env = MetaEnv("HigherLower", PROJECTION, n_trials=3, trials="fresh_start")
    params = env.draw_params(getkey())
    inputs, state = env.reset_batch(getkey(), params, 4)
    step, decks, words = jax.jit(env.step_batch), [], []
    for _ in range(3 * 51):
        decks.append(np.asarray(state.current[0].deck))
        words.append(np.asarray(state.word))
        seen = np.asarray(inputs)[:, env.layout["observation"]]
        expected = np.einsum("ek,ekd->ed", state.shown, state.matrix)
        np.testing.assert_allclose(seen, expected, atol=1e-5)
        inputs, state, _, ended, _, _ = step(getkey(), state, jnp.zeros(4, int), params)
    assert ended.all()
    assert np.all(np.array(words) == words[0])
    starts = np.array(decks)[::51]
    assert np.all(np.array(decks)[:51] == decks[0])
    assert len(np.unique(starts.reshape(12, -1), axis=0)) == 12


@pytest.mark.fast
@pytest.mark.parametrize(("observation", "norm"), [("none", 0.0), ("plain", 2**0.5)])
def test_blind_and_plain_observations_need_no_words(getkey, observation, norm):
    env = MetaEnv("RepeatFirst", PROJECTION, observation=observation)
    params = env.draw_params(getkey())
    assert params.table.shape == (PROJECTION.n_words, 1, 4, 32)
    inputs, _ = env.reset(getkey(), params)
    shown = np.asarray(inputs)[env.layout["observation"]]
    assert np.linalg.norm(shown) == pytest.approx(norm)
    assert not np.any(shown[4:])


@pytest.mark.parametrize("n_trials", [1, 2])
def test_auto_reset_leaks_nothing_into_the_last_step(getkey, n_trials):
    env = MetaEnv("StatelessCartPole", PROJECTION, n_trials=n_trials)
    params, key = env.draw_params(getkey()), getkey()
    seen = play(env, key, params, 150)
    # The same play without automatic resets, up to the first end.
    end = int(np.flatnonzero(seen["terminated"])[0])
    state = jax.tree.map(lambda leaf: leaf[end], seen["state"])
    alone = env.advance(key, state, seen["action"][end], params)
    assert alone[2] == seen["reward"][end]
    np.testing.assert_allclose(
        alone[5]["final_observation"], seen["final_observation"][end], rtol=1e-6
    )
    following = np.asarray(seen["inputs"])[end + 1]
    assert following[env.layout["first_step"]] == 1
    assert following[env.layout["trial_ended"]] == 0
    assert not np.array_equal(following, alone[0])


def test_stepping_a_batch_is_stepping_each(getkey):
    # HigherLower's steps use no randomness, so only new episodes may differ.
    env = MetaEnv("HigherLower", PROJECTION, n_trials=1)
    params = env.draw_params(getkey())
    inputs, state = env.reset_batch(getkey(), params, 5)
    step, one = jax.jit(env.step_batch), jax.jit(env.step)
    for _ in range(51):
        action = jax.random.randint(getkey(), (5,), 0, 2)
        singles = [
            one(getkey(), jax.tree.map(lambda x, i=i: x[i], state), action[i], params)
            for i in range(5)
        ]
        inputs, state, reward, ended, _, info = step(getkey(), state, action, params)
        for i, single in enumerate(singles):
            assert single[2] == reward[i]
            assert single[3] == ended[i]
            assert single[5]["trial_ended"] == info["trial_ended"][i]
            if not ended[i]:
                np.testing.assert_allclose(single[0], inputs[i], atol=1e-6)
    assert ended.all()
    assert len(np.unique(np.asarray(state.initial[0].deck), axis=0)) == 5
    assert np.all(np.asarray(inputs)[:, env.layout["first_step"]] == 1)


def test_compiled_play_is_eager_play(getkey):
    env = MetaEnv(["RepeatFirst", "HigherLower"], PROJECTION, n_trials=1)
    params = env.draw_params(getkey())
    _, state = env.reset(getkey(), params)
    for _ in range(4):
        key, action = getkey(), jnp.array(1)
        eager = env.step(key, state, action, params)
        compiled = jax.jit(env.step)(key, state, action, params)
        for a, b in zip(jax.tree.leaves(eager), jax.tree.leaves(compiled), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6)
        state = eager[1]


def test_mixed_tasks_are_drawn_uniformly_and_padded_by_zeros(getkey):
    env = MetaEnv(TASKS, PROJECTION, n_trials=1)
    params = env.draw_params(getkey())
    _, state = jax.jit(env.reset_batch, static_argnums=2)(getkey(), params, 2000)
    counts = np.bincount(state.task, minlength=4)
    assert np.abs(counts - 500).max() < 5 * np.sqrt(2000 * 3 / 16)
    sizes = [envs.make(task).observation_space.size for task in TASKS]
    assert env.observation_size == max(sizes) == 13
    for task, shown in zip(state.task, state.initial_observation, strict=True):
        assert not np.any(shown[sizes[int(task)] :])


def test_masked_actions_are_those_a_task_does_not_have(getkey):
    env = MetaEnv(TASKS, PROJECTION, action_map="random")
    assert env.action_space.n == 16
    params = env.draw_params(getkey())
    _, state = env.reset_batch(getkey(), params, 50)
    counts = np.array([envs.make(task).action_space.n for task in TASKS])
    mask = np.asarray(jax.vmap(env.action_mask)(state))
    np.testing.assert_array_equal(mask.sum(axis=1), counts[state.task])


def test_random_action_maps_hide_the_tasks_actions(getkey):
    env = MetaEnv("RepeatFirst", PROJECTION, action_map="random", n_trials=1)
    params = env.draw_params(getkey())
    _, state = env.reset_batch(getkey(), params, 64)
    suits = state.initial[0].deck[:, 0] % 4  # what is to be answered
    right = np.asarray(state.action_map.to_task) == np.asarray(suits)[:, None]
    answers = jnp.asarray(right.argmax(axis=1))
    rewards = env.step_batch(getkey(), state, answers, params)[2]
    np.testing.assert_allclose(rewards, 1 / 51, rtol=1e-5)
    assert len(set(answers.tolist())) == 4
    assert not np.array_equal(answers, suits)


def test_evaluation_maps_are_fixed_and_ignore_words(getkey):
    env = MetaEnv(
        ["StatelessCartPole", "RepeatFirst"], PROJECTION, evaluation_map="tile"
    )
    params = env.draw_params(getkey())
    _, state = env.reset_batch(getkey(), params, 20)
    for task, matrix in zip(state.task, state.matrix, strict=True):
        size = (2, 4)[int(task)]
        expected = fixed_map("tile", 32, size, PROJECTION.scale)
        np.testing.assert_allclose(matrix[:size].T, expected, atol=1e-6)
        assert not np.any(matrix[size:])


def test_normalizing_divides_by_the_tasks_bounds(getkey):
    plain = MetaEnv("StatelessCartPole", PROJECTION, evaluation_map="pad")
    unit = MetaEnv(
        "StatelessCartPole",
        PROJECTION,
        evaluation_map="pad",
        normalize_observations=True,
    )
    key = getkey()
    seen = plain.reset(key, plain.draw_params(getkey()))[0]
    scaled = unit.reset(key, unit.draw_params(getkey()))[0]
    scale = np.array(envs.make("StatelessCartPole").observation_scale)
    np.testing.assert_allclose(scaled[:2] * scale, seen[:2], rtol=1e-5)


def test_continuous_actions_are_turned_and_clipped(getkey):
    env = MetaEnv("StatelessPendulum", PROJECTION, action_map="random", n_trials=1)
    params = env.draw_params(getkey())
    seen = play(env, getkey(), params, 30)
    assert env.action_mask(jax.tree.map(lambda x: x[0], seen["state"])) is None
    assert np.isfinite(seen["inputs"]).all()
    # One dimension: M_a is a sign, and both occur.
    _, state = env.reset_batch(getkey(), params, 40)
    assert set(np.sign(state.action_map).ravel().tolist()) == {-1.0, 1.0}


@pytest.mark.parametrize("tasks", [*TASKS, TASKS, "StatelessPendulum"])
def test_no_index_is_ever_out_of_range(getkey, tasks):
    env = MetaEnv(tasks, PROJECTION, n_trials=2, action_map="random")
    params = env.draw_params(getkey())
    checked = checkify.checkify(
        lambda key: play(env, key, params, 130)["reward"].sum(),
        errors=checkify.index_checks | checkify.nan_checks,
    )
    error, _ = jax.jit(checked)(getkey())
    error.throw()


def test_the_state_does_not_grow_with_the_number_of_words(getkey):
    def size(projection):
        env = MetaEnv("HigherLower", projection)
        _, state = jax.eval_shape(env.reset, getkey(), env.draw_params(getkey()))
        return sum(leaf.size for leaf in jax.tree.leaves(state))

    assert size(FreeProjection(2, 1, dim=16)) == size(FreeProjection(2, 8, dim=16))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MetaEnv([], PROJECTION), "at least one task"),
        (lambda: MetaEnv("nosuch", PROJECTION), "nosuch"),
        (lambda: MetaEnv("HigherLower", PROJECTION, n_trials=0), "n_trials"),
        (
            lambda: MetaEnv("HigherLower", PROJECTION, action_map="x"),
            "identity, random",
        ),
        (lambda: MetaEnv("HigherLower", PROJECTION, evaluation_map="tiel"), "`tile`"),
        (lambda: MetaEnv("HigherLower", PROJECTION, trials="fresh"), "fresh_start"),
        (lambda: MetaEnv("HigherLower", PROJECTION, observation="x"), "plain"),
        (lambda: MetaEnv("HigherLower", FreeProjection(2, 1, dim=12)), "13.*12"),
        (lambda: MetaEnv(["HigherLower", "StatelessPendulum"], PROJECTION), "mix"),
        (
            lambda: MetaEnv("HigherLower", PROJECTION, evaluation_map="identity"),
            "identity.*32 and 13",
        ),
    ],
)
def test_bad_input_is_refused_with_its_rule(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_families_of_all_sizes_are_padded_and_masked_together():
    tasks = ["Battleship", "CountRecall", "Concentration", "MultiarmedBandit"]
    meta = MetaEnv(tasks, FreeProjection(2, 2, dim=160), n_trials=2)
    assert meta.observation_size == 156
    assert meta.action_space.n == 64
    params = meta.draw_params(jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), 16)
    _, state = quick_jit(jax.vmap(meta.reset, in_axes=(0, None)))(keys, params)
    sizes = np.array([64, 27, 52, 10])[np.asarray(state.task)]
    assert set(sizes) > {10}
    masks = np.asarray(quick_jit(jax.vmap(meta.action_mask))(state))
    np.testing.assert_array_equal(masks.sum(axis=1), sizes)
