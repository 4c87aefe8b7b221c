"""The command line: a table of thin commands, each imported only when it runs.

`freeproj --help` must answer at once, so this module imports click and nothing else;
a command lives in a module of its own beside this one and is named in `_COMMANDS`.
An error is reported on one line; `stopping` lists the exit codes.
"""

import importlib
import os
import sys

import click

from freeproj import __version__
from freeproj.cli.options import NamingGroup
from freeproj.cli.output import print_in_any_encoding
from freeproj.cli.stopping import explain, stop_code
from freeproj.storage.names import announcing, printable
from freeproj.storage.signals import catch_signals, leave

__all__ = ["main"]

# name: (module below freeproj.cli, one line for `freeproj --help`), in groups
_GROUPS = {
    "Begin here": {
        "demo": ("demo", "Train an agent that visibly adapts, in about a minute."),
        "reproduce": ("report", "Train a study, compute all analyses, write one page."),
        "doctor": ("about", "Show versions, installed extras and devices."),
    },
    "Train": {
        "train": ("train", "Train one agent; an interrupted run can be resumed."),
        "sweep": ("sweep", "Run a study: many runs, here or on a cluster."),
        "config": ("about", "Show all settings, or write them to a file."),
    },
    "Agents": {
        "evaluate": ("agents", "Test a trained agent on unseen projections."),
        "certify": ("certify", "Say whether an agent adapts to unseen projections."),
        "watch": ("agents", "Watch an episode of a trained agent, or save a GIF."),
        "export": ("agents", "Save a trained agent as one file, or for the Hub."),
    },
    "Results": {
        "runs": ("runs", "List the runs of a folder: health and last return."),
        "compare": ("runs", "Compare runs, folders of runs, or shipped agents."),
        "report": ("report", "Write report.html for a folder of runs."),
        "table": ("figures", "Print a table of the paper beside your numbers."),
        "published": ("figures", "Results that ship with the package."),
        "figure": ("figures", "Draw one figure."),
        "figures": ("figures", "List the figures."),
    },
    "Tasks and data": {
        "envs": ("tasks", "List the tasks with sizes, chance level and best return."),
        "play": ("tasks", "Play a task in the terminal."),
        "spectra": ("spectra", "Effective dimension of your data; cost of words."),
        "cite": ("about", "Print BibTeX entries for the software and the paper."),
    },
}
_COMMANDS = {name: one for group in _GROUPS.values() for name, one in group.items()}


class _LazyGroup(NamingGroup):
    """A group that knows its commands' names and help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"freeproj.cli.{_COMMANDS[cmd_name][0]}")
        return getattr(module, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter):
        for title, commands in _GROUPS.items():
            with formatter.section(title):
                rows = [(name.ljust(9), text) for name, (_, text) in commands.items()]
                formatter.write_dl(rows)


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(__version__, message="freeproj %(version)s")
def _commands() -> None:
    """Free random projections for in-context reinforcement learning."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; without arguments those of the program, which then ends."""
    if arguments is not None:
        _run(arguments)
        return
    catch_signals()
    print_in_any_encoding()
    try:
        _run(None)
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    leave(code)


def _run(arguments: list[str] | None) -> None:
    try:
        with announcing(lambda line: click.echo(printable(line), err=True)):
            _commands.main(args=arguments, prog_name="freeproj", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        _fail(2, error.format_message())
    except click.Abort as error:  # click raises this when a command is interrupted
        _fail(stop_code(error.__cause__), "Stopped.")
    except BrokenPipeError:
        # The reader closed the pipe (`freeproj ... | head`): end quietly, as is usual.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("FREEPROJ_DEBUG", "") not in ("", "0"):
            raise
        _fail(*explain(error))


def _fail(code: int, message: str) -> None:
    text = printable(" ".join(message.split()))
    if len(text) > 1000:  # a name of thousands of characters
        text = f"{text[:500]} … {text[-500:]}"
    click.echo(f"freeproj: {text}", err=True)
    sys.exit(code)
