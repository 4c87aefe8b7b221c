"""Damaged files, over 3,000 of them: every reader answers, or refuses in one line."""

import io
import random
import warnings
import zipfile

import jax.numpy as jnp
import numpy as np
import pytest

from fake_dataset import fake_dataset
from freeproj.experiments.agents import _texts, load_agent
from freeproj.experiments.arrays import load_tree, save_tree
from freeproj.experiments.log import to_line
from freeproj.experiments.records import RunRecord, SetAside, read_record
from freeproj.experiments.settings import read_config, to_toml
from freeproj.experiments.store import load_records, save_records
from freeproj.experiments.study import read_study
from freeproj.report.data_files import read_matrix
from freeproj.storage import arrays
from freeproj.storage.saved import load_numbers, save_numbers
from freeproj.storage.toml import parse_toml

N_CASES = 320  # for each of ten readers
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
    save_records(folder / "d.npz", {run.name: run for run in data.runs}, {})
    save_tree(tree, TREE)
    np.save(folder / "m.npy", np.arange(12.0).reshape(3, 4))
    rows = [{"update": n, "loss/value": n / 7, "x": [1.0, 2.0]} for n in (1, 2, 3)]
    times = [{"update": n, "time": 1.7e9 + n} for n in (1, 2, 3)]
    save_tree(folder / "e.npz", TREE, {"config": "seed = 1", "card": '{"a": 1}'})
    save_numbers({"figure": np.array("x"), "y": np.ones(3)}, folder / "n.npz")
    return {
        "config": ("c.toml", to_toml(read_config("smoke")).encode(), read_config),
        "study": ("s.toml", STUDY, read_study),
        "log": ("l", b"".join(map(to_line, rows)), record_of("log.jsonl")),
        "timing": ("i", b"".join(map(to_line, times)), record_of("timing.jsonl")),
        "dataset": ("d.npz", (folder / "d.npz").read_bytes(), load_records),
        "agent": ("t.npz", tree.read_bytes(), lambda path: load_tree(path, TREE)),
        "npy": ("m.npy", (folder / "m.npy").read_bytes(), read_matrix),
        "card": ("e.npz", (folder / "e.npz").read_bytes(), _texts),
        "numbers": ("n.npz", (folder / "n.npz").read_bytes(), load_numbers),
        "mark": ("j", b'{"update": 2, "reason": "x"}', record_of("diverged.json")),
    }


KINDS = (
    *("config", "study", "log", "timing", "dataset"),
    *("agent", "npy", "card", "numbers", "mark"),
)


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
    if kind not in ("log", "timing", "mark"):
        assert len(refusals) > N_CASES / 10, "the wounds are too shallow"


def test_a_changed_log_line_is_noticed(tmp_path):
    """Change any one digit: the checksum does not match."""
    line = to_line({"update": 1, "loss/value": 0.25}).decode()
    (tmp_path / "config.toml").write_text(to_toml(read_config("smoke")))
    for at in (i for i, sign in enumerate(line) if sign.isdigit()):
        other = "7" if line[at] != "7" else "3"
        changed = line[:at] + other + line[at + 1 :]
        (tmp_path / "log.jsonl").write_text(changed + line)
        assert read_record(tmp_path).health == "damaged"


def archive_of(name, claimed):
    """Return an .npz file whose one array claims a shape that is not there."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (claimed,)}
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(f"{name}.npy", header.getvalue() + bytes(64))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("00000", lambda path: load_tree(path, TREE)),
        ("values", load_records),
        ("config", load_agent),
        ("y", load_numbers),
        ("y", read_matrix),
    ],
)
def test_a_claim_of_terabytes_takes_no_memory(name, read, tmp_path):
    path = tmp_path / "claim.npz"
    path.write_bytes(archive_of(name, claimed=10**12))
    with pytest.raises(ValueError, match=r"claim\.npz"):
        read(path)


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "MAX_BYTES", 2**20)
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, y=np.zeros(2**18))
    assert path.stat().st_size < 2**12
    with pytest.raises(ValueError, match=r"bomb\.npz is not"):
        load_numbers(path)


@pytest.mark.parametrize("key", ["a." * 9999, '"a b".' * 9999])
def test_a_key_of_thousands_of_parts_takes_no_time(key):
    with pytest.raises(ValueError, match="more than 200 dots"):
        parse_toml(f"{key}a = 1", "x.toml")


def test_a_line_without_end_is_not_read(tmp_path):
    (tmp_path / "run").mkdir()
    with open(tmp_path / "run" / "config.toml", "wb") as file:
        file.truncate(2**40)
    assert read_record(tmp_path / "run").health == "foreign"


@pytest.mark.parametrize(
    "row",
    [
        {"update": 10**30},
        {"update": 1, "x": 10**400},
        {"update": 1, "x": [1, [2]]},
        {"update": 1, "x": [{}]},
    ],
)
def test_numbers_beyond_all_bounds_are_damage(row, tmp_path):
    (tmp_path / "config.toml").write_text(to_toml(read_config("smoke")))
    (tmp_path / "log.jsonl").write_bytes(to_line(row))
    assert read_record(tmp_path).health == "damaged"


def test_words_beyond_counting_are_foreign(tmp_path):
    text = to_toml(read_config("smoke")).replace("length = 4", "length = 1000000000")
    (tmp_path / "config.toml").write_text(text)
    record = read_record(tmp_path)
    assert record.health == "foreign"
    assert "too many to count" in record.reason
