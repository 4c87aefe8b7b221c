"""The SLURM engine on a real SLURM of one node, started here where it can be.

It needs Debian's `slurmctld`, `slurmd`, `slurm-client` and `munge`, and root to start
them; everything of SLURM's but munge's key is in the test's own folder.
"""

import dataclasses
import os
import shlex
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("submitit")

import freeproj
from freeproj.experiments.engines import slurm
from freeproj.experiments.engines.local import run_local
from freeproj.experiments.engines.slurm import run_slurm
from freeproj.experiments.settings import read_config, run_name

COMMANDS = ("slurmctld", "slurmd", "munged", "sbatch", "srun", "squeue")
needs_slurm = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0 or not all(map(shutil.which, COMMANDS)),
    reason=f"needs root and {', '.join(COMMANDS)}",
)
SETTINGS = {"task": "HigherLower", "n_updates": 6, "evaluation.every": 3}
CONFIGS = [read_config("smoke", SETTINGS | {"seed": seed}) for seed in range(3)]
CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
CryptoType=crypto/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ReturnToService=2
MpiDefault=none
JobRequeue=1
KillWait=5
OverTimeLimit=0
SchedulerParameters=requeue_delay=1,batch_sched_delay=0
MaxArraySize=101
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=4000
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@pytest.fixture(scope="module")
def one_node(tmp_path_factory):
    """A SLURM of one node; its daemons end with the tests, by their pid files."""
    folder = tmp_path_factory.mktemp("slurm")
    for each in (*folder.parents, folder):
        if each.is_relative_to("/tmp"):
            each.chmod(0o755)  # munge does not trust a folder that others may write
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir()
    conf = folder / "slurm.conf"
    conf.write_text(
        CONF.format(host=socket.gethostname(), folder=folder, ports=free_ports())
    )
    env = {"SLURM_CONF": str(conf)}
    env["PYTHONPATH"] = os.pathsep.join(
        [str(Path(freeproj.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        try:
            start_daemons(folder)
            yield folder
        finally:
            stop_daemons(folder)


def start_daemons(folder):
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    command = ["munged", "--force", f"--key-file={key}"]
    for name in ("socket", "pid", "log", "seed"):
        option = name if name in ("socket",) else f"{name}-file"
        command.append(f"--{option}={folder}/munge.{name}")
    for daemon in (command, ["slurmctld"], ["slurmd", "-N", socket.gethostname()]):
        run = subprocess.run(daemon, capture_output=True, text=True, timeout=30)
        assert run.returncode == 0, run.stderr
    wait_until(lambda: "idle" in said("sinfo", "--noheader", "--format=%t"))


def stop_daemons(folder):
    for name in ("slurmd", "slurmctld", "munge"):
        pid = folder / f"{name}.pid"
        if pid.exists():
            os.kill(int(pid.read_text()), 15)
            wait_until(lambda pid=pid: not pid.exists(), 20)


def free_ports():
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def said(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout


def wait_until(condition, seconds=60):
    patience = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < patience
        time.sleep(0.1)


def files(out, config):
    folder = out / run_name(config)
    return [(folder / name).read_bytes() for name in ("log.jsonl", "agent.npz")]


@needs_slurm
@pytest.mark.slow
def test_runs_equal_those_of_the_local_engine(one_node, tmp_path):
    out, events = tmp_path / "slurm", []
    outcomes = run_slurm(
        CONFIGS, out, options={"mem_gb": 1}, array_size=2, report=events.append
    )
    assert [outcome.config for outcome in outcomes] == CONFIGS
    assert not any(outcome.error for outcome in outcomes), outcomes
    assert {event.kind for event in events} <= {"row", "done"}
    run_local(CONFIGS, tmp_path / "local")
    for config in CONFIGS:
        assert files(out, config) == files(tmp_path / "local", config)
    assert any((out / "slurm-logs").iterdir())


@needs_slurm
@pytest.mark.slow
@pytest.mark.timeout(3600)  # a job that is queued again waits for half a minute or more
def test_a_job_stopped_by_its_time_limit_resumes_bit_for_bit(one_node, tmp_path):
    # The limit is two minutes, and announced 60 to 90 s before, as SLURM looks twice a
    # minute. So the run has to take some two minutes, on a fast machine too.
    short = read_config("smoke", SETTINGS | {"n_updates": 1000, "evaluation.every": 0})
    begun = time.monotonic()
    run_local([short], tmp_path / "pace")
    n_updates = int(1000 * 120 / (time.monotonic() - begun))
    config = dataclasses.replace(short, n_updates=n_updates)
    out, options = tmp_path / "slurm", {"mem_gb": 1, "time": 2, "signal_delay_s": 60}
    (outcome,) = run_slurm([config], out, options=options)
    assert not outcome.error
    printed = [each.read_text() for each in (out / "slurm-logs").glob("*_log.*")]
    assert "this job is timed-out" in "".join(printed)
    assert "Requeued job" in "".join(printed)
    run_local([config], tmp_path / "local")
    assert files(out, config) == files(tmp_path / "local", config)


@needs_slurm
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_job_killed_without_warning_is_submitted_again(one_node, tmp_path):
    """As at a time limit whose announcement came too late, or with a lost node."""
    config = read_config("smoke", SETTINGS | {"n_updates": 3000, "evaluation.every": 0})
    out, events, killed = tmp_path / "slurm", [], []

    def report(event):
        events.append(event)
        if not killed and event.kind == "row":
            killed.extend(said("squeue", "--noheader", "--format=%A").split())
            subprocess.run(["scancel", *killed], check=True)

    (outcome,) = run_slurm([config], out, options={"mem_gb": 1}, report=report)
    assert len(killed) == 1
    assert not outcome.error
    assert [each.kind for each in events if each.kind != "row"] == ["retry", "done"]
    run_local([config], tmp_path / "local")
    assert files(out, config) == files(tmp_path / "local", config)


@needs_slurm
@pytest.mark.slow
def test_what_sbatch_refuses_is_one_line(one_node, tmp_path):
    with pytest.raises(ValueError, match="SLURM did not take the jobs"):
        run_slurm(CONFIGS[:1], tmp_path, options={"partition": "nowhere"})


def test_without_slurm_the_engine_says_what_it_needs(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="needs SLURM's commands"):
        run_slurm(CONFIGS, tmp_path)


def test_options_that_submitit_does_not_know_go_to_sbatch(monkeypatch, tmp_path):
    monkeypatch.setattr(slurm.submitit.SlurmExecutor, "affinity", lambda _self: 2)
    executor = slurm._executor(tmp_path, {"time": 7, "mem_gb": 1.5, "reservation": "a"})
    text = executor._make_submission_file_text("true", "0")
    for line in ("--time=7", "--mem=1536MB", "--reservation=a"):
        assert f"#SBATCH {line}" in text


def test_a_job_ignores_its_limit_until_submitit_listens(monkeypatch, tmp_path):
    monkeypatch.setattr(slurm.submitit.SlurmExecutor, "affinity", lambda _self: 2)
    python = slurm._executor(tmp_path, {}).python
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGUSR2); print('alive')"
    assert said("sh", "-c", f"{python} -u -c {shlex.quote(kill)}") == "alive\n"


def test_a_job_queues_itself_again_before_its_limit(tmp_path):
    runs = slurm._Runs(CONFIGS[:1], str(tmp_path))
    assert runs.checkpoint().function is runs
    assert runs.__submitit_checkpoint__().function is runs
