"""Write the numbers of the published studies into README and docs.

    python tools/write_answer.py

Replaces what stands between `<!-- NAME -->` and `<!-- end NAME -->`: the sentences of
the answers in README and docs/results.md, the whole tables in docs/tables.md, the rule
in docs/statistics.md. A test holds the files equal to what this would write, so no
number is copied by hand.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from freeproj.experiments.dataset import Dataset
from freeproj.findings.claims import opening
from freeproj.findings.labels import map_title, task_title, value_text
from freeproj.findings.numbers import PAPER_LENGTHS, PAPER_RESULTS
from freeproj.published import load, names
from freeproj.report.tables.grid import interval_text
from freeproj.report.tables.maps import MapRecord, map_records
from freeproj.stats.intervals import Summary, summarise

ROOT = Path(__file__).parents[1]
FILES = (
    "README.md",
    "docs/results.md",
    "docs/tables.md",
    "docs/statistics.md",
)
SHORT = (  # the README's answers; results.md has all
    "frame-invariance",
    "frame-reaches-plain",
    "ordinary-below-frame",
    "sign-slip",
    "haar-length",
    "storage",
)
LENGTHS = (1, 2, 4, 8)
FAMILY = "projection.family"
_Row = Iterable[str]


def main() -> None:
    """Write all files."""
    for name in FILES:
        path = ROOT / name
        path.write_text(filled(path.read_text()))
        print(path)


def filled(text: str) -> str:
    """Return a page with all of its blocks written anew."""
    for name, block in BLOCKS.items():
        marks = rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)"
        if re.search(marks, text, re.DOTALL):
            # Tables need an empty line around them; a list does not.
            gap = "" if name in ("answer", "short answer", "sentences") else "\n"
            body = f"{gap}{block()}\n{gap}"
            text = re.sub(
                marks, lambda m, b=body: f"{m[1]}{b}{m[2]}", text, flags=re.DOTALL
            )
    return text


def answer_block() -> str:
    """Return the opening answers in one short sentence each, as a numbered list."""
    return _listed(_led(each.headline) for each in opening())


def short_block() -> str:
    """Return the answers that the README's advice rests on."""
    return _listed(_led(each.headline) for each in opening() if each.name in SHORT)


def sentences_block() -> str:
    """Return the same answers in full."""
    return _listed(each.sentence for each in opening())


def _led(headline: str) -> str:
    """Set what is claimed in bold, before its numbers."""
    claim, colon, numbers = headline.partition(": ")
    return f"**{claim}**{colon}{numbers}" if numbers else headline


def _listed(sentences: Iterable[str]) -> str:
    return "\n".join(
        textwrap.fill(
            _unbroken(each),
            140,
            initial_indent=f"{n}. ",
            subsequent_indent="   ",
        )
        for n, each in enumerate(sentences, 1)
    )


def _unbroken(text: str) -> str:
    """Keep "ℓ > 1" and "10 %" on one line: a line must not begin with a sign."""
    return re.sub(
        r"(?<=ℓ) ([>=]) (?=\d)", "\u00a0\\1\u00a0", text.replace(" %", "\u00a0%")
    )


def basis_block() -> str:
    """Return how much the answer rests on."""
    studies = [load(name) for name in names()]
    runs = sum(len(study) for study in studies)
    hours = sum(study.meta["cpu_hours"] for study in studies)
    return f"({runs:,} runs of {len(studies)} studies, {hours:.0f} hours on one core)"


def studies_block() -> str:
    """Return the studies with seeds, steps and hours."""
    rows = []
    for study in map(load, names()):
        records = map_records(study)
        seeds = sorted({max(s.n for s in record.maps.values()) for record in records})
        steps = sorted({record.steps or 0 for record in records})
        rows.append(
            (
                f"`{study.meta['study']}`",
                f"{len(study)}",
                "–".join(str(n) for n in dict.fromkeys((seeds[0], seeds[-1]))),
                "–".join(
                    f"{n / 1e6:.2f}" for n in dict.fromkeys((steps[0], steps[-1]))
                ),
                f"{study.meta['cpu_hours']}",
                study.meta["date"],
            )
        )
    heads = (
        "study",
        "runs",
        "seeds per configuration",
        "million steps a run",
        "hours",
        "date",
    )
    return table(heads, rows)


def rule_block() -> str:
    """Return the rule by which questions are decided, in the words of the code."""
    from freeproj.findings.contrasts import AUDIT
    from freeproj.findings.questions import MARGIN
    from freeproj.stats import LEVEL, rule_text, verdicts

    body = str(verdicts.__doc__).split("\n\n", 1)[1].replace("p*", "p\\*")
    rows = [
        (each, rule_text(each, f"{MARGIN:.0%} of the headroom"))
        for each in verdicts.EXPECTS
    ]
    facts = (
        f"Level {LEVEL:.0%}; margin {MARGIN:.0%} of the headroom; audit "
        f"{AUDIT:.0%} of the headroom."
    )
    return "\n\n".join([body.strip(), facts, table(("expects", "rule"), rows)])


