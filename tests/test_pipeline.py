"A whole run in small: killed at any moment it goes on, and the same parameters give the same table."
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from openadapt.core import read_jsonl
from openadapt.eci import Pool
from openadapt.grpo import STATE
from openadapt.pipeline import train_stage
from openadapt.world import LocalMechanism, Relay

ROOT = Path(__file__).parents[1]
SMALL = dict(validation_seeds=40, train_seeds=40, grpo_steps=6, groups=2, test_episodes=8, threads=1)


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    "A model with random weights: what it learns does not matter here."
    from openadapt.policy import make_model, make_tokenizer, world_texts
    folder = tmp_path_factory.mktemp("policy")
    pool = Pool(LocalMechanism(Relay))
    tokenizer = make_tokenizer(world_texts([pool.get(s, 1) for s in pool.seeds("train", 10)]))
    make_model(tokenizer, width=32, layers=1, heads=2).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def command(*args): return [sys.executable, "-m", "openadapt.cli", *args]


def start(*args, cwd=ROOT, **kw):
    return subprocess.Popen(command(*args), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **kw)


@pytest.fixture
def begin():
    "`start`, and an end for what is still running after the test."
    started = []
    yield lambda *args: started.append(start(*args)) or started[-1]
    for p in started:
        if p.poll() is None: os.killpg(p.pid, signal.SIGKILL)


def settings(policy): return [x for k, v in (SMALL | {"policy": str(policy)}).items() for x in ("--set", f"{k}={v}")]


def only_run(runs: Path) -> Path: return next(p.parent for p in runs.glob("*/params.yaml"))


def half_saved(run: Path) -> bool:
    "Whether a checkpoint is being written at this moment."
    return any(not (p / STATE).exists() for p in (run / "checkpoints").glob("checkpoint-*"))


def kill_all(process):
    "kill -9 to the command and to the kernel that it started."
    family = psutil.Process(process.pid)
    for p in [*family.children(recursive=True), family]: p.kill()
    process.wait()


def wait_for(condition, seconds, process):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        if condition(): return
        time.sleep(.01)
    assert condition(), (process.poll(), process.stderr.read() if process.poll() is not None else "")


@pytest.mark.slow
def test_kill_and_resume(policy, begin, tmp_path):
    "kill -9 during the validation, during GRPO and during the evaluation; the resumed run equals one that was left alone."
    whole = begin("run", "diagnose degraded services", "--runs", str(tmp_path / "a"), *settings(policy))
    broken = begin("run", "diagnose degraded services", "--runs", str(tmp_path / "b"), *settings(policy))
    wait_for(lambda: list((tmp_path / "b").glob("*/design.json")), 120, broken)
    run = only_run(tmp_path / "b")
    os.kill(broken.pid, signal.SIGKILL); broken.wait()
    for sign in (lambda: len(read_jsonl(run / "metrics.jsonl")) >= 3, lambda: half_saved(run), lambda: (run / "evaluation_cells.jsonl").exists()):
        broken = begin("run", "--resume", str(run))
        wait_for(sign, 240, broken)
        kill_all(broken)
    out, err = (broken := begin("run", "--resume", str(run))).communicate(timeout=300)
    assert broken.returncode == 0, err
    assert "report.html" in out and (run / "manifest.json").exists() and (run / "report.html").exists()
    assert whole.wait(300) == 0, whole.stderr.read()
    other = only_run(tmp_path / "a")
    assert [r["step"] for r in read_jsonl(run / "metrics.jsonl")] == list(range(1, 7))
    for name in ("reward", "loss", "tokens"):
        assert [r[name] for r in read_jsonl(run / "metrics.jsonl")] == [r[name] for r in read_jsonl(other / "metrics.jsonl")], name
    assert json.loads((run / "evaluation.json").read_text()) == json.loads((other / "evaluation.json").read_text())
    weights = (run / "trained" / "model.safetensors").read_bytes()
    shutil.rmtree(run / "trained"); (run / "training.json").unlink()        # as if killed between the last step and the end of the stage
    train_stage(run)
    assert (run / "trained" / "model.safetensors").read_bytes() == weights
    again = subprocess.run(command("run", "--resume", str(run)), cwd=ROOT, capture_output=True, text=True)
    assert again.returncode == 0 and "finished" in again.stdout


@pytest.mark.parametrize("args, words", [
    (["run", ""], "prompt"), (["run", "play chess"], "OPENADAPT_LLM"), (["run", "diagnose services", "--set", "sead=1"], "unknown parameter"),
    (["run", "diagnose services", "--set", "grpo_steps=many"], "must be int"),
    (["run", "diagnose services", "--set", "test_episodes=0"], "at least 1"),
    (["run", "diagnose services", "--set", "policy=nowhere"], "cannot be loaded"),
    (["run", "diagnose services", "--runs", "/proc/none"], "/proc/none"), (["run", "--resume", "nowhere"], "not a run"),
    (["validate", "nowhere"], "mechanism.py"), (["serve", "nowhere"], "openenv.yaml"), (["report", "nowhere"], "params.yaml"),
])
def test_bad_input(args, words, tmp_path):
    "One clear line, exit code 1, nothing left behind."
    done = subprocess.run(command(*args), cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and words in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not list(tmp_path.rglob("params.yaml"))
