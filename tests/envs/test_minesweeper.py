"""Minesweeper: counts, endings and the board as text."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freeproj.envs import Minesweeper
from freeproj.envs.minesweeper import count_mines


def board(*mines, side=4):
    return np.isin(np.arange(side**2), mines)


def start_on(env, mines):
    """The start of a trial on a given board."""
    counts = count_mines(jnp.asarray(mines).reshape(env.side, env.side)).ravel()
    start = env.start(jax.random.key(0), None)
    return start._replace(mines=jnp.asarray(mines), counts=counts)


def click(env, state, *cells):
    """Clicks the cells in order and returns the last step."""
    for cell in cells:
        step = env.step(jax.random.key(0), state, cell, None)
        state = step[1]
    return step


def test_counts_agree_with_a_plain_loop():
    rng = np.random.default_rng(0)
    mines = rng.random((5, 7)) < 0.4
    padded = np.pad(mines, 1).astype(int)
    plain = [[padded[i : i + 3, j : j + 3].sum() for j in range(7)] for i in range(5)]
    np.testing.assert_array_equal(count_mines(jnp.asarray(mines)), plain)


@pytest.mark.parametrize("level", ["Easy", "Medium", "Hard"])
def test_every_board_has_its_number_of_mines_anywhere(getkey, level):
    env = Minesweeper(**Minesweeper.levels[level])
    keys = jax.random.split(getkey(), 4000)
    obs, states = jax.jit(jax.vmap(lambda key: env.reset(key, None)))(keys)
    assert (states.mines.sum(axis=1) == env.n_mines).all()
    assert (obs[:, 0] == 1).all()
    share = env.n_mines / env.n_cells
    error = np.sqrt(share * (1 - share) / len(keys))
    assert np.abs(states.mines.mean(axis=0) - share).max() < 4.5 * error


def test_a_click_counts_the_mines_around_and_itself():
    env = Minesweeper()
    state = start_on(env, board(0, 5))
    assert click(env, state, 1)[0].tolist() == [0, 0, 1]
    assert click(env, state, 15)[0].tolist() == [1, 0, 0]
    assert click(env, state, 0)[0].tolist() == [0, 0, 1], "a mine counts itself"


def test_a_mine_costs_and_ends():
    step = click(Minesweeper(), start_on(Minesweeper(), board(0, 5)), 5)
    assert float(step[2]) == pytest.approx(-0.5 - 1 / 14)
    assert step[3]
    assert not step[4]


def test_a_cell_seen_before_costs_a_little():
    env = Minesweeper()
    *_, reward, terminated, truncated, _ = click(env, start_on(env, board(0, 5)), 3, 3)
    assert float(reward) == pytest.approx(-0.5 / 12)
    assert not terminated | truncated


def test_all_safe_cells_win_and_earn_one():
    env, total = Minesweeper(), 0.0
    state = start_on(env, board(0, 5))
    safe = [cell for cell in range(16) if cell not in (0, 5)]
    for cell in safe:
        _, state, reward, terminated, truncated, _ = click(env, state, cell)
        total += float(reward)
        assert bool(terminated) == (cell == safe[-1])
        assert not truncated
    assert total == pytest.approx(1)


def test_the_time_is_up_after_as_many_clicks_as_safe_cells():
    env = Minesweeper()
    state = start_on(env, board(0, 5))
    for number in range(1, 15):
        _, state, _, terminated, truncated, _ = click(env, state, 15)
        assert not terminated
        assert bool(truncated) == (number == 14)


def test_render_shows_counts_of_clicked_cells_only():
    env = Minesweeper()
    state = click(env, start_on(env, board(0, 5)), 1, 11)[1]
    rows = env.render(state).splitlines()
    assert rows[:3] == ["   a b c d", " 1 . 2 . .", " 2 . . . ."]
    assert rows[3] == " 3 . . . 0"
    assert "2 of 14 clicks, 2 mines" in rows[-1]
    assert "*" not in env.render(state)
    assert " 2 . * . ." in env.render(click(env, state, 5)[1])


def test_cells_are_named_by_column_and_row():
    names = Minesweeper().action_names
    assert names[:5] == ("a1", "b1", "c1", "d1", "a2")
    assert names[-1] == "d4"