def verdicts_block() -> str:
    """Return every question that a published study answers, with its outcome."""
    from freeproj.findings.claims import ask_published

    rows = [
        (each.statement, f"`{each.study}`", str(each.outcome), each.numbers)
        for each in ask_published().values()
        if each.status == "answered"
    ]
    return table(("question", "study", "outcome", "what decided"), rows)


def paper_block() -> str:
    """Return Table 1 of the paper beside why-table-1: tile, bases redrawn."""
    rows = []
    for (task, method, memory), paper in PAPER_RESULTS.items():
        length = paper.length
        cell = {"task": task, "memory": memory, "redraw_every": 1}
        found = {
            str(record.settings["projection.family"]): record
            for record in _records("why-table-1", {**cell, "projection.length": length})
        }
        if found:
            ours = [found[family].maps["tile_unit"] for family in ("qr", "haar")]
            rows.append(
                (
                    task_title(task),
                    value_text("memory", memory),
                    f"{method} (ℓ = {length})",
                    *(f"{each / 16:.2f}" for each in (paper.mmer, paper.raw)),
                    *(_estimate(each) for each in ours),
                    _estimate(found["haar"].maps["random"]),
                    f"{ours[0].n}",
                    f"{(found['haar'].steps or 0) / 1e6:.2f}",
                )
            )
    heads = (
        "task",
        "memory",
        "method",
        "paper, MMER",
        "paper, raw",
        "ours, uncorrected QR, tile",
        "ours, Haar, tile",
        "ours, Haar, random projections",
        "seeds",
        "million steps",
    )
    return table(heads, rows)


def best_lengths_block() -> str:
    """Return Table 2 of the paper beside why-table-1: every length, bases redrawn."""
    rows = []
    for (task, memory), best in PAPER_LENGTHS.items():
        for family in ("qr", "haar"):
            cell = {"task": task, "memory": memory, "projection.family": family}
            found = {
                record.settings["projection.length"]: record.maps["tile_unit"]
                for record in _records("why-table-1", {**cell, "redraw_every": 1})
            }
            if found:
                matrices = value_text("projection.family", family)
                returns = (_estimate(found[length]) for length in LENGTHS)
                head = (task_title(task), value_text("memory", memory), matrices)
                rows.append((*head, f"{best}", *returns))
    heads = ("task", "memory", "matrices", "paper's ℓ*")
    return table((*heads, *(f"ℓ = {n}" for n in LENGTHS)), rows)


def signs_block() -> str:
    """Return ℓ = 1 on every map, uncorrected QR beside Haar."""
    records = _records("why-table-1", {"projection.length": 1})
    maps = ("tile_unit", "minus_tile", "random", "zero")
    rows = [
        (
            f"{_task(record)}, {_value(record, 'redraw_every')}",
            _value(record, "memory"),
            _value(record, "projection.family"),
            *(_estimate(record.maps[name]) for name in maps),
        )
        for record in sorted(records, key=lambda r: (_task(r), _bases(r), _memory(r)))
    ]
    return table(("task, bases", "memory", "matrices", *map(map_title, maps)), rows)


def words_block() -> str:
    """Return two card tasks at every length, beside the paper's numbers."""
    maps = ("tile_unit", "minus_tile", "random", "zero")
    rows = [
        (
            _task(record),
            _value(record, "memory"),
            _value(record, "redraw_every"),
            _value(record, "projection.family"),
            _value(record, "projection.length"),
            *(_estimate(record.maps[name]) for name in maps),
            f"{record.mmer.mean:.2f}",
            f"{record.flat()['paper_raw']:.2f}",
            f"{record.flat()['paper_mmer']:.2f}",
        )
        for task in ("HigherLower", "RepeatPrevious")
        for record in _records("why-table-1", {"task": task})
    ]
    heads = ("task", "memory", "bases", "matrices", "ℓ", *map(map_title, maps), "MMER")
    return table((*heads, "paper, raw", "paper, MMER"), rows)


def lengths_block() -> str:
    """Return Haar matrices, redrawn, at every length."""
    fresh = {"projection.family": "haar", "redraw_every": 1, "observation": "projected"}
    studies = [name for name in ("as-written", "why-table-1") if name in names()]
    rows = [
        (
            f"{task_title(task)} (`{study}`)",
            value_text("memory", memory),
            map_title(name),
            *(
                _estimate(
                    _one(study, {**fresh, "task": task, "memory": memory}, length).maps[
                        name
                    ]
                )
                for length in LENGTHS
            ),
        )
        for study in studies
        for task, memory in _arms(study)
        for name in (_first_map(study), "random")
    ]
    heads = ("task (study)", "memory", "projection")
    return table((*heads, *(f"ℓ = {n}" for n in LENGTHS)), rows)


