"""How many threads XLA computes with: all cores, or one in a worker of a study.

Sums over several threads are taken in another order, so a number depends on how many
there are. A worker has exactly one, and its run does not depend on the machine's cores.
"""

import os
from collections.abc import Mapping

__all__ = ["SINGLE_THREAD", "n_cores", "n_threads"]

# Set before JAX starts. XLA sizes its thread pool by PJRT_NPROC, in earlier versions by
# NPROC; its flags for Eigen's threads do not limit it. LAPACK has threads of its own.
SINGLE_THREAD: Mapping[str, str] = {
    "PJRT_NPROC": "1",
    "NPROC": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def n_threads() -> int:
    """Return the number of threads that XLA computes with in this process."""
    for name in ("PJRT_NPROC", "NPROC"):
        if (chosen := os.environ.get(name, "")).isdigit():
            return int(chosen)
    return n_cores()
