"""At the end, which targets were met and which fall short."""

from timing import RESULTS


def pytest_terminal_summary(terminalreporter):
    """Lists all ratios that have a target, those that fall short last."""
    if not RESULTS:
        return
    short = [line for line, met in RESULTS if not met]
    terminalreporter.section("ratios and their targets")
    for line, met in RESULTS:
        if met:
            terminalreporter.line(f"PASS   {line}")
    for line in short:
        terminalreporter.line(f"SHORT  {line}")
    terminalreporter.line(f"{len(RESULTS) - len(short)} met, {len(short)} fall short.")
