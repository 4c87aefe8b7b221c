"""The statistics keep their promises: coverage, null rates and power, by simulation."""

import numpy as np
import pytest

from freeproj.stats.intervals import band, interval
from freeproj.stats.paired import audit, half_choice, mean_of, pooled_mean
from freeproj.stats.power import seeds_needed, smallest_effect
from freeproj.stats.verdicts import Outcome, verdict

N_STUDIES, N_CELLS, N_SEEDS = 300, 10, 10

# name: (draw, mean)
LAWS = {
    "normal": (lambda rng, size: rng.standard_normal(size), 0.0),
    "skewed": (lambda rng, size: rng.lognormal(0, 0.5, size), np.exp(0.125)),
}


def studies(rng, *, correlation, shift=0.0, n=N_STUDIES, n_cells=N_CELLS):
    """Draws studies of cells whose differences are correlated through their seeds."""
    common = rng.standard_normal((n, N_SEEDS, 1))
    own = rng.standard_normal((n, N_SEEDS, n_cells))
    values = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own + shift
    for study in values:
        yield {cell: dict(enumerate(study[:, cell])) for cell in range(n_cells)}


def outcomes(found):
    """Returns the outcome of the question and of all of its cells."""
    return {found.outcome, *(each.outcome for each in found.cells.values())}


def within(rate, target, n=N_STUDIES):
    """Whether a rate exceeds its target by less than three standard errors."""
    return rate <= target + 3 * np.sqrt(target * (1 - target) / n)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [3, 5, 10, 20])
def test_intervals_cover_at_their_level(law, n):
    draw, mean = LAWS[law]
    rng = np.random.default_rng(n)
    samples = draw(rng, (400, n))
    found = [interval(x) for x in samples]
    covered = np.mean([each.low <= mean <= each.high for each in found])
    # Skewed scores of three or five seeds cost two points, which t cannot know.
    assert within(1 - covered, 0.05 if law == "normal" else 0.075, 400)


def test_bands_cover_at_each_point_and_need_three_seeds():
    rng = np.random.default_rng(0)
    found = band(rng.standard_normal((5, 4000)))
    assert within(np.mean((found.low > 0) | (found.high < 0)), 0.05, 4000)
    values = np.array(
        [[1.0, 1, 1, np.nan], [2, 2, np.nan, np.nan], [3, np.nan] + [np.nan] * 2]
    )
    found = band(values)
    assert found.n_seeds.tolist() == [3, 2, 1, 0]
    assert np.isnan(found.low).tolist() == [False, True, True, True]
    np.testing.assert_array_equal(found.mean, [2.0, 1.5, 1.0, np.nan])


@pytest.mark.fast
@pytest.mark.parametrize("expects", ["more", "less"])
@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_null_studies_get_no_verdict_of_any_kind(correlation, expects):
    rng = np.random.default_rng(1)
    wrong = 0
    for cells in studies(rng, correlation=correlation):
        found = verdict(cells, expects)
        wrong += outcomes(found) != {Outcome.OPEN}
    assert within(wrong / N_STUDIES, 0.05)


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_a_difference_as_large_as_the_margin_is_neither_the_same_nor_beyond(
    correlation,
):
    rng = np.random.default_rng(8)
    wrong = 0
    for cells in studies(rng, correlation=correlation, shift=1.0):
        found = verdict(cells, "same", 1.0)
        wrong += outcomes(found) != {Outcome.OPEN}
    assert within(wrong / N_STUDIES, 0.05)


def test_judging_as_seeds_come_in_costs_what_it_is_charged():
    """Judged after 6, 8 and 10 seeds: 5 % in all if counted, more if not."""
    rng = np.random.default_rng(12)
    charged = free = 0
    for values in rng.standard_normal((1000, 10)):
        parts = [values[:n] for n in (6, 8, 10)]
        charged += any(verdict({0: x}, looks=3).outcome != "cannot tell" for x in parts)
        free += any(verdict({0: x}).outcome != "cannot tell" for x in parts)
    assert within(charged / 1000, 0.05, 1000)
    assert not within(free / 1000, 0.05, 1000)


def test_skewed_null_studies_keep_the_rate_too():
    # Differences of two equal methods are symmetric however skewed the scores are.
    rng = np.random.default_rng(2)
    wrong = 0
    for _ in range(N_STUDIES):
        first, second = rng.exponential(size=(2, N_SEEDS, N_CELLS))
        cells = {c: (first - second)[:, c] for c in range(N_CELLS)}
        wrong += verdict(cells).outcome is not Outcome.OPEN
    assert within(wrong / N_STUDIES, 0.05)


def test_an_effect_shared_by_all_cells_is_found():
    rng = np.random.default_rng(3)
    found = [verdict(cells) for cells in studies(rng, correlation=0.2, shift=0.8, n=60)]
    assert np.mean([each.outcome is Outcome.HOLDS for each in found]) > 0.9
    less = verdict(next(studies(rng, correlation=0.2, shift=-1.5)))
    assert less.outcome is Outcome.FAILS


