"""A figure of your own: by how much words raise the risk of ridge regression.

    freeproj figure cost_of_words:FIGURE     # in this folder; or run this file

Gaussian data, X_ij ~ N(0, 1/d), and a random linear target of variance 1 with noise;
each length has its best ridge. Curves are the predicted risk over that without words,
points are simulated. Words never lower the risk; where samples abound (c = p/d > 1) the
best ridge for words tends to 0, and then every length costs the same.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from freeproj.projection.words import generators_for
from freeproj.report.figures import FigureSpec, make_figure
from freeproj.report.figures.style import COLUMN, INK, PALETTE
from freeproj.spectra import best_ridge, data_eigenvalues
from freeproj.spectra.kernel import draw_words
from freeproj.spectra.risk import BestRidge, TargetSpectrum
from freeproj.storage.saved import Numbers

FIGURE = FigureSpec(
    "cost-of-words",
    "By how much words raise the risk of ridge regression, theory and simulation",
    module="cost_of_words",
)
_LARGE = 400  # dimension for the predicted curves
_DATA_SETS = 12  # for each draw of the bases


@threadpool_limits.wrap(limits=1, user_api="blas")  # its threads wait for each other
def compute(
    aspects: Sequence[float] = (0.5, 0.75, 1.5, 4.0),
    lengths: Sequence[int] = (1, 2, 4, 8),
    n_words: int = 256,
    dim: int = 64,
    noise: float = 0.25,
    n_trials: int = 8,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """Return risks, predicted for real lengths and simulated; rows are aspects."""
    rng = np.random.default_rng(seed)
    fine = np.concatenate([[0.0], np.linspace(min(lengths), max(lengths), 40)])
    spectra = [_expected_spectrum(rng, aspect, noise) for aspect in aspects]
    curve = [[_best(each, n_words, ell).risk for ell in fine] for each in spectra]
    every = (0, *lengths)
    ridges = [[_best(each, n_words, ell).ridge for ell in every] for each in spectra]
    settings = (aspects, every, ridges, n_words, dim, noise)
    numbers = {
        "curve_lengths": fine[1:],
        "predicted": curve,  # the first column is without words
        "simulated": [_simulate(rng, *settings) for _ in range(n_trials)],
        **{"aspects": aspects, "lengths": lengths},
        **{"dim": dim, "noise": noise, "n_words": n_words},
    }
    return {name: np.array(value) for name, value in numbers.items()}


def draw(numbers: Numbers) -> Figure:
    """Draw the cost of words in percent against their length, a colour per aspect."""
    figure = Figure(figsize=(1.15 * COLUMN, 2.7))
    axes = figure.subplots()
    for row, aspect in enumerate(numbers["aspects"].tolist()):
        colour, risks = PALETTE[row % len(PALETTE)], numbers["predicted"][row]
        cost = 100 * (risks[1:] / risks[0] - 1)
        label = f"c = p/d = {aspect:g}"
        axes.plot(numbers["curve_lengths"], cost, color=colour, label=label)
        own, *words = numbers["simulated"][:, row].T
        extra = 100 * (np.array(words) - own) / own.mean()  # paired by data
        error = extra.std(axis=1, ddof=1) / np.sqrt(extra.shape[1])
        points = (numbers["lengths"], extra.mean(axis=1), 2 * error)
        axes.errorbar(*points, fmt="o", color=colour, capsize=1.6, ms=3)
    axes.plot([], [], "o", color=INK, ms=3, label=r"simulated $\pm$ 2 s.e.")
    axes.set_ylim(0, None)
    axes.set(xlabel=r"word length $\ell$", ylabel="cost of words (% of the risk)")
    axes.set_title(f"$d={numbers['dim']}$, noise {numbers['noise']:g}, best ridges")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _best(spectrum: TargetSpectrum, n_words: int, length: float | int) -> BestRidge:
    n = n_words ** (1 / length) if length > 0 else 1
    return best_ridge(spectrum, float(n), float(length))


def _expected_spectrum(rng, aspect: float, noise: float) -> TargetSpectrum:
    """Return a large data set's spectrum with the target's mean components."""
    n_samples = round(_LARGE * aspect)
    X = rng.standard_normal((_LARGE, n_samples)) / np.sqrt(_LARGE)
    t = data_eigenvalues(X)
    power = np.where(np.arange(_LARGE) >= _LARGE - n_samples, t + noise, 0.0)
    rest = noise * max(0, n_samples - _LARGE)
    return TargetSpectrum(np.where(power > 0, t, 0.0), power, rest, n_samples)


def _simulate(rng, aspects, lengths, ridges, n_words, dim, noise) -> np.ndarray:
    """Return the risks of one draw of the bases; rows are aspects."""
    mixing = [np.eye(dim)] + [
        draw_words(rng, generators_for(n_words, ell), ell, dim, "orthogonal")
        for ell in lengths[1:]
    ]
    found = np.full((len(aspects), len(lengths)), noise)
    for _ in range(_DATA_SETS):
        for row, aspect in enumerate(aspects):
            X = rng.standard_normal((dim, round(dim * aspect))) / np.sqrt(dim)
            beta = rng.standard_normal(dim)
            y = beta @ X + np.sqrt(noise) * rng.standard_normal(X.shape[1])
            pairs = zip(mixing, ridges[row], strict=True)
            gaps = [_fit(X, y, *pair) - beta for pair in pairs]
            found[row] += np.mean(np.square(gaps), axis=1) / _DATA_SETS
    return found


def _fit(X: np.ndarray, y: np.ndarray, words: np.ndarray, ridge: float) -> np.ndarray:
    """Return what is learned as a linear function of the data."""
    if ridge == np.inf:
        return np.zeros(len(X))
    if ridge == 0 and X.shape[1] >= len(X):
        return np.linalg.lstsq(X.T, y)[0]  # least squares, whatever the words
    image = words @ X
    if X.shape[1] >= len(X):
        gram = image @ image.T + ridge * np.eye(len(X))
        return words.T @ np.linalg.solve(gram, image @ y)
    gram = image.T @ image + ridge * np.eye(len(y))
    return words.T @ image @ np.linalg.solve(gram, y)


if __name__ == "__main__":
    for path in make_figure("cost_of_words:FIGURE", "cost-of-words.png"):
        print(path)
