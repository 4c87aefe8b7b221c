"""`python -m freeproj` is `freeproj`."""

from freeproj.storage.signals import catch_signals

__all__ = ["run"]


def run() -> None:
    """Run the command line as a program of its own."""
    catch_signals()  # before anything slow is imported
    from freeproj.cli import main

    main()


if __name__ == "__main__":
    run()
