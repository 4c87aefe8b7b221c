"""Statistics of runs: laws of the numbers, agreement with scipy and rliable."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from freeproj import stats
from freeproj.stats import Row

rows_of_numbers = hnp.arrays(
    float, st.integers(1, 40), elements=st.floats(-100, 100, width=32)
)


def row(**changes):
    """A row of a tidy table."""
    plain = Row(
        "HigherLower", "gru", 256, 1, 0, 1, "projection", "test", "window", 0.5, 64, 3
    )
    return plain._replace(**changes)  # fmt: skip


def run(returns, **changes):
    """The rows of one run; nan stands for an evaluation in which nothing finished."""
    return [
        row(update=i + 1, mean_return=r, n_finished=0 if np.isnan(r) else 64, **changes)
        for i, r in enumerate(returns)
    ]


def study(scores, **changes):
    """Runs of one evaluation each: `scores[length]` lists the seeds' returns."""
    return [
        each
        for length, seeds in scores.items()
        for seed, value in enumerate(seeds)
        for each in run([value], length=length, seed=seed, **changes)
    ]


# The tidy table


def test_rows_columns_dictionaries_and_frames_make_the_same_table():
    pandas = pytest.importorskip("pandas")
    rows = [row(), row(seed=1, mean_return=float("nan"), n_finished=0)]
    columns = {name: [getattr(r, name) for r in rows] for name in stats.COLUMNS}
    for data in (columns, [r._asdict() for r in rows], pandas.DataFrame(columns)):
        np.testing.assert_equal(
            stats.as_table(data).columns(), stats.as_table(rows).columns()
        )


def test_csv_returns_the_table_bit_for_bit(tmp_path):
    table = stats.as_table(
        [*run([0.1, np.nan, 1 / 3], memory='s5, "large"'), row(seed=2**62)]
    )
    path = stats.write_csv(table, tmp_path / "new" / "table.csv")
    back = stats.read_csv(path)
    np.testing.assert_equal(back.columns(), table.columns())


def test_foreign_csv_may_lack_constant_columns_and_have_others(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text(
        "\ufefftask,memory,n_generators,length,seed,update,split,mean_return,"
        "n_finished,n_unfinished,git\nHigherLower, gru,16.0, 2,0,1,test , ,0,64,abc\n",
        encoding="utf-8",
    )
    table = stats.read_csv(path, protocol="projection", counting="window")
    (read,) = table.rows()
    assert read[:9] == row(n_generators=16, length=2)[:9]
    assert np.isnan(read.mean_return)
    with pytest.raises(ValueError, match=r"line 1: lacks .* protocol, counting"):
        stats.read_csv(path)
    with pytest.raises(ValueError, match="`split` already"):
        stats.read_csv(path, split="test")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length": "x"}, r"line 3: `length` must be a whole number .* got 'x'"),
        ({"length": "1.5"}, r"line 3: `length` must be a whole number"),
        ({"seed": "-1"}, r"line 3: `seed` must be a whole number of at least 0"),
        ({"split": "validation"}, r"line 3: `split` must be one of train, test"),
        ({"mean_return": "high"}, r"line 3: `mean_return` must be a finite number"),
        ({"mean_return": "inf"}, r"line 3: `mean_return` must be a finite number"),
        ({"mean_return": "0", "n_finished": "0"}, r"line 3: .* nan exactly where"),
        ({"mean_return": "", "n_finished": "4"}, r"line 3: .* nan exactly where"),
        ({"task": ""}, r"line 3: `task` must be a text"),
        ({"seed": "0"}, r"line 3 repeats the evaluation of .*line 2"),
    ],
)
def test_bad_values_in_a_csv_are_named_with_their_line(tmp_path, changes, message):
    path = tmp_path / "bad.csv"
    fields = {k: str(v) for k, v in row(seed=1)._asdict().items()} | changes
    text = stats.format_csv([row()]) + ",".join(fields.values()) + "\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        stats.read_csv(path)


