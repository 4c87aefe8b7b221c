"""`freeproj table NAME`: a table of the paper, with the numbers of one's own runs."""

from __future__ import annotations

from pathlib import Path

import click

from freeproj.cli.progress import working

__all__ = ["table"]

_FORMATS = ("terminal", "markdown", "latex", "csv")


@click.command()
@click.argument("name")
@click.option(
    "--runs",
    type=click.Path(path_type=Path),
    help="The folder with runs.",
)
@click.option(
    "--csv",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A tidy CSV file with results of another codebase; may be repeated.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="terminal",
    show_default=True,
)
@click.option("--out", type=click.Path(path_type=Path), help="A file to write to.")
@click.option(
    "--counting",
    type=click.Choice(["window", "episodes"]),
    default="window",
    show_default=True,
    help="The paper's: ended within its window; or every episode, once.",
)
@click.option(
    "--protocol",
    type=click.Choice(["projection", "task"]),
    default="projection",
    show_default=True,
    help="What was held out.",
)
@click.option(
    "--by",
    type=click.Choice(["test-mmer", "train-mmer", "train-raw"]),
    help="How table-results chooses the length of FRP; the paper: test-mmer.",
)
def table(
    name: str,
    runs: Path | None,
    files: tuple[Path, ...],
    form: str,
    out: Path | None,
    counting: str,
    protocol: str,
    by: str | None,
) -> None:
    """Print the table NAME, our cells beside the paper's.

    NAME is table-results (Table 1) or table-lengths (Table 2).
    """
    from freeproj.report.tables import TABLES, format_table

    if name not in TABLES:
        raise ValueError(f"No table {name!r}. Known: {', '.join(TABLES)}.")
    if runs is None and not files:
        raise ValueError("Give the results: --runs FOLDER, --csv FILE, or both.")
    options = {"counting": counting, "protocol": protocol}
    if by is not None and name != "table-results":
        raise ValueError("--by is for table-results; table-lengths shows every choice.")
    if by is not None:
        options["by"] = by
    with working(name):
        results, baselines, notes = _results(runs, files)
        text = format_table(name, results, baselines=baselines, form=form, **options)
    for note in notes:
        click.echo(note, err=True)
    if out is None:
        click.echo(text, nl=False)
    else:
        _write(out, text)
        click.echo(out)


def _results(runs: Path | None, files: tuple[Path, ...]) -> tuple:
    """Returns one table of all sources, baselines of its tasks, and what to say."""
    from freeproj.report.gathering import gather
    from freeproj.report.paper.baselines import table_baselines, trials_of
    from freeproj.stats import concatenate, read_csv

    tables, found, notes = [read_csv(path) for path in files], (), []
    if runs is not None:
        gathered = gather(runs)
        tables.append(gathered.table)
        found = gathered.runs
        n_runs, n_finished = len(gathered.runs), gathered.n_finished
        notes.append(f"{runs}: {n_runs} runs, {n_finished} of them finished.")
    results = concatenate(tables)
    if any(run.config.previous_reward for run in found):
        notes.append(
            "Agents of these runs see their previous reward, the paper's do not: cells "
            "are not like for like."
        )
    others = {task: n for task, n in trials_of(found).items() if n != 16}
    if others:
        notes.append(
            f"Episodes of {', '.join(others)} do not have the paper's 16 trials: "
            "returns are not comparable."
        )
    return results, table_baselines(found, results.task.tolist()), notes


def _write(path: Path, text: str) -> None:
    from freeproj.files import write_atomically

    write_atomically(path, lambda file: file.write(text.encode()))
