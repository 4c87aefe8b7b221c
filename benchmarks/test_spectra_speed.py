"""How fast the analysis is, as ratios within one run.

    python -m pytest benchmarks/test_spectra_speed.py -n 0 -s

One thread, as a unit.
"""

import time

import jaxtyping
import numpy as np
import pytest
from scipy.optimize import brentq
from threadpoolctl import threadpool_limits
from timing import compare, say

from freeproj.report.figures.block_spectra import compute as block_figure
from freeproj.spectra import (
    Atoms,
    WordLaw,
    average_kernel,
    effective_dimension,
    free_product,
    gaussian_data,
    limit_effective_dimension,
    own_data_report,
    word_density,
    word_edges,
)

DIM, N_TRIALS, BATCH = 64, 128, 16
RIDGES = np.geomspace(1e-4, 1e-1, 10)
FAMILIES = ((256, 1), (16, 2), (4, 4), (2, 8))


@pytest.fixture(autouse=True)
def _as_for_users():
    """No checks of signatures, which only the tests have; one thread, as a unit."""
    jaxtyping.config.update("jaxtyping_disable", True)
    with threadpool_limits(1):
        yield
    jaxtyping.config.update("jaxtyping_disable", False)


def seconds(work, repeats=1):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def draw_bases(rng, n):
    q, r = np.linalg.qr(rng.standard_normal((BATCH, n, DIM, DIM)))
    return q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :]


def by_enumeration(X, bases, length):
    """Σ_w λ(w)X with every word's image, grown letter by letter, all trials at once."""
    images = X[:, None]
    for _ in range(length):
        images = bases[:, :, None] @ images[:, None]
        images = images.reshape(BATCH, -1, *X.shape[-2:])
    total = images.sum(axis=1)
    kernel = np.swapaxes(total, -1, -2) @ total / images.shape[1]
    return effective_dimension(np.maximum(np.linalg.eigvalsh(kernel), 0), RIDGES)


def by_power(X, bases, length):
    return effective_dimension(
        np.maximum(np.linalg.eigvalsh(average_kernel(X, bases, length)), 0), RIDGES
    )


def test_effective_dimension_against_enumerating_all_words():
    rng = np.random.default_rng(0)
    drawing = slow = fast = 0.0
    for batch in range(N_TRIALS // BATCH):
        X = gaussian_data(BATCH, DIM, DIM, seed=batch)
        for n, length in FAMILIES:
            start = time.perf_counter()
            bases = draw_bases(rng, n)
            drawing += time.perf_counter() - start
            slow += seconds(lambda: by_enumeration(X, bases, length))  # noqa: B023
            fast += seconds(lambda: by_power(X, bases, length))  # noqa: B023
            np.testing.assert_allclose(
                by_power(X, bases, length), by_enumeration(X, bases, length), rtol=1e-6
            )
    compare("power of the sum against enumeration, same bases", fast, slow, 10)
    print(
        f"with drawing the bases ({drawing * 1e3:.0f} ms, the same for both): "
        f"{(slow + drawing) / (fast + drawing):.1f}x"
    )


def equation(y, ridge, n, length, aspect):
    left = ridge * y * (1 - y / n) ** length
    return left - (1 - y) ** (length + 1) * (aspect - y)


def test_limit_values_against_a_loop_of_brentq():
    rng = np.random.default_rng(0)
    length = rng.choice([1.0, 2.0, 4.0, 8.0], 1000)
    n, ridge = 256 ** (1 / length), 10 ** rng.uniform(-4, -1, 1000)
    aspect = np.exp(rng.uniform(-1.4, 1.4, 1000))
    columns = np.stack([ridge, n, length, aspect], axis=1).tolist()

    def loop():
        return [brentq(equation, 0, min(1, row[3]), args=tuple(row)) for row in columns]

    def at_once():
        return limit_effective_dimension(ridge, n, length, aspect)

    np.testing.assert_allclose(at_once(), loop(), atol=1e-11)
    slow, fast = seconds(loop, repeats=5), seconds(at_once, repeats=200)
    compare("1000 limit values against a loop of brentq", fast, slow, 100)


def test_densities_at_many_points():
    x = np.linspace(0, word_edges(2, 8, 1.0)[1], 20_002)[1:-1]
    took = seconds(lambda: word_density(x, 2, 8, 1.0), repeats=3)
    say("word_density at 20,000 points", took, " s", at_most=1)


def test_laws_of_many_atoms():
    law = free_product(
        WordLaw(4, 4), Atoms(np.random.default_rng(0).gamma(1.0, size=800))
    )
    took = seconds(lambda: law.sample(10_000, seed=0))
    say("10,000 points of a law of 800 atoms", took, " s", at_most=2)


def test_large_data_in_seconds():
    X = np.random.default_rng(0).standard_normal((2000, 20_000))
    took = seconds(lambda: own_data_report(X, target=X[0]))
    product = seconds(lambda: X @ X.T)
    say("spectra of 2,000 x 20,000 data, one thread", took, " s", at_most=30)
    say("... in products X X^T", took / product, "x")


def test_block_figures_share_what_they_can():
    """Letters are drawn once for all arrangements; the raw square needs no drawing."""
    kinds = ("transposed", "raw", "shuffled")
    first, raw, shuffled = (
        seconds(lambda kind=kind: block_figure(arrangement=kind, n_trials=8))
        for kind in kinds
    )
    say("block figure of the raw square over the first", raw / first, "x", at_most=0.1)
    what = "block figure of the shuffled square over the first"
    say(what, shuffled / first, "x", at_most=0.9)
    M = np.random.default_rng(0).standard_normal((24, 1024, 1024))
    alone = seconds(lambda: np.linalg.eigvalsh(M @ M.swapaxes(1, 2)))
    say("... over its eigenvalues alone, one thread", shuffled / alone, "x")