def test_broken_csv_files_are_refused(tmp_path):
    path = tmp_path / "short.csv"
    path.write_text(stats.format_csv([row()]) + "HigherLower,gru\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 3: must have 12 fields .* got 2"):
        stats.read_csv(path)
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(ValueError, match="not a CSV file in UTF-8"):
        stats.read_csv(path)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        stats.read_csv(tmp_path / "nowhere.csv")


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match=r"lacks the column.* memory"):
        stats.as_table({"task": ["HigherLower"]})
    with pytest.raises(ValueError, match="equally long"):
        stats.as_table({name: [] for name in stats.COLUMNS} | {"task": ["x"]})
    with pytest.raises(ValueError, match=r"Row 0: `n_finished` .* got True"):
        stats.as_table([row(n_finished=True)])
    with pytest.raises(ValueError, match=r"Row 0: `seed` .* got \[1\]"):
        stats.as_table([row(seed=[1])])
    with pytest.raises(ValueError, match="Row 0 must be a `Row`"):
        stats.as_table(["HigherLower"])
    with pytest.raises(ValueError, match="repeats the evaluation"):
        stats.concatenate([[row()], [row(mean_return=0.7)]])
    with pytest.raises(ValueError, match="No column 'colour'"):
        stats.as_table([row()]).where(colour="red")


def test_an_empty_table_has_no_scores():
    assert stats.seed_scores([]) == []
    assert stats.best_lengths([]) == {}
    assert len(stats.concatenate([])) == 0


# One number per seed


def test_mmer_is_the_maximum_and_raw_the_last_in_any_order_of_rows():
    rows = run([1.0, 3.0, 2.0])[::-1] + run([5.0, 4.0], seed=1)
    first, second = stats.seed_scores(rows[2:] + rows[:2])
    assert (first.mmer, first.raw, first.last_update) == (3.0, 2.0, 3)
    assert (second.mmer, second.raw, second.last_update) == (5.0, 4.0, 2)
    assert (first.n_finished, first.n_unfinished) == (192, 9)


def test_runs_are_told_apart_by_each_of_their_names():
    names = {"task": "b", "memory": "s5", "n_generators": 2, "length": 8, "seed": 1}
    rows = run([1.0])
    for i, (name, value) in enumerate(names.items()):
        rows += run([float(i), 0.0], **{name: value})
    order = np.random.default_rng(0).permutation(len(rows))
    scores = stats.seed_scores([rows[i] for i in order])
    assert sorted(score.mmer for score in scores) == [0.0, 1.0, 1.0, 2.0, 3.0, 4.0]
    assert len({(score.cell, score.seed) for score in scores}) == 6


def test_no_data_is_nan_with_a_count_and_never_zero():
    nan = np.nan
    partly, none = stats.seed_scores(
        run([-3.0, nan, -4.0, nan]) + run([nan, nan], seed=1)
    )
    assert (partly.mmer, partly.n_with_data, partly.n_evaluations) == (-3.0, 2, 4)
    assert np.isnan(partly.raw)  # the last evaluation saw nothing
    assert np.isnan(none.mmer)
    assert (none.n_with_data, none.n_finished) == (0, 0)


def test_splits_protocols_and_countings_are_never_mixed():
    rows = [
        row(mean_return=value, protocol=protocol, split=split, counting=counting)
        for value, (protocol, split, counting) in enumerate(
            (p, s, c)
            for p in ("projection", "task")
            for s in ("train", "test")
            for c in ("window", "episodes")
        )
    ]
    (score,) = stats.seed_scores(
        rows, protocol="task", split="train", counting="episodes"
    )
    assert score.mmer == 5.0
    with pytest.raises(ValueError, match="`split` must be one of train, test"):
        stats.seed_scores(rows, split="both")


