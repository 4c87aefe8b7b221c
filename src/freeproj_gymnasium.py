"""Register freeproj's environments when Gymnasium is imported.

Gymnasium 1.0 stopped reading the entry point group `gymnasium.envs`, through which
installed packages used to offer their environments. `freeproj_gymnasium.pth`, installed
beside this module, imports it at interpreter start, in 0.2 ms. It waits for Gymnasium
to be imported, and does nothing where it never is.
"""

import sys

_AWAITED = "gymnasium.envs.registration"


class _Finder:  # without importlib.abc, whose import takes 15 ms
    """Finder of Gymnasium's registry; it adds our ids once that is loaded."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != _AWAITED:
            return None
        sys.meta_path.remove(self)
        found = (each.find_spec(fullname, path, target) for each in sys.meta_path)
        spec = next((each for each in found if each is not None), None)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module):
                load(module)
                try:
                    from freeproj.adapters.gymnasium_ids import register_all
                except ImportError:
                    return  # an older freeproj comes first: Gymnasium must still load
                register_all()

            spec.loader.exec_module = load_and_register
        return spec


if _AWAITED not in sys.modules:
    sys.meta_path.insert(0, _Finder())
