"""Every command in README and docs: it exists with its options, and it runs."""

import re
import shlex
import shutil
from pathlib import Path

import click
import numpy as np
import pytest

from freeproj import cli
from freeproj.experiments.engines import find_engine
from freeproj.experiments.run import run_training
from freeproj.experiments.settings import read_config
from freeproj.experiments.study import STUDIES, read_study
from freeproj.published import names
from freeproj.report.figures import FIGURES
from freeproj.report.tables import TABLES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
LINE = re.compile(
    r"^(?:    |\$ )?(?:\.venv/bin/)?(freeproj [a-z][^\n]*)$", re.MULTILINE
)
INLINE = re.compile(r"`(?:\.venv/bin/)?(freeproj [a-z][^`\n]*)`")
FILE = re.compile(r"```python\n# (\w+\.py)\n(.*?)```", re.DOTALL)
OWN_STUDY = re.compile(r"Put this into `(\w+\.toml)`:\n\n```toml\n(.*?)```", re.DOTALL)
# Words that stand for something else in the text of the documentation.
STANDS_FOR = {"RUN": "runs/RUN", "RUNS": "runs", "DATA": "data.npy", "Y": "target.npy"}
STANDS_FOR |= {"STUDY": "quick", "DIR": "hub", "y": "y"}
# Not run here, and why.
LEFT_OUT = {
    "demo": "a test of its own (tests/cli)",
    "reproduce": "a test of its own (tests/cli)",
    "play": "asks a person",
    "--address": "needs a cluster that runs",
    "--engine ray": "a test of its own (tests/experiments/engines)",
    "--engine slurm": "a test of its own (tests/experiments/engines)",
    "--seeds-together": "a test of its own (tests/experiments)",
    "--estimate": "times the networks of a whole study",
    "model.zip": "a model of Stable-Baselines3: tests/test_adapter_examples",
    "runs/my-agent": "certifies a run that a reader has trained",
    "memories.toml": "a benchmark",
    "--out /shared/runs": "a cluster's folder",
    "task=gymnax/": "needs gymnax, whose tests have an environment of their own",
}
SHORTER = {  # so that one run takes a second
    "train": "--set n_updates=1 --set stages=[] --set n_envs=8"
    " --set ppo.n_minibatches=2 --quiet",
    "sweep": "--set n_updates=1 --set seeds=2 --quiet",
}


def commands_of(text):
    """Return the commands of a page as lists of words."""
    found = LINE.findall(text) + INLINE.findall(text)
    joined = [re.split(r" +# | && | > |\\$", line)[0] for line in found]
    parts = [p for line in joined for p in [shlex.split(line)] if len(p) > 1]
    whole = [p for p in parts if not re.search(r"[|<…\[]$|\w\|\w", " ".join(p))]
    return [list(p) for p in dict.fromkeys(tuple(p[1:]) for p in whole)]


COMMANDS = [
    pytest.param(command, id=f"{page.stem}: {' '.join(command)}")
    for page in PAGES
    for command in commands_of(page.read_text(encoding="utf-8"))
    if page.name != "commands.md"
]


def test_the_documentation_has_commands():
    assert len(COMMANDS) > 100


@pytest.mark.parametrize("command", COMMANDS)
def test_a_documented_command_exists_with_its_options(command):
    group, words = cli._commands, list(command)
    name = words.pop(0)
    assert name in cli._COMMANDS, command
    found = group.get_command(click.Context(group), name)
    if isinstance(found, click.Group) and words:
        found = found.commands[words.pop(0)]
    message = refusal(found, name, [STANDS_FOR.get(word, word) for word in words])
    assert "is not one of" not in message
    named = {"sweep": STUDIES, "figure": FIGURES, "table": TABLES, "published": names()}
    if name in named and words and re.fullmatch(r"[a-z][a-z0-9-]*", words[0]):
        assert words[0] in named[name]


def refusal(command, name, words):
    """Return what a command says of bad values; unknown options are an error."""
    try:
        command.make_context(name, words)
    except (click.MissingParameter, click.BadOptionUsage):
        return ""  # only the command is named
    except click.BadParameter as error:  # files that are not here
        return error.format_message()
    except ValueError as error:  # modules that are not here
        return str(error)
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.slow
def test_documented_commands_run(page, tmp_path, monkeypatch, capsys):
    text = page.read_text(encoding="utf-8")
    todo = [command for command in commands_of(text) if runs(command)]
    if page.name == "commands.md" or not todo:
        pytest.skip("no command of its own")
    prepare(tmp_path, text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for command in todo:
        words = [STANDS_FOR.get(word, word) for word in command]
        shorter = SHORTER.get(words[0], "")
        if "--dry-run" in words:
            shorter = ""
        elif words[0] == "sweep" and words[1] in {*STUDIES} - {"quick"}:
            shorter = "--dry-run"  # hundreds of runs; `quick` goes the same way
        code = exit_code([*words, *shorter.split()])
        assert code in (0, None), (words, capsys.readouterr())


def exit_code(arguments):
    try:
        cli.main(arguments)
    except SystemExit as end:
        return end.code
    return 0


def runs(command):
    """Whether a command is complete and is not left out."""
    line = " ".join(command)
    if any(part in line for part in LEFT_OUT):
        return False
    needs = {
        "train": 1,
        "sweep": 1,
        "evaluate": 1,
        "watch": 1,
        "compare": 1,
        "table": 1,
    }
    needs |= {"report": 1, "figure": 1, "certify": 1, "export": 2, "spectra": 1}
    least = needs.get(command[0], 0)
    named = [word for word in command[1:] if not word.startswith("--")]
    return len(named) >= least and "NAME" not in command


def prepare(folder, text):
    """Lay out what the commands of a page speak of."""
    for name, code in FILE.findall(text) + OWN_STUDY.findall(text):
        (folder / name).write_text(code)
    for name, seed in (("RUN", 0), ("A", 1), ("B", 2)):
        config = read_config("smoke", {"seed": seed, "n_updates": 2})
        run = run_training(config, folder / "made")
        shutil.copytree(run.folder, folder / "runs" / name)
    rng = np.random.default_rng(0)
    data, target = rng.normal(size=(40, 6)), rng.normal(size=40)
    np.save(folder / "data.npy", data)
    np.save(folder / "target.npy", target)
    np.savez(folder / "data.npz", X=data, y=target)


def test_engines_that_the_documentation_names_exist():
    text = (ROOT / "docs/clusters.md").read_text(encoding="utf-8")
    for name in re.search(r"--engine ([a-z|]+)`", text)[1].split("|"):
        assert find_engine(name)


def test_the_runs_and_programs_of_the_small_study_are_counted():
    configs = read_study("quick").runs()
    text = " ".join((ROOT / "docs/studies.md").read_text(encoding="utf-8").split())
    assert f"the {len(configs)} runs of `quick` need three" in text
    assert len({config.program for config in configs}) == 3
