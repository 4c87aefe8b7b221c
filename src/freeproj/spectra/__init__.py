"""Spectra of random kernels and block matrices, in float64. (Appendix C.)"""

from freeproj.spectra import block_laws, blocks
from freeproj.spectra.block_laws import kesten_mckay_density, kesten_mckay_moment
from freeproj.spectra.blocks import (
    block_matrix,
    block_singular_values,
    block_spectra,
    block_spectrum,
    partial_transpose,
)

__all__ = [
    "block_laws",
    "block_matrix",
    "block_singular_values",
    "block_spectra",
    "block_spectrum",
    "blocks",
    "kesten_mckay_density",
    "kesten_mckay_moment",
    "partial_transpose",
]
