"Worlds are made fast, and stay what they were to the byte."
import json, os, subprocess, sys, time
from functools import partial
from pathlib import Path

import pytest

from openadapt.bench import items_per_second
from openadapt.core import OpenAdaptError, keyed_rng, sha256_text
from openadapt.eci import Pool
from openadapt.world import LocalMechanism, Relay, View, build_world, ceiling_player, freeze, oracle_calls

GOLDEN = "b2e42fa2eea834d2b4282c44b53fc593f915693d7ce84afb65c68141e55b68d7"     # from the table as it was first written, reading by reading


def edited(world):
    "A view with readings hidden, a rival's planted and health told, as a tier might."
    view, rng = View(world), keyed_rng("edits", world.seed)
    for r in rng.sample(sorted(view.shown), 12):
        rival, trial = rng.randrange(1, len(world.faults)), view.copy()
        trial.edit({r: rng.choice([None, world.tables[rival].get(r), world.tables[-1].get(r)])})
        if trial.provable(): view = trial
    return view


def test_worlds_are_byte_equal_to_the_first_ones():
    relay, made = LocalMechanism(Relay), []
    for seed in range(8):
        for view in (View(build_world(relay, seed)), edited(build_world(relay, seed))):
            player = ceiling_player(view, .05)
            lead = view.lead()
            made.append([freeze(view, 3, 20, len(player.calls) + 1, oracle_calls(view) or []).to_json(), player.calls, player.fault,
                         [view.margin(), view.route(), view.provable(), int(lead.sum())], world_table(view.world)])
    assert sha256_text(json.dumps(made)) == GOLDEN


def test_a_killed_worker_is_one_line():
    pool = Pool(LocalMechanism(Relay))
    with pytest.raises(OpenAdaptError, match="prepares worlds of relay was killed after 0 of 20 seeds"): pool.fill(range(20), partial(os._exit, 1))


def world_table(world): return [world.codes.tolist(), world.healthy.tolist(), world.evidence.tolist(), [sorted(t.items()) for t in world.tables]]


def test_the_command_measures_and_says_what_it_does_not_know(tmp_path):
    env, command = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}, [sys.executable, "-m", "openadapt.cli", "bench"]
    wrong = subprocess.run([*command, "speed"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (wrong.returncode, wrong.stderr) == (1, "openadapt: no benchmark is called 'speed': use env\n")
    done = subprocess.run([*command, "env", "--quick"], cwd=tmp_path, env=env, capture_output=True, text=True)
    record = json.loads((tmp_path / "artifacts/metrics/bench_env.json").read_text())
    assert done.returncode == 0 and set(record) == {"name", "command", "versions", "figures"} and record["command"] == "openadapt bench env --quick"
    for key, f in record["figures"].items():
        assert list(f)[:6] == ["value", "unit", "n", "low", "high", "goal"], key
        assert f["value"] is None and f["note"].startswith("not run") or f["n"] >= 1 and f["value"] >= 0, key
    assert {f"{env}.{key}" for env in ("incident_triage", "designed") for key in ("worlds.eci1", "worlds.eci5", "episode_resets", "openenv_steps")} \
        <= set(record["figures"])


def test_a_slow_data_set_is_given_up():
    "In the main thread: the time limit is an alarm, and nbdev_test runs notebooks beside it."
    class Slow:
        def __len__(self): return 1
        def __getitem__(self, i): time.sleep(9)
    assert items_per_second(list(range(10**6)), .01, 1.) > 0
    assert items_per_second(Slow(), .01, .05) == 0
