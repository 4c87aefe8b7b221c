"""Kernel spectra, effective dimension and the free probability behind them.

NumPy and SciPy in float64; every function also accepts JAX arrays.
"""

from freeproj.spectra import blocks
from freeproj.spectra.advice import OwnDataReport, own_data_report, rescale
from freeproj.spectra.blocks import (
    block_matrix,
    block_moment,
    block_spectra,
    partial_transpose,
)
from freeproj.spectra.density import (
    density_curve,
    word_density,
    word_edges,
    word_expectation,
    word_moment,
)
from freeproj.spectra.effective_dimension import (
    data_eigenvalues,
    effective_dimension,
    effective_ridge,
    limit_derivatives,
    limit_effective_dimension,
    predicted_effective_dimension,
)
from freeproj.spectra.kernel import (
    average_kernel,
    expected_inner_product,
    gaussian_data,
    inner_product,
    sample_root_singular_values,
)
from freeproj.spectra.laws import (
    Atoms,
    MarchenkoPastur,
    WordLaw,
    free_product,
    free_sum,
)
from freeproj.spectra.risk import (
    best_ridge,
    environment_ridge,
    environment_risk,
    predicted_risk,
    spectrum_of,
)

__all__ = ["Atoms", "MarchenkoPastur", "OwnDataReport", "WordLaw", "average_kernel"]
__all__ += ["best_ridge", "block_matrix", "block_moment", "block_spectra", "blocks"]
__all__ += ["data_eigenvalues", "density_curve", "effective_dimension"]
__all__ += ["effective_ridge", "environment_ridge", "environment_risk"]
__all__ += ["expected_inner_product", "free_product", "free_sum", "gaussian_data"]
__all__ += ["inner_product", "limit_derivatives", "limit_effective_dimension"]
__all__ += ["own_data_report", "partial_transpose", "predicted_effective_dimension"]
__all__ += ["predicted_risk", "rescale", "sample_root_singular_values", "spectrum_of"]
__all__ += ["word_density", "word_edges", "word_expectation", "word_moment"]