def test_best_length_follows_its_criterion_and_says_which():
    test = study({1: [1.0, 1.0], 2: [2.0, 4.0], 4: [3.0, 3.0]})
    train = study({1: [9.0, 9.0], 2: [2.0, 4.0]}, split="train")
    for by, length in (("test-mmer", 2), ("train-mmer", 1), ("train-raw", 1)):
        choice = stats.best_lengths(test + train, by=by)["HigherLower", "gru"]
        assert (choice.length, choice.by) == (length, by)  # equal means: the shorter
    free = stats.best_lengths(test + train, by="train-mmer", only_free=True)
    assert free["HigherLower", "gru"].length == 2
    with pytest.raises(ValueError, match="`by` must be one of test-mmer"):
        stats.best_lengths(test, by="luck")


def test_a_length_without_data_is_never_the_best():
    (choice,) = stats.best_lengths(study({1: [-5.0], 2: [np.nan]})).values()
    assert choice.length == 1
    assert list(choice.n_seeds.values()) == [1, 0]
    (choice,) = stats.best_lengths(study({1: [np.nan]})).values()
    assert choice.length is None


# Over seeds


@given(rows_of_numbers)
def test_iqm_is_the_quarter_trimmed_mean_of_scipy(values):
    expected = scipy.stats.trim_mean(values, 0.25)
    np.testing.assert_allclose(stats.iqm(values), expected, atol=1e-9)


def test_iqm_of_a_row_with_nan_is_nan():
    np.testing.assert_equal(stats.iqm([[1, 2, 3, 4], [1, 2, 3, np.nan]]), [2.5, np.nan])


def test_aggregates_agree_with_rliable():
    metrics = pytest.importorskip("rliable.metrics")
    rng = np.random.default_rng(0)
    scores, others = rng.normal(size=(2, 10, 5)).round(1)  # seeds x tasks, with ties
    others[:, 2] = scores[:, 2]
    for name, oracle in (
        ("iqm", metrics.aggregate_iqm),
        ("mean", metrics.aggregate_mean),
        ("task-median", metrics.aggregate_median),
    ):
        assert stats.statistic_of(scores.T, name) == pytest.approx(oracle(scores))
    ours = stats.probability_of_improvement(scores.T, others.T)
    theirs = metrics.probability_of_improvement(scores, others)
    assert ours.probability == pytest.approx(theirs)


def test_intervals_and_profiles_agree_with_rliable():
    library = pytest.importorskip("rliable.library")
    metrics = pytest.importorskip("rliable.metrics")
    scores = np.random.default_rng(1).normal([0, 1, 5], size=(10, 3))
    _, theirs = library.get_interval_estimates(
        {"a": scores}, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=4000
    )
    ours = stats.bootstrap_interval(scores.T, "iqm")
    width = ours.high - ours.low
    # Both ends are quantiles of a few thousand draws: some 3 % of the width apart.
    np.testing.assert_allclose(ours, theirs["a"][:, 0], atol=0.15 * width)
    thresholds = np.linspace(-1, 6, 8)
    profile = stats.performance_profile(scores.T, thresholds)
    expected = library.score_distributions(scores, thresholds)
    np.testing.assert_allclose(profile.fraction, expected)
    assert (profile.low <= profile.fraction).all()
    assert (profile.fraction <= profile.high).all()


def test_interval_of_one_stratum_agrees_with_scipy():
    values = np.random.default_rng(2).normal(size=15)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    ours = stats.bootstrap_interval(values, "mean", seed=4)
    np.testing.assert_allclose(ours, theirs, atol=0.1 * (ours.high - ours.low))


def test_strata_are_resampled_apart():
    # Within a task all seeds agree: the tasks' difference must not widen the interval.
    assert stats.bootstrap_interval([[0.0] * 5, [100.0] * 5], "mean") == (50.0, 50.0)


def test_interval_is_that_of_its_seed_and_covers_at_its_rate():
    values = np.random.default_rng(5).normal(size=(200, 20))
    first, again, other = (
        stats.bootstrap_interval(values[0], seed=s) for s in (1, 1, 2)
    )
    assert first == again != other
    ends = [stats.bootstrap_interval(v, "mean", n_resamples=500) for v in values]
    covered = np.mean([low <= 0 <= high for low, high in ends])
    # 0.95, of which the percentile method loses some 0.02 at 20 seeds; s.e. 0.018.
    assert 0.86 < covered <= 1


