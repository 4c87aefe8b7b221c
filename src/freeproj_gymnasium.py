"""Register freeproj's environments as soon as Gymnasium is imported.

Gymnasium 1.0 stopped reading the entry points `gymnasium.envs`, by which installed
packages used to offer their environments. This module brings that back for freeproj:
`freeproj_gymnasium.pth`, installed beside it, imports it when Python starts. It then
waits; where Gymnasium is never imported, nothing else happens.
"""

import sys

_AWAITED = "gymnasium.envs.registration"


class _Finder:  # of plain parts: importing importlib.abc costs every start 15 ms
    """Finds Gymnasium's register as usual, and fills it once it is loaded."""

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
                from freeproj.adapters.gymnasium_ids import register_all

                register_all()

            spec.loader.exec_module = load_and_register
        return spec


if _AWAITED not in sys.modules:
    sys.meta_path.insert(0, _Finder())
