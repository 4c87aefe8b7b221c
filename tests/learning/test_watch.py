"""An episode to look at: frames add up, and a GIF of them plays."""

import itertools

import jax
import numpy as np
import pytest

from freeproj.agents import ActorCritic
from freeproj.learning.watch import play_episode
from freeproj.meta.episodes import MetaEnv
from freeproj.projection.projection import FreeProjection

N_TRIALS, N_CARDS = 3, 12


@pytest.fixture(scope="module")
def episode():
    """An untrained agent and the frames of its episode of flash cards."""
    projection = FreeProjection(2, 2, dim=8)
    env = MetaEnv("freeproj.envs.flash_cards:FlashCards", projection, N_TRIALS)
    sizes = {"embedding_size": 8, "hidden_size": 8, "head_size": 8}
    agent = jax.jit(
        lambda key: ActorCritic.create(key, env.input_size, env.action_space, **sizes)
    )(jax.random.key(0))
    return agent, env, list(play_episode(agent, env, seed=1))


def test_a_frame_shows_the_action_beside_the_card_it_answers(episode):
    _, _, frames = episode
    assert len(frames) == N_TRIALS * N_CARDS
    signs = {"spades": "♠", "diamonds": "♦", "clubs": "♣", "hearts": "♥"}
    for frame in frames:
        right = f"[{signs[frame.action]}]" in frame.task
        assert frame.reward == pytest.approx((1 if right else -1) / N_CARDS)


def test_rewards_of_a_trial_add_up_to_its_return(episode):
    _, _, frames = episode
    returns = np.zeros(N_TRIALS)
    for frame in frames:
        returns[frame.trial] += frame.reward
    np.testing.assert_allclose(frames[-1].returns, returns, atol=1e-6)
    assert [frame.trial_ended for frame in frames].count(True) == N_TRIALS


def test_one_card_always_looks_the_same_within_an_episode(episode):
    _, _, frames = episode
    looks = {}
    for frame in frames:
        looks.setdefault(frame.task[:3], []).append(frame.seen)
    assert len(looks) == 4
    for seen in looks.values():
        np.testing.assert_allclose(seen, np.broadcast_to(seen[0], np.shape(seen)))
    firsts = [seen[0] for seen in looks.values()]
    for one, other in itertools.combinations(firsts, 2):
        assert np.abs(one - other).max() > 0.1


def test_the_same_seed_shows_the_same_episode(episode):
    agent, env, frames = episode
    again = [frame.text for frame in play_episode(agent, env, seed=1)]
    assert again == [frame.text for frame in frames]
    assert f"trial {N_TRIALS}/{N_TRIALS}" in again[-1]


def test_a_gif_plays_every_frame_and_repeats(episode, tmp_path):
    image = pytest.importorskip("PIL.Image")
    from freeproj.report.animation import save_gif

    _, _, frames = episode
    path = save_gif(tmp_path / "new" / "episode.gif", frames, "a title")
    with image.open(path) as gif:
        assert gif.is_animated
        # Equal neighbours are one frame of twice the time.
        assert len(frames) / 2 < gif.n_frames <= len(frames)
        assert gif.info["loop"] == 0


def test_frames_of_long_episodes_are_left_out_but_no_end_of_a_trial(episode):
    pytest.importorskip("PIL.Image")
    from freeproj.report import animation

    _, _, frames = episode
    shown = animation._thinned(frames * 100)
    assert len(shown) < 0.4 * len(frames) * 100
    assert sum(frame.trial_ended for frame in shown) == 100 * N_TRIALS