def test_summary_counts_missing_seeds_and_leaves_them_out():
    summary = stats.summarise([1.0, np.nan, 3.0])
    assert summary[:6] == (2, 1, 2.0, pytest.approx(np.sqrt(2)), 2.0, 2.0)
    alone = stats.summarise([4.0])
    assert (alone.n, alone.mean) == (1, 4.0)
    assert np.isnan([alone.std, *alone.interval]).all()
    empty = stats.summarise([np.nan, np.nan])
    assert (empty.n, empty.n_missing) == (0, 2)
    assert np.isnan([*empty[2:6], *empty.interval]).all()
    assert np.isnan(stats.statistic_of({"a": [1.0], "b": [np.nan]}))


def test_bad_statistics_are_refused():
    with pytest.raises(ValueError, match="No statistic 'mode'"):
        stats.statistic_of([1.0], "mode")
    with pytest.raises(ValueError, match=r"`confidence` must lie in \(0, 1\), got 95"):
        stats.bootstrap_interval([1.0, 2.0], confidence=95.0)
    with pytest.raises(ValueError, match="`n_resamples` must be at least 1"):
        stats.bootstrap_interval([1.0, 2.0], n_resamples=0)
    with pytest.raises(ValueError, match="one row of seeds per task"):
        stats.statistic_of(np.zeros((2, 2, 2)))


# Comparisons


@given(rows_of_numbers, rows_of_numbers)
def test_probabilities_of_improvement_both_ways_sum_to_one(x, y):
    there = stats.probability_of_improvement(x, y, n_resamples=2).probability
    back = stats.probability_of_improvement(y, x, n_resamples=2).probability
    assert there + back == pytest.approx(1)


def test_tasks_are_matched_by_name():
    first = {"a": [1.0, 2.0], "b": [0.0, 0.0]}
    second = {"b": [5.0, 6.0], "a": [0.0, 0.5]}
    assert stats.probability_of_improvement(first, second).probability == 0.5
    with pytest.raises(ValueError, match="one lacks b"):
        stats.probability_of_improvement(first, {"a": [1.0]})


def test_pairs_are_made_by_seed_and_signs_flipped_exactly():
    rng = np.random.default_rng(6)
    first = dict(enumerate(rng.normal(0.5, 1, 9)))
    second = dict(enumerate(rng.normal(0, 1, 10)))
    result = stats.compare_pairs(first, second)
    x, y = (np.array([side[s] for s in range(9)]) for side in (first, second))
    oracle = scipy.stats.permutation_test(
        (x, y), lambda a, b: np.mean(a - b), permutation_type="samples"
    )
    assert result.p_value == pytest.approx(oracle.pvalue)
    assert (result.n, result.n_unpaired) == (9, 1)
    assert result.mean_difference == pytest.approx((x - y).mean())
    assert result.n_better + result.n_equal + result.n_worse == 9
    low, high = result.interval
    assert low < result.mean_difference < high


def test_many_pairs_are_compared_by_drawn_signs():
    x = np.random.default_rng(7).normal(0.3, 1, 40)
    result = stats.compare_pairs(dict(enumerate(x)), dict.fromkeys(range(40), 0.0))
    expected = scipy.stats.ttest_1samp(x, 0).pvalue
    assert result.p_value == pytest.approx(expected, abs=0.01)


def test_without_pairs_nothing_is_compared():
    result = stats.compare_pairs({0: 1.0, 1: np.nan}, {1: 2.0})
    assert (result.n, result.n_unpaired) == (0, 2)
    assert np.isnan([result.mean_difference, result.p_value, *result.interval]).all()


def test_free_is_compared_with_plain_at_its_best_length():
    rows = study({1: [1.0, 2.0, 3.0], 2: [0.0, 0.0, 0.0], 4: [3.0, 3.0, 3.0]})
    result = stats.compare_free_with_plain(rows)["HigherLower", "gru"]
    assert result.mean_difference == pytest.approx(1.0)
    assert (result.n_better, result.n_equal, result.n_worse) == (2, 1, 0)
    assert result.p_value == pytest.approx(0.5)  # 2 of the 4 different sign patterns


