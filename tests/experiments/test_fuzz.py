"""Damaged files, some 2,500 of them: every reader answers, or refuses in one line."""

import random
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

from fake_dataset import fake_dataset
from freeproj.experiments.arrays import load_tree, save_tree
from freeproj.experiments.log import to_line
from freeproj.experiments.records import RunRecord, SetAside, read_record
from freeproj.experiments.settings import read_config, to_toml
from freeproj.experiments.store import load_records, save_records
from freeproj.experiments.study import read_study
from freeproj.experiments.tidy import read_csv
from freeproj.report.data_files import read_matrix

N_CASES = 320  # for each of eight readers
SPLINTERS = (
    b"\x00", b"\xff\xfe", b"\n", b'"', b"nan", b"inf", b"-1", b"1e999", b"9" * 400,
    b"[" * 3000, b"{" * 3000, b"[[a]]\n" * 3, b"1979-05-27T07:32:00Z", b"null", b"true",
    b"\x1b[31m", b"=1+1", "é\u202e".encode(), b"..", b"a:b", b"[1,2]", b'{"a":1}', b"",
)  # fmt: skip
TREE = [jnp.zeros(3), jnp.ones((2, 2))]
STUDY = (
    b'base = "smoke"\n[grid]\ntasks = ["HigherLower"]\nlengths = [1, 4]\nseeds = 2\n'
)


def mutated(seed: bytes, chance: random.Random) -> bytes:
    """Return a file with one to four wounds."""
    data = bytearray(seed)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + chance.choice((0, 1, 1, 2, 8, 60)))
        wound = chance.randrange(5)
        if wound == 0:
            del data[at:to]
        elif wound == 1:
            data[at:to] = chance.choice(SPLINTERS)
        elif wound == 2:
            data[at:to] = chance.randbytes(to - at)
        elif wound == 3:
            data[at:at] = data[chance.randrange(len(data) + 1) :][
                : chance.randrange(99)
            ]
        elif chance.random() < 0.3:
            del data[at:]
    return bytes(data)


def record_of(name):
    """Return a reader of a run's folder in which one file is the damaged one."""

    def read(path):
        folder = path.parent / f"run-{name}"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(to_toml(read_config("smoke")))
        (folder / name).write_bytes(path.read_bytes())
        assert isinstance(read_record(folder), RunRecord | SetAside)  # never an error

    return read


def seeds(folder):
    """Return a whole file of each kind."""
    data, tree = (
        fake_dataset({"projection.length": (1, 4)}, n_seeds=1),
        folder / "t.npz",
    )
    data.to_csv(folder / "d.csv")
    save_records(folder / "d.npz", {run.name: run for run in data.runs}, {})
    save_tree(tree, TREE)
    np.save(folder / "m.npy", np.arange(12.0).reshape(3, 4))
    rows = [{"update": n, "loss/value": n / 7, "x": [1.0, 2.0]} for n in (1, 2, 3)]
    times = [{"update": n, "time": 1.7e9 + n} for n in (1, 2, 3)]
    csv = b"\n".join((folder / "d.csv").read_bytes().split(b"\n")[:12]) + b"\n"
    return {
        "config": ("c.toml", to_toml(read_config("smoke")).encode(), read_config),
        "study": ("s.toml", STUDY, read_study),
        "log": ("l", b"".join(map(to_line, rows)), record_of("log.jsonl")),
        "timing": ("i", b"".join(map(to_line, times)), record_of("timing.jsonl")),
        "csv": ("d.csv", csv, read_csv),
        "dataset": ("d.npz", (folder / "d.npz").read_bytes(), load_records),
        "agent": ("t.npz", tree.read_bytes(), lambda path: load_tree(path, TREE)),
        "npy": ("m.npy", (folder / "m.npy").read_bytes(), read_matrix),
    }


KINDS = ("config", "study", "log", "timing", "csv", "dataset", "agent", "npy")


@pytest.mark.parametrize("kind", KINDS)
def test_readers_refuse_what_they_cannot_read(kind, tmp_path):
    name, seed, read = seeds(tmp_path)[kind]
    path, chance, refusals = tmp_path / name, random.Random(kind), []
    for case in range(N_CASES):
        path.write_bytes(mutated(seed, chance))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(path)
        except (ValueError, OSError) as error:
            refusals.append(str(error))
        except Exception as error:
            raise AssertionError(f"case {case} of {kind}: {error!r}") from error
    assert not any("allow_pickle" in text for text in refusals)
    if kind not in ("log", "timing"):
        assert len(refusals) > N_CASES / 10, "the wounds are too shallow"


def test_a_changed_log_line_is_noticed(tmp_path):
    """Change any one digit: the checksum does not fit."""
    line = to_line({"update": 1, "loss/value": 0.25}).decode()
    (tmp_path / "config.toml").write_text(to_toml(read_config("smoke")))
    for at in (i for i, sign in enumerate(line) if sign.isdigit()):
        other = "7" if line[at] != "7" else "3"
        changed = line[:at] + other + line[at + 1 :]
        (tmp_path / "log.jsonl").write_text(changed + line)
        assert read_record(tmp_path).health == "damaged"