def test_one_real_effect_among_many_cells_is_found_and_the_others_stay_open():
    rng = np.random.default_rng(4)
    hits = wrong = 0
    for cells in studies(rng, correlation=0.0):
        cells[0] = {seed: value + 3 for seed, value in cells[0].items()}
        found = verdict(cells).cells
        hits += found[0].outcome is Outcome.HOLDS
        wrong += any(found[c].outcome is not Outcome.OPEN for c in range(1, N_CELLS))
    assert hits >= 0.8 * N_STUDIES
    assert within(wrong / N_STUDIES, 0.05)


def test_the_smallest_effect_is_found_with_its_power():
    rng = np.random.default_rng(5)
    for n_seeds, n_cells in ((8, 1), (15, 5)):
        effect = smallest_effect(n_seeds, sd=2.0, n_cells=n_cells)
        level = 0.05 if n_cells == 1 else 0.05 / (2 * n_cells)
        draws = rng.normal(effect, 2.0, (400, n_seeds))
        found = np.mean([mean_of(x).p() <= level for x in draws])
        assert 0.72 < found < 0.9


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_choosing_on_half_of_the_seeds_does_not_favour_the_best_of_many(correlation):
    rng = np.random.default_rng(6)
    p_values, naive = [], []
    for cells in studies(rng, correlation=correlation, n=600, n_cells=9):
        *options, reference = cells.values()
        options = dict(enumerate(options))
        chosen = half_choice(options, reference).gains
        halves = {h: {s: chosen[s] for s in chosen if s % 2 == h} for h in (0, 1)}
        p_values.append(verdict(halves).pooled.p)
        gains = {k: [v[s] - reference[s] for s in v] for k, v in options.items()}
        naive.append(mean_of(max(gains.values(), key=np.mean)).p())
    assert within(np.mean(np.array(p_values) <= 0.05), 0.05, 600)
    assert not within(np.mean(np.array(naive) <= 0.05), 0.05, 600)


def test_a_good_option_is_chosen_and_found():
    rng = np.random.default_rng(7)
    found = []
    for cells in studies(rng, correlation=0.0, n=50, n_cells=4):
        *options, reference = cells.values()
        options[1] = {seed: value + 2.5 for seed, value in options[1].items()}
        found.append(half_choice(dict(enumerate(options)), reference))
    assert np.mean([each.choices == (1, 1) for each in found]) > 0.9
    assert np.mean([mean_of(each.gains).p() <= 0.05 for each in found]) > 0.8


def test_equal_methods_are_found_the_same_with_enough_seeds():
    rng = np.random.default_rng(8)
    found = [
        verdict({c: rng.normal(0.0, 0.3, 12) for c in range(4)}, "same", 1.0).outcome
        for _ in range(60)
    ]
    assert np.mean([each is Outcome.HOLDS for each in found]) > 0.9


def test_the_pooled_interval_covers_with_shared_and_with_separate_seeds():
    rng = np.random.default_rng(10)
    shared = studies(rng, correlation=0.8, n=500, n_cells=4)
    missed = np.mean([0 not in pooled_mean(each).interval(0.95) for each in shared])
    assert within(missed, 0.05, 500)
    apart = [
        {c: {(c, s): rng.standard_normal() for s in range(5)} for c in range(4)}
        for _ in range(200)
    ]
    missed = np.mean([0 not in pooled_mean(each).interval(0.95) for each in apart])
    assert within(missed, 0.05, 200)


def test_the_audit_finds_those_who_look_and_those_who_do_not():
    rng = np.random.default_rng(11)
    seeds = rng.normal(10, 3, (300, 8, 1)) + rng.standard_normal((300, 8, 2))
    looks = [audit(x[:, 0], x[:, 1]).uses_observation for x in seeds]
    assert within(np.mean(looks), 0.05)
    assert all(audit(x[:, 0] + 5, x[:, 1]).uses_observation for x in seeds)


def test_the_seeds_that_are_needed_show_equivalence_with_their_power():
    rng = np.random.default_rng(5)
    margin, sd, n_cells = 0.1, 0.2, 3
    n_seeds = seeds_needed(margin, sd, n_cells, same=True)
    rates = [
        np.mean(
            [
                verdict(
                    {c: sd * rng.standard_normal(n) for c in range(n_cells)},
                    "same",
                    margin,
                ).outcome
                is Outcome.HOLDS
                for _ in range(N_STUDIES)
            ]
        )
        for n in (n_seeds, n_seeds // 2)
    ]
    assert within(1 - rates[0], 0.2)
    assert rates[1] < 0.5
    assert seeds_needed(0.1, 0.0) == 3
    assert seeds_needed(0.0, 1.0) is None


def test_without_a_pool_every_cell_decides_by_itself():
    low, high = {"a": np.linspace(0.1, 0.3, 8)}, {"b": np.linspace(0.7, 0.9, 8)}
    both = {**low, **high}
    assert verdict(both, "more").outcome is Outcome.HOLDS
    split = {"a": -low["a"], **high}
    assert verdict(split, "more", pool=False).outcome is Outcome.FAILS
    unsure = {"a": np.linspace(-0.3, 0.4, 8), **high}
    assert verdict(unsure, "more").outcome is Outcome.HOLDS
    assert verdict(unsure, "more", pool=False).outcome is Outcome.OPEN
