"""What the benchmarks share: minima over repeats, and one line for each ratio."""

import time

import jax

__all__ = ["best", "compare"]


def best(function, *arguments, repeats=7):
    """Returns the least time of several calls, in seconds, after one to warm up."""
    jax.block_until_ready(function(*arguments))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(function(*arguments))
        times.append(time.perf_counter() - start)
    return min(times)


def compare(what, ours, theirs, target):
    """Prints how many times faster we are, and whether that is what was aimed at."""
    ratio = theirs / ours
    verdict = "PASS" if ratio >= target else "BELOW"
    print(
        f"\n{what}: {1e3 * ours:.2f} ms against {1e3 * theirs:.2f} ms, "
        f"{ratio:.1f} x (target {target} x: {verdict})"
    )
