"""Plots of characters: numbers stand where they belong."""

import math

from freeproj.cli.plotting import plot


def test_a_rising_line_rises():
    lines = plot({"up": [0.0, 1.0, 2.0]}, width=11, height=3).splitlines()
    columns = [line.split("┤")[1].find("●") for line in lines[:3]]
    assert columns == [10, 5, 0]
    assert lines[0].startswith("    2.00")
    assert lines[2].startswith("    0.00")


def test_what_is_not_there_is_not_drawn():
    drawn = plot({"a": [0.0, math.nan, 1.0]}, width=11, height=3)
    assert drawn.splitlines()[:3] == [
        "    1.00 ┤          ●",
        "         ┤",
        "    0.00 ┤●",
    ]
    assert "no numbers yet" in plot({"a": [math.nan]})


def test_every_line_is_named_and_the_first_is_on_top():
    drawn = plot({"agent": [1.0, 1.0], "blind": [1.0, 0.0]}, width=5, height=2)
    assert drawn.splitlines()[0].endswith("●   ●")
    assert "● agent   ○ blind" in drawn


def test_no_line_is_wider_than_a_terminal():
    drawn = plot(
        {"a": [0.1 * i for i in range(100)]}, x_name="updates", x_ends=("1", "100")
    )
    assert max(map(len, drawn.splitlines())) <= 80
