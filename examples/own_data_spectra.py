"""What word length does to the effective dimension of your own data.

Replace `load` by your data: one sample per column, d dimensions x p samples.
"""

import numpy as np

import freeproj as fp


def load():
    """A stand-in: 300 samples in 60 dimensions whose variances fall like 1/k."""
    rng = np.random.default_rng(0)
    return np.diag(np.arange(1, 61) ** -0.5) @ rng.normal(size=(60, 300))


def main():
    X, factor = fp.spectra.rescale(load())
    print(f"scaled by {factor:.4g} to samples of mean squared norm 1")

    # A whole table, predicted beside measured, and what to make of it.
    report = fp.spectra.own_data_report(X, lengths=(2, 4, 8), ridges=(1e-3, 1e-1))
    print(*report.table(), *report.advice(), sep="\n")

    # Single numbers: any n and ℓ, no simulation.
    for length in (1, 2, 3, 4, 5, 6):
        share = fp.spectra.predicted_effective_dimension(
            X, 1e-2, n_generators=256 ** (1 / length), length=length
        )
        print(f"ℓ = {length}: d_eff/d = {share:.4f}")

    # The whole limit spectrum of the kernel for this very data.
    law = fp.spectra.free_product(
        fp.spectra.WordLaw(n_generators=4, length=4),
        fp.spectra.Atoms(fp.spectra.data_eigenvalues(X)),
    )
    density = -law.cauchy(np.array([0.05, 0.5, 2.0]) + 1e-6j).imag / np.pi
    print("density of the kernel's spectrum at 0.05, 0.5, 2:", density.round(4))


if __name__ == "__main__":
    main()
