"""Compiled programs, kept on disk, so that a second start need not compile again.

The folder is `$XDG_CACHE_HOME/freeproj` (`~/.cache/freeproj`), one for each kind of
processor. Set `FREEPROJ_CACHE` to another folder, or to `off`.
"""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path

import jax

__all__ = ["cache_folder", "use_cache"]


def use_cache() -> Path | None:
    """Let JAX keep what it compiles; return the folder, None if no cache is used.

    A cache that the user has set up for JAX itself is left as it is. A folder that
    belongs to another user is not used: that user's programs would be run.
    """
    folder = cache_folder()
    chosen = jax.config.jax_compilation_cache_dir  # pyright: ignore
    if folder is None or chosen:
        return folder
    if not _is_own(folder):
        return None
    jax.config.update("jax_compilation_cache_dir", str(folder))
    # By default programs that compile within a second are not kept: most of ours.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    return folder


def cache_folder() -> Path | None:
    """Return the folder for compiled programs, None if `FREEPROJ_CACHE` is off."""
    chosen = os.environ.get("FREEPROJ_CACHE", "")
    if chosen.lower() in ("off", "0", "no"):
        return None
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    base = Path(chosen) if chosen else Path(home) / "freeproj"
    return base / f"xla-{_processor()}"


def _is_own(folder: Path) -> bool:
    """Make the folder, for this user only; say whether it is this user's."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return False
        folder.chmod(0o700)
    except OSError:
        return False
    return True


def _processor() -> str:
    """Name the processor: programs compiled for one may not run on another."""
    described = platform.machine() + platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        described += "".join(x for x in lines[:40] if x.startswith(("model", "flags")))
    return hashlib.sha256(described.encode()).hexdigest()[:12]
