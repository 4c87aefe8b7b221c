"""Laws of the bridge to gymnax, in both directions and for both of its steps."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj import FreeProjection, MetaEnv

# It holds JAX back, so no extra but its own brings it: see tools/try_gymnax.sh.
gymnax = pytest.importorskip("gymnax", reason="gymnax is not installed")
from gymnax.environments import spaces  # noqa: E402
from gymnax.wrappers import FlattenObservationWrapper, LogWrapper  # noqa: E402

from freeproj.adapters.gymnax import GymnaxMetaEnv, GymnaxTask, make  # noqa: E402
from freeproj.envs import make as make_task  # noqa: E402
from freeproj.envs.registry import task_name  # noqa: E402

PROJECTION = FreeProjection(2, 2, dim=8)


class Countdown:
    """A plain environment in the style of gymnax 0.0.x: five values, one flag."""

    name = "Countdown"
    default_params = types.SimpleNamespace(max_steps_in_episode=3)

    def __init__(self, space=None):
        self.space = space or spaces.Discrete(4)

    def reset_env(self, key, params):
        return self.show(jnp.array(3)), jnp.array(3)

    def step_env(self, key, state, action, params):
        state = state - 1
        return self.show(state), state, 1.0, state <= 0, {}

    def show(self, state):
        if isinstance(self.space, spaces.Dict):
            return {"count": state, "copy": jnp.full((2, 2), state, jnp.float32)}
        return state

    def observation_space(self, params):
        return self.space

    def action_space(self, params):
        return spaces.Discrete(2)


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1", "Catch-bsuite"])
def test_a_gymnax_environment_plays_the_same_as_a_task(getkey, name):
    env, params = gymnax.make(name)
    task = GymnaxTask(env)
    obs, state = task.reset(key := getkey(), params)
    raw_obs, raw_state = env.reset(key, params)
    np.testing.assert_array_equal(obs, jnp.ravel(raw_obs))
    assert obs.shape == (task.observation_space.size,)
    step, raw_step = jax.jit(task.step), jax.jit(env.step_env)
    for _ in range(9):
        action = task.action_space.sample(getkey())
        obs, state, reward, terminated, truncated, _ = step(
            key := getkey(), state, action, params
        )
        raw_obs, raw_state, raw_reward, raw_done, _ = raw_step(
            key, raw_state, action, params
        )
        np.testing.assert_allclose(obs, jnp.ravel(raw_obs), rtol=1e-6)
        assert float(reward) == pytest.approx(float(raw_reward))
        assert bool(terminated) == bool(raw_done)
        if terminated or truncated:
            break


def test_a_task_is_made_by_name_by_tuple_and_by_environment():
    env, params = gymnax.make("CartPole-v1")
    short = params.replace(max_steps_in_episode=7)
    assert GymnaxTask((env, short)).max_steps == 7
    assert GymnaxTask((env, short)).default_params == short
    named = make_task("gymnax/CartPole-v1")
    assert isinstance(named, GymnaxTask)
    assert named.name == task_name(named) == "gymnax/CartPole-v1"
    assert named.max_steps == GymnaxTask(env).max_steps == 500
    limited = make_task("gymnax/CartPole-v1(max_steps=50)")
    assert (limited.max_steps, limited.name) == (50, "gymnax/CartPole-v1(max_steps=50)")
    with pytest.raises(ValueError, match="Did you mean `CartPole-v1`"):
        make_task("gymnax/CartPole-v2")


def test_settings_and_training_take_a_gymnax_environment_by_name(tmp_path):
    import freeproj as fp

    found = fp.train("smoke", seed=0, task="gymnax/CartPole-v1", progress=False)
    assert found.config.tasks == ("gymnax/CartPole-v1",)
    assert len(found.log) == found.config.n_updates
    again = fp.load_agent(found.save(tmp_path / "agent.npz"))
    assert again.config.tasks == found.config.tasks


def test_the_time_limit_of_gymnax_truncates_and_does_not_terminate(getkey):
    env, params = gymnax.make("Pendulum-v1")
    task = GymnaxTask(env)
    _, state = task.reset(getkey(), params)
    state = state.replace(time=jnp.array(task.max_steps - 2))
    ends = []
    for _ in range(2):
        stepped = task.step(getkey(), state, jnp.zeros(1), params)
        state = stepped[1]
        ends.append((bool(stepped[3]), bool(stepped[4])))
    assert ends == [(False, False), (False, True)]


def test_an_old_environment_with_five_values_ends_by_its_one_flag(getkey):
    task = GymnaxTask(Countdown())
    obs, state = task.reset(getkey(), None)
    np.testing.assert_array_equal(obs, [0, 0, 0, 1])
    ends = []
    for _ in range(3):
        obs, state, _, terminated, truncated, _ = task.step(getkey(), state, 0, None)
        ends.append((bool(terminated), bool(truncated)))
    assert ends == [(False, False), (False, False), (True, False)]
    np.testing.assert_array_equal(obs, [1, 0, 0, 0])


def test_a_dict_of_observations_is_laid_out_part_by_part(getkey):
    parts = {"count": spaces.Discrete(4), "copy": spaces.Box(0.0, 3.0, (2, 2))}
    task = GymnaxTask(Countdown(spaces.Dict(parts)))
    obs, _ = task.reset(getkey(), None)
    np.testing.assert_array_equal(obs, [0, 0, 0, 1, 3, 3, 3, 3])
    assert task.observation_space.high == (1, 1, 1, 1, 3, 3, 3, 3)


def test_a_wrapper_is_not_passed_by(getkey):
    env, params = gymnax.make("Catch-bsuite")
    task = GymnaxTask(LogWrapper(FlattenObservationWrapper(env)))
    obs, state = task.reset(getkey(), params)
    obs, state, *_ = task.step(getkey(), state, 0, params)
    assert int(state.episode_lengths) == 1
    assert obs.shape == (50,)


def test_unbounded_observations_need_a_scale_to_be_normalized():
    env, _ = gymnax.make("CartPole-v1")
    with pytest.raises(ValueError, match="scale"):
        _ = GymnaxTask(env).observation_scale
    assert GymnaxTask(env, scale=(1, 2, 3, 4)).observation_scale == (1, 2, 3, 4)


def test_an_environment_that_hides_its_length_must_be_told():
    env = Countdown()
    env.default_params = None
    with pytest.raises(ValueError, match="max_steps"):
        GymnaxTask(env)
    assert GymnaxTask(env, max_steps=3).max_steps == 3


def test_gymnax_tasks_and_our_own_share_a_meta_environment(getkey):
    task = GymnaxTask(gymnax.make("CartPole-v1")[0])
    meta = MetaEnv([task, "RepeatFirst"], PROJECTION, n_trials=2)
    params = meta.draw_params(getkey())
    _, state = meta.reset(getkey(), params)

    def step(state, key):
        action = jax.random.randint(key, (), 0, 2)
        inputs, state, *_, info = meta.advance(key, state, action, params)
        return state, (inputs, info["trial_ended"])

    _, (inputs, ended) = jax.lax.scan(step, state, jax.random.split(getkey(), 60))
    assert ended.any()
    assert np.isfinite(inputs).all()


def test_a_meta_environment_is_a_gymnax_environment(getkey):
    meta = MetaEnv("RepeatFirst", PROJECTION, n_trials=2)
    env = GymnaxMetaEnv(meta, getkey())
    params = env.default_params
    space = env.observation_space(params)
    obs, state = env.reset(getkey(), params)
    assert obs.shape == space.shape
    n_actions = env.action_space(params).n
    for step in range(1, 103):
        before = state
        obs, state, _, terminated, truncated, info = env.step(
            getkey(), state, step % n_actions, params
        )
        assert bool(terminated) == (step == 102)
        assert not truncated
    # What ended and what begins are told apart.
    assert int(before.trial) == 1
    assert int(state.trial) == 0
    first, ended = meta.layout["first_step"], meta.layout["trial_ended"]
    assert (obs[first], obs[ended]) == (1, 0)
    final = info["final_observation"]
    assert (final[first], final[ended]) == (0, 1)


def test_gymnax_log_wrapper_counts_whole_episodes(getkey):
    meta = MetaEnv("Minesweeper", PROJECTION, n_trials=3)
    env = LogWrapper(GymnaxMetaEnv(meta, getkey()))
    _, state = env.reset(getkey(), env.default_params)
    total = 0.0
    for step in range(45):
        _, state, reward, terminated, _, info = env.step(
            getkey(), state, step % 16, env.default_params
        )
        total += float(reward)
        if terminated:
            break
    assert float(info["returned_episode_returns"]) == pytest.approx(total)
    assert int(info["returned_episode_lengths"]) == step + 1


def test_other_base_matrices_are_passed_as_params(getkey):
    env = GymnaxMetaEnv(MetaEnv("RepeatFirst", PROJECTION), getkey())
    other = env.meta.redraw(getkey(), env.default_params)
    key = getkey()
    same, _ = env.reset(key, env.default_params)
    new, _ = env.reset(key, other)
    assert np.abs(np.asarray(same - new)).max() > 0.01


def test_gymnaxs_own_wrappers_go_around_our_tasks():
    env, params = make("HigherLowerEasy")
    wrapped = LogWrapper(FlattenObservationWrapper(env))
    key = jax.random.key(0)
    _, state = wrapped.reset(key, params)
    for _ in range(51):
        obs, state, *_, info = wrapped.step(key, state, 0, params)
    assert obs.shape == (13,)
    assert int(info["returned_episode_lengths"]) == 51
    assert isinstance(env.observation_space(params), spaces.Box)
    assert isinstance(env.action_space(params), spaces.Discrete)
