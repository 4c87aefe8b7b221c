"""POPGym's ids with `spaces="popgym"` against the installed POPGym, id by id.

What POPGym's own tests assert of every environment (reset, state, step, spaces, seeds)
is asserted here of ours, over whole trials.
"""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import freeproj.gymnasium  # noqa: F401  registers the ids
from freeproj.adapters.gymnasium import TaskEnv
from freeproj.envs import REGISTRY, HigherLower

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import popgym.envs

LEVELS = ("Easy", "Medium", "Hard")
THEIRS = {made["id"]: kind for kind, made in popgym.envs.ALL.items()}
# POPGym registers its six labyrinths only where mazelib is installed.
IDS = [
    f"popgym-{family.popgym_name}{level}-v0"
    for family in REGISTRY.values()
    if family.popgym_name
    for level in LEVELS
]


class OwnGame(HigherLower):
    """A game that POPGym does not have."""

    popgym_name = None


def opened(env_id):
    env = gym.make(f"freeproj/{env_id}", spaces="popgym").unwrapped
    env.action_space.seed(0)
    return env


def trial(env, actions=None, seed=None):
    """Plays a trial; returns actions, observations, states, rewards and flags."""
    observation, _ = env.reset(seed=seed)
    found = [(observation, env.get_state(), 0.0, False, False)]
    played = []
    while not any(found[-1][3:]):
        action = env.action_space.sample() if actions is None else actions[len(played)]
        observation, reward, terminated, truncated, _ = env.step(action)
        found.append((observation, env.get_state(), reward, terminated, truncated))
        played.append(action)
    return played, found


def assert_close(left, right):
    assert type(left) is type(right)
    if isinstance(left, tuple):
        for pair in zip(left, right, strict=True):
            assert_close(*pair)
    else:
        np.testing.assert_allclose(left, right)


def test_the_ids_are_all_of_popgyms():
    assert set(THEIRS) <= set(IDS)
    assert len(THEIRS) == 42
    assert len(IDS) == 48  # with six labyrinths


@pytest.mark.slow
@pytest.mark.parametrize("env_id", IDS)
def test_what_popgym_tests_of_its_environments_holds_of_ours(env_id):
    env = opened(env_id)
    with warnings.catch_warnings():
        if "VelocityOnly" in env_id:  # without bounds, as in POPGym
            warnings.filterwarnings("ignore", ".*infinity.*")
        if "Pendulum" in env_id:  # its torques are not in [-1, 1]
            warnings.filterwarnings("ignore", ".*symmetric and normalized.*")
        check_env(env, skip_render_check=True)
    for seed in range(2):
        actions, found = trial(env, seed=seed)
        for observation, state, *_ in found:
            assert env.observation_space.contains(observation)
            assert env.state_space.contains(state)
        for before, after in zip(found, trial(env, actions, seed)[1], strict=True):
            assert_close(before, after)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", [*THEIRS])
def test_spaces_and_types_are_those_of_popgym(env_id):
    ours, theirs = opened(env_id), THEIRS[env_id]()
    for name in ("observation_space", "action_space", "state_space"):
        left, right = getattr(ours, name), getattr(theirs, name)
        assert left == right, name
    assert ours.obs_requires_prev_action == theirs.obs_requires_prev_action
    seen, expected = ours.reset(seed=0)[0], theirs.reset(seed=0)[0]
    assert np.shape(seen) == np.shape(expected)
    assert type(seen) is type(expected)
    states = ours.get_state(), theirs.get_state()
    assert list(map(np.shape, as_parts(states[0]))) == list(
        map(np.shape, as_parts(states[1]))
    )


def as_parts(state):
    return state if isinstance(state, tuple) else (state,)


def test_a_board_game_takes_a_row_and_a_column():
    env = opened("popgym-BattleshipEasy-v0")
    env.reset(seed=0)
    ships, shot, last = env.get_state()
    assert (shot.sum(), last) == (0, 0)
    row, column = np.argwhere(ships)[0]
    observation, reward, *_ = env.step(np.array([row, column]))
    assert (observation, reward > 0) == (1, True)
    assert env.get_state()[1][row, column] == 1
    with pytest.raises(ValueError, match="row and a column"):
        env.step(np.array([8, 0]))


def test_hidden_states_say_what_is_hidden():
    cards = opened("popgym-ConcentrationEasy-v0")
    cards.reset(seed=1)
    kinds, up, *turned = cards.get_state()
    assert (up.sum(), turned) == (0, [2, 2])
    first = 0
    second = int(np.flatnonzero(kinds[1:] == kinds[0])[0]) + 1
    cards.step(first)
    assert list(cards.get_state()[2:]) == [first, 2]
    cards.step(second)
    assert list(cards.get_state()[2:]) == [first, second]
    assert cards.get_state()[1].sum() == 2

    previous = opened("popgym-RepeatPreviousEasy-v0")
    seen = [previous.reset(seed=2)[0]] + [previous.step(0)[0] for _ in range(6)]
    kept, left = previous.get_state()
    np.testing.assert_array_equal(kept, seen[-4:])
    np.testing.assert_allclose(left, 1 - np.bincount(seen, minlength=4) / 13)

    pendulum = opened("popgym-PositionOnlyPendulumEasy-v0")
    shown = pendulum.reset(seed=0)[0]
    np.testing.assert_allclose(pendulum.get_state()[:2], shown, atol=1e-6)
    speed = pendulum.get_state()[2]
    pendulum.step(np.array([2.0], np.float32))
    assert pendulum.get_state()[2] - speed == pytest.approx(
        (15 * shown[1] + 3 * 2) * 0.05, abs=1e-4
    )


def test_other_spaces_and_tasks_of_ones_own_are_refused():
    with pytest.raises(ValueError, match="freeproj, popgym"):
        TaskEnv("HigherLower", spaces="gymnax")
    with pytest.raises(ValueError, match="needs a task of POPGym"):
        TaskEnv(OwnGame(), spaces="popgym")
    with pytest.raises(RuntimeError, match="reset"):
        TaskEnv("HigherLower", spaces="popgym").get_state()
