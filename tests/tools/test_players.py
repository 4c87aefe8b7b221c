"""Players who never look, and random maps: closed forms against play."""

import itertools
import math

import jax
import numpy as np
import pytest

from freeproj.envs import HigherLower, make
from freeproj.envs.baselines import baselines
from make_baselines import measure
from players.arms import thompson_returns
from players.best import find_ceilings
from players.concentration import fewest_failures
from players.counts import count_chances, trying_counts
from players.mazes import distances, known_maze_returns, wall_returns
from players.random_maps import higher_lower_map_std, simulate_maps
from players.reward_only import minesweeper_elimination, try_rows, turning_returns
from players.ships import hunting_returns


def test_leaving_out_known_mines_earns_what_all_boards_say():
    side, n_mines = 3, 2
    n_safe = side**2 - n_mines
    total = np.zeros(n_mines + 1)
    boards = list(itertools.combinations(range(side**2), n_mines))
    for mines in boards:
        known = set()
        for trial in range(n_mines + 1):
            clicked = 0
            for cell in range(side**2):
                if clicked == n_safe or cell in known:
                    continue
                if cell in mines:
                    known.add(cell)
                    total[trial] -= 0.5 + 1 / n_safe
                    break
                clicked += 1
                total[trial] += 1 / n_safe
    expected = minesweeper_elimination(side**2, n_mines)
    np.testing.assert_allclose(total / len(boards), expected)


def test_turning_earns_a_third_and_a_tie_changes_nothing():
    returns = turning_returns(1, 20_000)
    error = returns.std() / math.sqrt(returns.size)
    assert abs(returns.mean() - 5.43 / 16) < 4 * error + 0.001


def test_trying_rows_keeps_the_best_of_each_start():
    # Each row is perfect for half of the starts: two tries tell which.
    returns = np.array([[1.0, 1, 0, 0] * 10, [0.0, 0, 1, 1] * 10, [0.4] * 40])
    assert try_rows(returns) == (0.5, 0.5, 1.0)


def test_the_memory_game_takes_as_many_tries_as_is_known():
    # Two pairs: the first two cards match with probability 1/3, else all is known.
    assert fewest_failures(((2, 0),) * 2) == (pytest.approx(2 / 3), 1)
    # Velleman and Warrington: (3 - 2 ln 2) n + 7/8 - 2 ln 2 tries for n pairs, n large.
    tries = 20 + fewest_failures(((2, 0),) * 20).mean
    expected = (3 - 2 * math.log(2)) * 20 + 7 / 8 - 2 * math.log(2)
    assert tries == pytest.approx(expected, abs=0.03)


def test_counts_have_probabilities_that_the_stored_row_earns():
    env = make("CountRecall")
    np.testing.assert_allclose(count_chances(env).sum(axis=1), 1)
    row = baselines("CountRecall").blind["the likeliest count"]
    assert abs(row.mean - trying_counts(env)[0]) < 4 * row.standard_error


def test_distances_go_around_walls():
    free = np.array([[[1, 1, 1], [0, 0, 1], [1, 1, 1]]], bool)
    start = np.zeros_like(free)
    start[0, 0, 0] = True
    assert distances(free, start).tolist() == [[[0, 1, 2], [0, 0, 3], [6, 5, 4]]]


@pytest.mark.parametrize("name", ["LabyrinthEscape", "LabyrinthExplore"])
def test_along_the_wall_one_comes_through_and_never_faster_than_knowing(getkey, name):
    env, key = make(name), getkey()
    known, wall = (f(key, env, 32) for f in (known_maze_returns, wall_returns))
    assert (np.asarray(wall) > 0.5).all()
    assert (np.asarray(wall) <= known + 1e-5).all()


def test_following_up_hits_earns_more_than_any_fixed_order(getkey):
    returns = hunting_returns(getkey(), make("Battleship"), 64)
    assert (returns <= 1 + 1e-6).all()
    assert returns.mean() > 2 * baselines("Battleship").best_blind[1].mean


def test_thompson_sampling_improves_from_trial_to_trial():
    returns = thompson_returns(make("MultiarmedBandit"), 64, 3).mean(axis=1)
    assert 0.4 < returns[0] < returns[1] < returns[2] < 9 / 11 + 0.05


def test_the_spread_of_random_maps_is_that_of_simulation(getkey):
    mean, std, _ = simulate_maps(getkey(), make("HigherLower"), 300, 64)
    assert abs(mean) < 4 * std / math.sqrt(300)
    assert std == pytest.approx(higher_lower_map_std(), rel=0.2)


@pytest.mark.slow
def test_measuring_again_agrees_with_the_file(getkey):
    found = measure(getkey(), make("RepeatFirst"), 2000, 16)
    stored = baselines("RepeatFirst")
    assert found.best == stored.best
    assert found.reward_only == stored.reward_only
    assert found.random_map == stored.random_map
    gap = abs(found.chance.mean - stored.chance.mean)
    assert gap < 4 * (found.chance.standard_error + stored.chance.standard_error)
    exact = found.blind["always clubs"]
    assert abs(exact.mean + 1 / 2) < 4 * exact.standard_error


def test_ceilings_are_found_for_tasks_of_the_package_only():
    class Stranger(HigherLower.__bases__[0]):
        levels = {"Easy": {"n_decks": 1}}  # noqa: RUF012
        observation_space = action_space = property(lambda self: None)
        observe = property(lambda self: None)

        def show(self, card): ...

        def score(self, state, action): ...

    with pytest.raises(ValueError, match="must be a task of this package"):
        find_ceilings(jax.random.key(0), Stranger(), 10)
