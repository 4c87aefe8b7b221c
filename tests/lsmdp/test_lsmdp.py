"""Laws of linearly solvable MDPs: spaces, solutions, averages, comparisons."""

import itertools
import runpy
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freeproj import lsmdp
from freeproj.projection import matrices, words

SPACES = [lsmdp.lattice(), lsmdp.binary_tree(), lsmdp.lattice(2, 3)]
SPACES.append(lsmdp.graph(1 - np.eye(5, dtype=int), goal=2, name="complete graph"))
NAMES = [space.name for space in SPACES]
DISCOUNT = 0.9  # of all readings, with temperature 1


def drawn_costs(space, n_seeds=6, seed=0):
    return lsmdp.sample_costs(np.random.default_rng(seed), space, n_seeds)


def drawn_permutations(n_seeds, n, d, seed=1):
    rows = np.broadcast_to(np.arange(d), (n_seeds, n, d))
    return np.random.default_rng(seed).permuted(rows, axis=-1)


# State spaces


def test_the_papers_spaces_have_16_and_15_vertices_and_end_in_the_goal():
    lattice, tree = lsmdp.lattice(), lsmdp.binary_tree()
    assert (lattice.n_states, tree.n_states) == (16, 15)
    assert (lattice.goal, tree.goal) == (15, 14)
    assert sorted(lattice.degrees) == [2] * 4 + [3] * 8 + [4] * 4
    assert sorted(tree.degrees) == [1] * 8 + [2] + [3] * 6
    assert (len(lattice.edges), len(tree.edges)) == (24, 14)


@given(st.integers(1, 6))
@settings(max_examples=6, deadline=None)
def test_a_binary_tree_has_one_edge_less_than_vertices(depth):
    tree = lsmdp.binary_tree(depth)
    assert tree.n_states == 2 ** (depth + 1) - 1
    assert len(tree.edges) == tree.n_states - 1  # connected, so without cycles
    assert sum(tree.degrees == 1) == 2**depth
    assert tree.degrees[tree.goal] == 1
    assert len(np.unique(tree.positions, axis=0)) == tree.n_states


@pytest.mark.parametrize("space", SPACES, ids=NAMES)
def test_the_passive_walk_is_uniform_over_neighbours(space):
    walk = space.passive()
    np.testing.assert_allclose(walk.sum(axis=1), 1)
    assert ((walk > 0) == space.adjacency).all()
    assert (np.diagonal(walk) == 0).all()
    absorbing = space.passive(absorbing=True)
    assert absorbing[space.goal, space.goal] == 1
    rest = np.arange(space.n_states) != space.goal
    np.testing.assert_array_equal(absorbing[rest], walk[rest])


def test_a_space_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        lsmdp.lattice().adjacency[0, 0] = True


PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lsmdp.graph(PATH[:2]), r"square, .* got shape \(2, 3\)"),
        (lambda: lsmdp.graph([[0]]), r"two vertices or more, got shape \(1, 1\)"),
        (lambda: lsmdp.graph(PATH * 0.5), r"zeros and ones.*got 0\.5 at \(0, 1\)"),
        (lambda: lsmdp.graph(PATH * np.nan), "zeros and ones"),
        (lambda: lsmdp.graph(PATH + np.diag([0, 1, 0])), "self-loop at vertex 1"),
        (lambda: lsmdp.graph(np.triu(PATH)), r"symmetric, but \(0, 1\) and \(1, 0\)"),
        (lambda: lsmdp.graph(np.kron(np.eye(2), PATH)), "2 parts.*0 to vertex 3"),
        (lambda: lsmdp.graph(np.zeros((3, 3))), "connected, but it falls into 3"),
        (lambda: lsmdp.graph(PATH, goal=3), r"`goal` must be .* 0\.\.2, got 3"),
        (lambda: lsmdp.lattice(1, 1), "two vertices or more, got 1 x 1"),
        (lambda: lsmdp.binary_tree(0), "from root to leaf, must lie in 1..12, got 0"),
    ],
)  # fmt: skip
def test_a_bad_space_is_refused_with_the_reason(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# Solutions


@pytest.mark.parametrize("space", SPACES, ids=NAMES)
def test_goal_solves_the_printed_equation(space):
    costs = drawn_costs(space)
    z, passive, eigenvalue = lsmdp.solve(space, costs)
    np.testing.assert_allclose(z, np.exp(-DISCOUNT * costs) * (z @ passive.T))
    assert (z[:, space.goal] == 1).all()
    assert (eigenvalue == 1).all()
    others = np.delete(z, space.goal, axis=1)
    assert ((others > 0) & (others < 1)).all()


@pytest.mark.parametrize("space", SPACES, ids=NAMES)
def test_perron_solves_the_eigenvalue_equation_with_a_value_below_one(space):
    costs = drawn_costs(space)
    z, passive, eigenvalue = lsmdp.solve(space, costs, reading="perron")
    factor = np.exp(-DISCOUNT * costs)
    np.testing.assert_allclose(eigenvalue[:, None] * z, factor * (z @ passive.T))
    np.testing.assert_allclose(z.sum(axis=1), 1)
    assert (z > 0).all()
    assert (eigenvalue < 1).all()
    for row, value in zip(factor, eigenvalue, strict=True):
        assert abs(np.linalg.eigvals(row[:, None] * passive)).max() < value + 1e-12


def test_without_absorption_the_printed_equation_has_only_the_zero_solution():
    space = lsmdp.lattice()
    factor = np.exp(-DISCOUNT * drawn_costs(space))
    systems = np.eye(16) - factor[:, :, None] * space.passive()
    smallest = np.linalg.svd(systems, compute_uv=False)[:, -1]
    assert (smallest > 1e-3).all()


@pytest.mark.parametrize("discount", [0.1, 0.9, 0.99])
@pytest.mark.parametrize("space", SPACES, ids=NAMES)
def test_discounted_is_the_fixed_point_of_value_iteration(space, discount):
    costs = drawn_costs(space)
    z, passive, _ = lsmdp.solve(
        space, costs, reading="discounted", discount=discount, temperature=0.5
    )
    equation = np.exp(-discount / 0.5 * costs) * (z @ passive.T) ** discount
    np.testing.assert_allclose(z, equation, rtol=1e-10)


@pytest.mark.parametrize("reading", lsmdp.READINGS)
@pytest.mark.parametrize("space", SPACES, ids=NAMES)
def test_the_permuted_problem_has_the_permuted_solution(space, reading):
    costs = drawn_costs(space)
    permutation = np.random.default_rng(5).permutation(space.n_states)
    z = lsmdp.solve(space, costs, reading=reading).desirability
    U = np.eye(space.n_states)[:, permutation]
    adjacency = (U @ space.adjacency @ U.T).astype(int)
    moved = lsmdp.graph(adjacency, goal=int(permutation[space.goal]))
    renamed = lsmdp.solve(moved, costs @ U.T, reading=reading)
    np.testing.assert_allclose(renamed.desirability, z @ U.T)


@pytest.mark.parametrize("reading", lsmdp.READINGS)
def test_a_batch_of_costs_is_solved_row_by_row(reading):
    space = lsmdp.binary_tree(2)
    costs = drawn_costs(space).reshape(2, 3, -1)
    together = lsmdp.solve(space, costs, reading=reading)
    for at in itertools.product(range(2), range(3)):
        alone = lsmdp.solve(space, costs[at], reading=reading)
        np.testing.assert_allclose(alone.desirability, together.desirability[at])
        np.testing.assert_allclose(alone.eigenvalue, together.eigenvalue[at])


def test_many_seeds_of_a_large_space_are_solved_in_parts():
    space = lsmdp.binary_tree(7)
    comparison = lsmdp.compare_lengths(space, lengths=(8,), n_seeds=100)
    assert np.isfinite(comparison.table).all()


def test_arrays_of_jax_are_taken_and_computed_in_float64():
    space = lsmdp.lattice(2, 2)
    z = lsmdp.solve(space, jnp.array([1.0, 0.5, 0.25, 0.0])).desirability
    expected = lsmdp.solve(space, [1.0, 0.5, 0.25, 0.0]).desirability
    assert z.dtype == np.float64
    np.testing.assert_array_equal(z, expected)


@pytest.mark.parametrize("space", SPACES, ids=NAMES)
def test_no_policy_costs_less_than_the_optimal_one(space):
    """π* minimises the expected Σ (γc + KL(π‖p)) until the goal, which is -log z."""
    costs = drawn_costs(space, n_seeds=1)[0]
    z, passive, _ = lsmdp.solve(space, costs)
    best = lsmdp.policy(passive, z)
    inner = np.arange(space.n_states) != space.goal

    def value_of(policy):
        on = policy > 0
        ratio = np.where(on, policy, 1) / np.where(on, passive, 1)
        expense = DISCOUNT * costs + np.sum(policy * np.log(ratio), axis=1)
        steps = np.eye(inner.sum()) - policy[np.ix_(inner, inner)]
        return np.linalg.solve(steps, expense[inner])

    optimum = value_of(best)
    np.testing.assert_allclose(optimum, -np.log(z[inner]), atol=1e-10)
    rng = np.random.default_rng(3)
    for _ in range(5):
        other = lsmdp.policy(passive, z * np.exp(rng.normal(size=z.shape)))
        assert (value_of(other) >= optimum - 1e-12).all()


def test_a_policy_lives_on_the_edges_and_ignores_the_scale_of_z():
    space = lsmdp.lattice(2, 3)
    z = lsmdp.solve(space, drawn_costs(space)).desirability
    policy = lsmdp.policy(space.passive(), z)
    np.testing.assert_allclose(policy.sum(axis=-1), 1)
    assert ((policy > 0) == space.adjacency).all()
    np.testing.assert_allclose(lsmdp.policy(space.passive(), 7 * z), policy)


@pytest.mark.parametrize(
    ("costs", "options", "message"),
    [
        (np.zeros(5), {}, r"must end in 16 entries.*shape \(5,\)"),
        (np.zeros((0, 16)), {}, r"must end in 16 entries.*shape \(0, 16\)"),
        (np.full(16, -1.0), {}, "not negative, got -1.0"),
        (np.full(16, np.nan), {}, "finite and not negative, got nan"),
        (np.ones(16), {}, "must be 0 at the goal, vertex 15"),
        (np.zeros(16), {"reading": "goals"}, "No reading 'goals'. Known: goal, perron"),
        (np.zeros(16), {"temperature": 0.0}, "`temperature` must be positive, got 0"),
        (np.zeros(16), {"discount": 1.0}, r"`discount` must lie in \(0, 1\), got 1.0"),
        (1.0 * (np.arange(16) < 15), {"temperature": 1e-3}, "raise the temperature"),
        (
            1.0 * (np.arange(16) < 15),
            {"temperature": 1e-3, "reading": "discounted"},
            "raise the temperature",
        ),
    ],
)  # fmt: skip
def test_bad_settings_are_refused_with_the_way_out(costs, options, message):
    with pytest.raises(ValueError, match=message):
        lsmdp.solve(lsmdp.lattice(), costs, **options)


def test_discounted_is_solved_where_the_policy_is_nearly_deterministic():
    """Neighbours of very different z: their ratio is far below the smallest float."""
    space = lsmdp.lattice(1, 3)
    z, passive, _ = lsmdp.solve(
        space, [0.9, 0.0, 0.0], reading="discounted", temperature=2e-3, discount=0.5
    )
    expected = np.exp(-0.5 / 2e-3 * np.array([0.9, 0.0, 0.0])) * (passive @ z) ** 0.5
    np.testing.assert_allclose(z, expected, rtol=1e-9)


# Averages


@pytest.mark.parametrize(("n", "length"), [(16, 1), (4, 2), (2, 4), (3, 3)])
def test_the_power_of_the_mean_equals_the_average_over_all_words(n, length):
    space = lsmdp.binary_tree(2)
    z = lsmdp.solve(space, drawn_costs(space, n_seeds=3)).desirability
    bases = drawn_permutations(3, n, space.n_states)
    closed = lsmdp.aggregate(z, bases, length)
    for row, base, expected in zip(z, bases, closed, strict=True):
        every = words.enumerate_words(n, length)
        family = np.stack([matrices.represent(word, base) for word in every])
        assert len(family) == words.count_words(n, length)
        copies = np.zeros((len(family), space.n_states))
        for copy, permutation in zip(copies, family, strict=True):
            copy[permutation] = row  # entry j moves to σ(j)
        np.testing.assert_allclose(copies.mean(axis=0), expected, rtol=1e-12)


def test_the_mean_permutation_is_doubly_stochastic():
    mean = lsmdp.mean_permutation(drawn_permutations(4, 3, 5))
    assert mean.shape == (4, 5, 5)
    np.testing.assert_allclose(mean.sum(axis=-1), 1)
    np.testing.assert_allclose(mean.sum(axis=-2), 1)
    single = drawn_permutations(1, 1, 5)[0]
    dense = np.eye(5)[:, single[0]]
    np.testing.assert_array_equal(lsmdp.mean_permutation(single), dense)


def test_distances_vanish_at_the_optimum_and_ignore_the_scale_of_z():
    space = lsmdp.lattice(3, 3)
    optimal = lsmdp.solve(space, drawn_costs(space))
    for distance in lsmdp.distances(optimal, 5 * optimal.desirability):
        np.testing.assert_allclose(distance, 0, atol=1e-12)


@pytest.mark.parametrize("reading", lsmdp.READINGS)
@pytest.mark.parametrize("space", SPACES, ids=NAMES)
def test_distances_along_edges_equal_those_of_whole_policies(space, reading):
    optimal = lsmdp.solve(space, drawn_costs(space), reading=reading)
    z = np.random.default_rng(2).random(optimal.desirability.shape) + 0.1
    best = lsmdp.policy(optimal.passive, optimal.desirability)
    other = lsmdp.policy(optimal.passive, z)
    ratio = np.where(best > 0, best, 1) / np.where(best > 0, other, 1)
    gap = optimal.desirability / np.linalg.norm(
        optimal.desirability, axis=1, keepdims=True
    ) - z / np.linalg.norm(z, axis=1, keepdims=True)
    expected = lsmdp.Distances(
        kl=np.sum(best * np.log(ratio), axis=(1, 2)),
        policy_l1=np.sum(abs(best - other), axis=(1, 2)),
        z_l2=np.sqrt(np.sum(gap**2, axis=1)),
        z_l1=np.sum(abs(gap), axis=1),
    )
    measured = lsmdp.distances(optimal, z)
    for name in lsmdp.METRICS:
        np.testing.assert_allclose(getattr(measured, name), getattr(expected, name))


def test_a_single_cost_vector_needs_no_seed_axis():
    space = lsmdp.binary_tree()
    optimal = lsmdp.solve(space, drawn_costs(space)[0])
    z = lsmdp.aggregate(optimal.desirability, drawn_permutations(1, 4, 15)[0], 4)
    assert z.shape == (15,)
    assert np.shape(lsmdp.distances(optimal, z).kl) == ()


@pytest.mark.parametrize(
    ("permutations", "length", "message"),
    [
        (np.zeros((2, 3, 4), dtype=int), 1, r"states 0\.\.3 once in every row"),
        (np.full((2, 3, 4), 4), 1, r"states 0\.\.3 once in every row"),
        (drawn_permutations(2, 3, 4) - 1, 1, "once in every row"),
        (drawn_permutations(2, 3, 5), 1, r"of shape \(2, 4\), got \(2, 3, 5\)"),
        (drawn_permutations(1, 3, 4)[0], 1, r"have shape \(2, 'n', 4\).*\(3, 4\)"),
        (np.zeros((2, 3, 4)), 1, "must be integers"),
        (drawn_permutations(2, 3, 4), 0, "`length` must be at least 1, got 0"),
    ],
)
def test_bad_permutations_are_refused(permutations, length, message):
    with pytest.raises(ValueError, match=message):
        lsmdp.aggregate(np.ones((2, 4)), permutations, length)


def test_powers_of_a_letter_keep_a_part_of_the_solution():
    """E (fix(w) - 1)/(d - 1) is 1/(d - 1) for a square, 0 for two different letters."""
    n, d, n_seeds = 4, 9, 4000
    mean = lsmdp.mean_permutation(drawn_permutations(n_seeds, n, d))
    traces = np.trace(mean @ mean, axis1=1, axis2=2)
    kept = (traces - 1) / (d - 1)
    error = kept.std() / np.sqrt(n_seeds)
    assert abs(kept.mean() - 1 / (n * (d - 1))) < 4 * error


# Comparisons


def test_the_first_seeds_of_many_are_the_few(monkeypatch):
    space = lsmdp.lattice()
    many = lsmdp.compare_lengths(space, n_seeds=40)
    few = lsmdp.compare_lengths(space, n_seeds=10)
    monkeypatch.setattr(lsmdp.aggregation, "_CHUNK", 3 * 256 * 16)  # three seeds
    in_parts = lsmdp.compare_lengths(space, n_seeds=10)
    np.testing.assert_allclose(few.table, many.table[:, :, :10])
    np.testing.assert_allclose(in_parts.table, few.table)
    assert not np.allclose(
        lsmdp.compare_lengths(space, n_seeds=10, seed=1).table, few.table
    )


def test_a_length_does_not_depend_on_the_others():
    both = lsmdp.compare_lengths(lsmdp.binary_tree(), lengths=(8, 2), n_seeds=5)
    alone = lsmdp.compare_lengths(lsmdp.binary_tree(), lengths=(2,), n_seeds=5)
    np.testing.assert_array_equal(both.table[:, 1], alone.table[:, 0])
    assert both.table.shape == (4, 3, 5)


def test_every_length_draws_permutations_of_its_own(monkeypatch):
    drawn = {}

    def record(z, permutations, length):
        drawn[length] = permutations[0]
        return z

    monkeypatch.setattr(lsmdp.aggregation, "aggregate", record)
    lsmdp.compare_lengths(lsmdp.lattice(), n_seeds=1)
    for shorter, longer in itertools.pairwise(drawn.values()):
        assert not np.array_equal(shorter[: len(longer)], longer)


def test_one_word_is_one_permuted_solution_for_every_length():
    """With one generator and a single word, z^ℓ is z* itself, renamed."""
    comparison = lsmdp.compare_lengths(lsmdp.lattice(), n_words=1, n_seeds=4)
    z_l2 = comparison.table[lsmdp.METRICS.index("z_l2"), :-1]
    assert (z_l2 > 0).all()
    assert (z_l2 < np.sqrt(2)).all()  # both positive


def test_many_words_come_close_to_the_constant():
    comparison = lsmdp.compare_lengths(
        lsmdp.lattice(), lengths=(1,), n_words=20_000, n_seeds=3
    )
    by_length, constant = comparison.table.swapaxes(0, 1)
    np.testing.assert_allclose(by_length, constant, rtol=0.02)


def test_the_constant_is_the_passive_policy():
    space = lsmdp.lattice()
    comparison = lsmdp.compare_lengths(space, n_seeds=3)
    costs = lsmdp.sample_costs(np.random.default_rng([0, 0]), space, 3)
    optimal = lsmdp.solve(space, costs)
    best = lsmdp.policy(optimal.passive, optimal.desirability)
    expected = abs(best - optimal.passive).sum(axis=(1, 2))
    policy_l1 = comparison.table[lsmdp.METRICS.index("policy_l1"), -1]
    np.testing.assert_allclose(policy_l1, expected)


def test_the_effect_of_length_is_about_one_percent():
    """THEORY 6: small, opposite to a large gain, and well resolved by 2000 seeds."""
    for space in (lsmdp.lattice(), lsmdp.binary_tree()):
        changes = lsmdp.paired_changes(
            lsmdp.compare_lengths(space, n_seeds=2000), n_resamples=300
        )
        z_l2, at_eight = lsmdp.METRICS.index("z_l2"), 3
        assert changes.high[z_l2, at_eight] < 0
        assert (abs(changes.value) < 0.03).all()


def test_paired_changes_compare_means_over_the_same_seeds():
    comparison = lsmdp.compare_lengths(lsmdp.binary_tree(), n_seeds=50)
    changes = lsmdp.paired_changes(comparison, reference=2, n_resamples=500)
    means = comparison.table.mean(axis=-1)
    np.testing.assert_allclose(changes.value, means / means[:, [1]] - 1)
    for each in changes:
        np.testing.assert_allclose(each[:, 1], 0, atol=1e-15)
    others = [0, 2, 3, 4]
    assert (changes.low < changes.high)[:, others].all()
    assert (changes.low <= changes.value).all()
    assert (changes.value <= changes.high).all()


def test_bootstrap_intervals_have_the_width_of_the_standard_error():
    comparison = lsmdp.compare_lengths(lsmdp.lattice(), n_seeds=400)
    changes = lsmdp.paired_changes(comparison, n_resamples=2000)
    table, reference = comparison.table, comparison.table[:, :1]
    ratio = table.mean(axis=-1) / reference.mean(axis=-1)
    np.testing.assert_allclose(changes.value, ratio - 1)
    # The delta method: the ratio's deviation is that of its linear part.
    linear = (table - ratio[..., None] * reference) / reference.mean(axis=-1)[..., None]
    error = linear.std(axis=-1)[:, 1:] / np.sqrt(400)
    width = (changes.high - changes.low)[:, 1:] / 2
    np.testing.assert_allclose(width, 1.96 * error, rtol=0.15)


def test_one_seed_has_no_interval():
    comparison = lsmdp.compare_lengths(lsmdp.lattice(), n_seeds=1)
    estimate = lsmdp.paired_changes(comparison)
    assert np.isfinite(estimate.value).all()
    assert np.isnan(estimate.low).all()
    assert np.isnan(estimate.high).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_seeds": 0}, "`n_seeds` must be at least 1, got 0"),
        ({"lengths": ()}, "`lengths` must be distinct, one or more"),
        ({"lengths": (2, 2)}, "`lengths` must be distinct"),
        ({"lengths": (3,)}, r"n\^3.*got 256; the nearest are 216"),
    ],
)
def test_a_bad_comparison_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        lsmdp.compare_lengths(lsmdp.lattice(), **options)


def test_a_bad_estimate_is_refused():
    comparison = lsmdp.compare_lengths(lsmdp.lattice(), n_seeds=2)
    with pytest.raises(ValueError, match=r"length compared \(1, 2, 4, 8\), got 3"):
        lsmdp.paired_changes(comparison, reference=3)
    with pytest.raises(ValueError, match=r"`level` must lie in \(0, 1\), got 95"):
        lsmdp.paired_changes(comparison, level=95.0)


def test_the_example_prints_every_space(capsys):
    examples = Path(__file__).parents[2] / "examples"
    script = runpy.run_path(str(examples / "lsmdp_lengths.py"))
    script["main"]()
    printed = capsys.readouterr().out
    for name in ("4 x 4 lattice", "binary tree", "three rings", "z = const"):
        assert name in printed