def fixed_block() -> str:
    """Return what agents with fixed bases earn on random projections minus blanked."""
    whole, rows = load("why-table-1"), []
    for task, memory in _arms("why-table-1", redraw_every=0):
        dataset = whole.where(redraw_every=0, memory=memory)
        for family in ("qr", "haar"):
            found = [
                _gap(dataset, task, family, length, "random", "zero")
                for length in LENGTHS
            ]
            labels = (value_text("memory", memory), value_text(FAMILY, family))
            rows.append((task_title(task), *labels, *map(_estimate, found)))
    return table(("task", "memory", "matrices", *(f"ℓ = {n}" for n in LENGTHS)), rows)


def storage_block() -> str:
    """Return four stored matrices at every length."""
    rows = [
        (
            _value(record, "projection.length"),
            f"{4 ** record.settings['projection.length']:,}",
            *(_estimate(record.maps[name]) for name in ("random", "tile", "zero")),
        )
        for record in _records("storage", {})
    ]
    return table(("ℓ", "projections", "random projections", "tile", "blanked"), rows)


def context_block() -> str:
    """Return flash cards trial by trial, at every length, on unseen maps."""
    dataset, rows = load("in-context"), []
    for length in LENGTHS:
        runs = dataset.where(**{"projection.length": length}).runs
        for name in ("random", "zero"):
            returns = np.array(
                [run.metrics[f"test/{name}/trial_returns"][-3:].mean(0) for run in runs]
            )
            shown = [_estimate(summarise(column)) for column in returns.T]
            rows.append((str(length), map_title(name), *shown))
    n_trials = max(dataset.values("n_trials"))
    trials = [f"trial {n}" for n in range(1, n_trials + 1)]
    return table(("ℓ", "projection", *trials), rows)


def held_out_block(study: str = "held-out-task") -> str:
    """Return tasks that were not trained on, ℓ = 1 and 4."""
    rows = [
        (
            _task(record),
            _value(record, "projection.length"),
            *(_estimate(record.maps[name]) for name in ("random", "tile", "zero")),
            f"{record.levels.chance / record.levels.n_trials:.2f}",
        )
        for record in _records(study, {})
    ]
    return table(
        ("held out", "ℓ", "random projections", "tile", "blanked", "chance"), rows
    )


BLOCKS: Mapping[str, Callable[[], str]] = {
    "answer": answer_block,
    "short answer": short_block,
    "sentences": sentences_block,
    "basis": basis_block,
    "rule": rule_block,
    "verdicts": verdicts_block,
    "studies": studies_block,
    "paper": paper_block,
    "best-lengths": best_lengths_block,
    "signs": signs_block,
    "words": words_block,
    "lengths": lengths_block,
    "fixed": fixed_block,
    "storage": storage_block,
    "in-context": context_block,
    "held-out": held_out_block,
    "held-out-popgym": lambda: held_out_block("held-out-task-popgym"),
}


def table(heads: _Row, rows: Iterable[_Row]) -> str:
    """Return a pipe table; an interval, and "ℓ = 4", stay on one line."""
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    kept = re.compile(r"(?<=\[)-?[.\d]+, |ℓ = ")
    lines = [
        [kept.sub(lambda m: m[0].replace(" ", "\u00a0"), cell) for cell in line]
        for line in lines
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _records(study: str, settings: Mapping[str, Any]) -> list[MapRecord]:
    return map_records(load(study).where(**settings)) if study in names() else []


def _one(study: str, settings: Mapping[str, Any], length: int) -> MapRecord:
    (record,) = _records(study, {**settings, "projection.length": length})
    return record


def _arms(study: str, **settings: Any) -> list[tuple[str, str]]:
    """Return the pairs of task and memory of a study's runs, in their order."""
    groups = load(study).where(**settings).group_by("task", "memory")
    return [(str(task), str(memory)) for task, memory in groups]


def _first_map(study: str) -> str:
    return str(load(study).runs[0].settings["evaluation.maps"][0])


def _gap(
    dataset: Dataset, task: str, family: str, length: int, first: str, second: str
) -> Summary:
    chosen = dataset.where(
        **{"task": task, "projection.family": family, "projection.length": length}
    )
    a, b = (
        chosen.scores(f"test/{name}/episodes/episode_return", reduce="last3").values
        for name in (first, second)
    )
    return summarise((a - b) / chosen.runs[0].settings["n_trials"])


def _estimate(summary: Summary) -> str:
    return f"{round(summary.mean, 2) + 0.0:.2f} {interval_text(summary)}"


def _task(record: MapRecord) -> str:
    return task_title(str(record.settings["task"]))


def _memory(record: MapRecord) -> str:
    return str(record.settings.get("memory", ""))


def _bases(record: MapRecord) -> str:
    return str(record.settings.get("redraw_every", ""))


def _value(record: MapRecord, axis: str) -> str:
    return value_text(axis, record.settings.get(axis, ""))


if __name__ == "__main__":
    main()