# Luck


@pytest.mark.parametrize(
    ("n", "expected"), [(1, 0.0), (2, np.pi**-0.5), (3, 1.5 * np.pi**-0.5)]
)
def test_maximum_of_few_normals_has_its_closed_form(n, expected):
    assert stats.expected_maximum(n) == pytest.approx(expected, abs=1e-9)


def test_maximum_of_many_normals_is_that_of_simulation():
    drawn = np.random.default_rng(8).normal(size=(4000, 228)).max(axis=1)
    error = drawn.std() / np.sqrt(drawn.size)
    assert abs(stats.expected_maximum(228) - drawn.mean()) < 4 * error


def test_one_evaluation_has_no_luck_and_more_have_more():
    mmer = [
        stats.chance_mmer(-8, 3, n_episodes=64, n_evaluations=k) for k in (1, 10, 228)
    ]
    assert mmer[0] == pytest.approx(-8)
    assert mmer == sorted(mmer)


def test_exact_chance_mmer_agrees_with_simulation_and_with_enumeration():
    law = stats.EpisodeLaw(np.array([-1.0, 0.0, 1.0]), np.array([0.5, 0.2, 0.3]))
    exact = stats.exact_chance_mmer(law, n_episodes=7, n_evaluations=20)
    drawn = stats.simulate_chance_mmer(law, n_episodes=7, n_evaluations=20)
    assert abs(exact - drawn.mean()) < 4 * drawn.std() / np.sqrt(drawn.size)
    coins = stats.EpisodeLaw(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    # The larger of two fair coins is 1 three times in four.
    alone = stats.exact_chance_mmer(coins, n_episodes=1, n_evaluations=2)
    assert alone == pytest.approx(0.75)


def test_many_episodes_make_exact_and_normal_chance_mmer_agree():
    law = stats.EpisodeLaw(np.array([-16.0, 16.0]), np.array([0.5, 0.5]))
    counts = {"n_episodes": 4096, "n_evaluations": 50}
    normal = stats.chance_mmer(law.mean, law.std, **counts)
    assert stats.exact_chance_mmer(law, **counts) == pytest.approx(normal, rel=0.01)


def test_measured_returns_can_be_drawn_from():
    returns = np.random.default_rng(9).normal(1.75, 0.5, 5000)
    drawn = stats.simulate_chance_mmer(returns, n_episodes=64, n_evaluations=100)
    expected = stats.chance_mmer(
        returns.mean(), returns.std(), n_episodes=64, n_evaluations=100
    )
    assert drawn.mean() == pytest.approx(expected, abs=0.01)


def test_luck_in_repeat_first_is_worth_more_than_the_papers_best():
    uniform, constant = stats.repeat_first_chance()
    assert uniform.mean == pytest.approx(constant.mean) == pytest.approx(-8)
    assert uniform.mmer == pytest.approx(-7.83, abs=0.01)
    assert constant.mmer == pytest.approx(-2.93, abs=0.01)
    assert constant.mmer > -4.48  # FRP(GRU), the best of Table 1
    assert "-2.93 by luck alone" in str(constant)


def test_impossible_counts_and_laws_are_refused():
    with pytest.raises(ValueError, match="`n` must be at least 1, got 0"):
        stats.expected_maximum(0)
    with pytest.raises(ValueError, match="`std` must be finite and at least 0"):
        stats.chance_mmer(0, -1, n_episodes=1, n_evaluations=1)
    law = stats.EpisodeLaw(np.array([0.0, 1.0]), np.array([0.5, 0.6]))
    with pytest.raises(ValueError, match="sum to 1"):
        stats.exact_chance_mmer(law, n_episodes=1, n_evaluations=1)


def test_importing_the_statistics_is_light():
    code = (
        "import sys, freeproj.stats; "
        "print([name for name in ('jax', 'scipy.stats') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip() == "[]"
