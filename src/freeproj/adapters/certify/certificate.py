"""A certificate: the verdict, the sentence that says it, and the card to keep."""

import html
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freeproj.adapters.certify import rule
from freeproj.adapters.certify.playing import Returns
from freeproj.adapters.certify.rule import Finding, Row
from freeproj.storage.checks import one_of
from freeproj.storage.files import write_atomically
from freeproj.storage.names import suggestion

__all__ = ["Certificate", "certificate"]

_STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.2rem .6rem;text-align:right;"
    "border-bottom:1px solid #ccc}td:nth-child(-n+2),th:nth-child(-n+2)"
    "{text-align:left}"
)


@dataclass(frozen=True)
class Certificate:
    """Whether an agent adapts: a verdict, the sentence that says it, and the table."""

    agent: str
    task: str
    n_episodes: int
    n_trials: int
    input_dim: int
    seed: int
    verdict: str  # one of `VERDICTS`
    sentence: str
    rows: tuple[Row, ...]

    def __getitem__(self, name: str) -> Row:
        rows = {row.name: row for row in self.rows}
        if name not in rows:
            near, names = suggestion(name, rows), ", ".join(rows)
            raise KeyError(f"No condition {name!r}.{near} Known: {names}.")
        return rows[name]

    def meets(self, requirement: str) -> bool:
        """Whether the verdict meets `uses`, `adapts` or `invariant`."""
        one_of(rule.REQUIREMENTS, requirement=requirement)
        return self.verdict in rule.REQUIREMENTS[requirement]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; what is missing is None."""
        return _plain(vars(self))

    def to_markdown(self) -> str:
        """Return the card in Markdown."""
        head, *lines = _cells(self)
        under = ["---", "---", *["---:"] * (len(head) - 2)]
        table = "\n".join(f"| {' | '.join(line)} |" for line in (head, under, *lines))
        return f"# {self._title}\n\n**{self.sentence}**\n\n{table}\n\n{_note(self)}\n"

    def to_html(self) -> str:
        """Return the card as a page that needs no other file."""
        title = html.escape(self._title)
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}'
            f"</title><style>{_STYLE}</style><body>{self._repr_html_()}</body></html>\n"
        )

    def save(self, path: str | Path) -> Path:
        """Write the card; the name's end says how: .md, .html or .json."""
        path = Path(path)
        writers = {".md": self.to_markdown, ".html": self.to_html}
        writers[".json"] = lambda: json.dumps(self.to_dict(), indent=2) + "\n"
        if path.suffix not in writers:
            raise ValueError(f"A card ends in .md, .html or .json, got {path}.")
        text = writers[path.suffix]()
        write_atomically(path, lambda file: file.write(text.encode()))
        return path

    def __str__(self) -> str:
        # What a condition is stands in cards only.
        lines = [[name, *numbers] for name, _, *numbers in _cells(self)]
        first, *others = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join([name.ljust(first), *map(str.rjust, numbers, others)])
            for name, *numbers in lines
        ]
        return "\n".join([self._title, "", *table, "", self.sentence])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *lines = [[html.escape(cell) for cell in row] for row in _cells(self)]
        rows = "".join(f"<tr><td>{'</td><td>'.join(line)}</td></tr>" for line in lines)
        return (
            f"<h3>{html.escape(self._title)}</h3>"
            f"<p><strong>{html.escape(self.sentence)}</strong></p>"
            f"<table><tr><th>{'</th><th>'.join(head)}</th></tr>{rows}</table>"
            f"<p>{html.escape(_note(self))}</p>"
        )

    @property
    def _title(self) -> str:
        return f"Does it adapt? {self.agent} on {self.task}"


def certificate(
    agent: str, task: str, input_dim: int, seed: int, returns: Mapping[str, Returns]
) -> Certificate:
    """Judge what an agent earned in each trial."""
    n_episodes, n_trials = returns["plain"].shape
    rows, finding = rule.table(returns), rule.judge(returns)
    sentence = _sentence({row.name: row for row in rows}, finding, n_episodes)
    sizes = n_episodes, n_trials, input_dim, seed
    return Certificate(agent, task, *sizes, finding.verdict, sentence, rows)


def _sentence(rows: dict[str, Row], finding: Finding, n_episodes: int) -> str:
    """Say the verdict with the numbers that decided it."""
    verdict, reference = finding.verdict, rows[finding.reference]
    random, blanked = rows["random"], rows["blanked"]
    says = rule.VERDICTS[verdict].capitalize()
    if verdict == "ignores":
        return (
            f"{says}: it earns {_number(reference.value.mean)} a trial with it "
            f"({reference.name}) and {_number(blanked.value.mean)} when it is blanked."
        )
    if verdict == "invariant":
        return (
            f"{says}: under {n_episodes} unseen random projections "
            f"{_percent(random.equal)} of its trials earn exactly what they earn in "
            f"plain (return of a trial: {_number(random.value.mean)}; blanked "
            f"{_number(blanked.value.mean)})."
        )
    share = finding.share
    kept = (
        f"{says}: under {n_episodes} unseen random projections it keeps "
        f"{_percent(share.mean)} [{_percent(share.low)}, {_percent(share.high)}] of "
        f"what its observation is worth (return of a trial: "
        f"{_number(random.value.mean)}; {reference.name} "
        f"{_number(reference.value.mean)}, blanked {_number(blanked.value.mean)})"
    )
    if verdict != "adapts" or math.isnan(random.slope.mean):
        return f"{kept}."
    rises = "rises" if random.slope.low > 0 else "shows no rise"
    mean, low, high = (_number(each, "+") for each in random.slope)
    return f"{kept}; its return {rises} over trials ({mean} [{low}, {high}] a trial)."


def _cells(card: Certificate) -> list[list[str]]:
    """Return the table as text, its head first."""
    head = ["condition", "what the agent sees", "return", "95 % interval"]
    lines = [[*head, "of plain", "first", "last", "slope", "equal"]]
    for row in card.rows:
        mean, low, high = map(_number, row.value)
        cells = [row.name, row.what, mean, f"[{low}, {high}]", _percent(row.share.mean)]
        cells += [_number(row.first), _number(row.last), _number(row.slope.mean, "+")]
        lines.append([*cells, _percent(row.equal)])
    return lines


def _note(card: Certificate) -> str:
    return (
        f"{card.n_episodes} episodes of {card.n_trials} trials under each condition, "
        f"seed {card.seed}, the same starts and noise; the agent sees {card.input_dim} "
        "numbers. Return: the sum of rewards of a trial, in the task's own units, with "
        "its 95 % interval over episodes. Of plain: (return - blanked) / (plain - "
        "blanked). First, last: the return of an episode's first and last trial. "
        "Slope: the rise of the return from one trial to the next. Equal: the share of "
        "trials that earn exactly what they earn in plain."
    )


def _number(value: float, sign: str = "") -> str:
    if not math.isfinite(value):
        return "–"
    return f"{value:{sign}.3f}" if abs(value) < 10 else f"{value:{sign}.1f}"


def _percent(value: float) -> str:
    # Adding 0 turns -0 into 0.
    return f"{round(100 * value) + 0} %" if math.isfinite(value) else "–"


def _plain(value: Any) -> Any:
    """Return plain values in which what is not finite is None."""
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    is_missing = isinstance(value, float) and not math.isfinite(value)
    return None if is_missing else value
