"""What words do to your own data: effective dimension, risk and limit spectrum.

Replace `load` by your data: d dimensions x p samples (one sample per column), and one
value to predict for each sample.
"""

import numpy as np

import freeproj as fp


def load():
    """A stand-in: 300 samples in 60 dimensions whose variances fall like 1/k."""
    rng = np.random.default_rng(0)
    X = np.diag(np.arange(1, 61) ** -0.5) @ rng.normal(size=(60, 300))
    return X, rng.normal(size=60) @ X + rng.normal(size=300)


def main():
    X, target = load()
    # Tables, predicted beside measured, and what to make of them. The data are centred
    # and scaled to mean squared norm 1, as `freeproj spectra` does.
    report = fp.spectra.own_data_report(
        X, lengths=(2, 4, 8), ridges=(1e-3, 1e-1), target=target
    )
    print(*report.table(), *report.advice(), sep="\n")

    # Single numbers: any n and ℓ, no simulation.
    for length in (1, 2, 3, 4, 5, 6):
        share = fp.spectra.predicted_effective_dimension(
            report.eigenvalues, 1e-2, n_generators=256 ** (1 / length), length=length
        )
        print(f"ℓ = {length}: d_eff/d = {share:.4f}")

    # The whole limit spectrum of the kernel for this very data.
    law = fp.spectra.free_product(
        fp.spectra.WordLaw(n_generators=4, length=4),
        fp.spectra.Atoms(report.eigenvalues),
    )
    print("density at 0.05, 0.5, 2:", law.density([0.05, 0.5, 2.0]).round(4))
    low, high = law.support()
    print(f"support: {low:.4g} to {high:.4g}; mean {law.moment(1):.4g}")


if __name__ == "__main__":
    main()
