"""`python -m freeproj` is `freeproj`."""

from freeproj.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
