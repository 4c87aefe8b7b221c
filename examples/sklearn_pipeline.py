"""The projection as a scikit-learn transformer, beside Gaussian random projection.

python examples/sklearn_pipeline.py
"""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from freeproj.adapters.sklearn import FreeRandomProjection

N_COMPONENTS = 32
N_SEEDS = 5


def distortion(X: np.ndarray, Z: np.ndarray) -> float:
    """Returns the mean of | |z_i - z_j| / |x_i - x_j| - 1 | over pairs."""
    pairs = np.triu_indices(len(X), 1)
    ratios = pairwise_distances(Z)[pairs] / pairwise_distances(X)[pairs]
    return float(np.abs(ratios - 1).mean())


def main() -> None:
    X, y = load_digits(return_X_y=True)
    few = X[:300]
    families = {
        "free, length 1": lambda seed: FreeRandomProjection(
            N_COMPONENTS, 256, 1, random_state=seed
        ),
        "free, length 4": lambda seed: FreeRandomProjection(
            N_COMPONENTS, 4, 4, random_state=seed
        ),
        "Gaussian": lambda seed: GaussianRandomProjection(
            N_COMPONENTS, random_state=seed
        ),
    }
    print(f"{X.shape[1]} features to {N_COMPONENTS}, mean over {N_SEEDS} seeds")
    print(f"{'':16}distortion  fit (ms)  transform (ms)  accuracy")
    for name, make in families.items():
        rows = []
        for seed in range(N_SEEDS):
            start = time.perf_counter()
            model = make(seed).fit(X)
            fitted = time.perf_counter()
            model.transform(X)
            times = fitted - start, time.perf_counter() - fitted
            rows.append((distortion(few, model.transform(few)), *times))
        error, fit, transform = np.mean(rows, axis=0)
        pipeline = make_pipeline(
            make(0), StandardScaler(), LogisticRegression(max_iter=200)
        )
        accuracy = cross_val_score(pipeline, X, y, cv=3).mean()
        times = f"{1e3 * fit:8.1f}  {1e3 * transform:14.1f}"
        print(f"{name:16}{error:10.3f}  {times}  {accuracy:8.3f}")


if __name__ == "__main__":
    main()
