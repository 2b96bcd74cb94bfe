"""Packages: rendering, serving, clients, OpenEnv's checks.

`python tests/test_package.py` renders openadapt/envs/incident_triage afresh, after a change of incident.py or of the templates."""
import inspect, json, os, re, signal, socket, subprocess, sys, time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import openadapt
from openadapt.core import OpenAdaptError
from openadapt.package import package_files, read_names, render_package, runtime_checks, safe_names, serve, served, static_checks
from openadapt.world import Relay, call_key

HOME = Path(openadapt.__file__).parent
SEED = HOME / "envs" / "incident_triage"
SEED_CARD = {"prompt": "Train an agent to diagnose degraded production services", "designer": "people", "notebook": "nbs/20_incident.ipynb"}
RELAY = inspect.getsource(Relay).replace("class Relay", "class Mechanism")


def seed_source(): return (HOME / "incident.py").read_text(encoding="utf-8")

def on_disk(root):
    found = [p for p in root.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return {p.relative_to(root).as_posix(): p.read_text(encoding="utf-8") for p in found}

def load(package):
    "Import a package from its folder, under the name of the folder."
    spec = spec_from_file_location(package.name, package / "__init__.py", submodule_search_locations=[str(package)])
    sys.modules[package.name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def url():
    with served(SEED) as url: yield url

@pytest.fixture(scope="module")
def relay(tmp_path_factory):
    return render_package(tmp_path_factory.mktemp("packages") / "relay", RELAY, {"prompt": "a row of machines"}, {"ok": True})


# Rendering

def test_the_seed_package_is_rendered_from_its_source():
    assert on_disk(SEED) == package_files(seed_source(), SEED_CARD, vendor=False), "run: python tests/test_package.py"


def test_a_package_is_whole(relay):
    assert on_disk(relay) == package_files(RELAY, {"prompt": "a row of machines"}, {"ok": True})
    assert json.loads((relay / "certificate.json").read_text()) == {"ok": True} and "certificate.json" not in package_files(RELAY, {})
    assert (relay / "vendor/openadapt/sandbox.py").exists() and list((relay / "vendor/openadapt/jail").iterdir())
    for p in relay.rglob("*"): assert "__NAME__" not in p.name and not p.is_symlink()


def test_requirements_are_those_of_settings():
    settings = (HOME.parent / "settings.ini").read_text()
    wanted = re.findall(r'^    "([^"]+)",$', package_files(RELAY, {}, vendor=False)["pyproject.toml"], re.M)
    assert len(wanted) == 6 and all(f"    {w}\n" in settings for w in wanted)
    assert all(f'"{w}"' in package_files(RELAY, {}, vendor=False)["server/Dockerfile"] for w in wanted)


def test_an_interrupted_render_leaves_the_old_package(tmp_path, monkeypatch):
    package = render_package(tmp_path / "p", RELAY, {"version": 1}, vendor=False)
    before, write, n = on_disk(package), Path.write_text, []
    def torn(self, *args, **kwargs):
        n.append(self)
        if len(n) > 5: raise KeyboardInterrupt
        return write(self, *args, **kwargs)
    monkeypatch.setattr(Path, "write_text", torn)
    for target in ("p", "new"):
        n.clear()
        with pytest.raises(KeyboardInterrupt): render_package(tmp_path / target, RELAY, {"version": 2}, vendor=False)
    assert on_disk(package) == before and [p.name for p in tmp_path.iterdir()] == ["p"]


def test_a_killed_render_leaves_nothing_that_looks_whole(tmp_path):
    write, n = Path.write_text, []
    def killed(self, *args, **kwargs):
        n.append(write(self, *args, **kwargs))
        if len(n) == 8: os.kill(os.getpid(), signal.SIGKILL)
    if not (child := os.fork()):
        Path.write_text = killed
        render_package(tmp_path / "p", RELAY, {}, vendor=False)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not (tmp_path / "p").exists() and not list(tmp_path.rglob("openenv.yaml"))


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    for target in (tmp_path / "file" / "p", tmp_path / "file"):
        with pytest.raises(OpenAdaptError, match="file") as e: render_package(target, RELAY, {})
        assert "\n" not in str(e.value)


@given(st.text() | st.text("class Mechanism:=()[]{}'\"\n name 1,", max_size=80).map(lambda t: "class Mechanism:\n " + t))
@settings(max_examples=150, deadline=None)
def test_reading_a_source_never_breaks(source):
    try: read_names(source)
    except OpenAdaptError: pass


@given(st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", fullmatch=True))
def test_safe_names_are_safe(name):
    names = safe_names(name)
    assert names["NAME"].isidentifier() and names["CLASS"].isidentifier() and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", names["PROJECT"])


# OpenEnv's checks

def test_openenv_validate_passes_on_the_seed_package():
    from openenv.cli.__main__ import app
    from typer.testing import CliRunner
    done = CliRunner().invoke(app, ["validate", str(SEED), "--level", "static"])
    assert done.exit_code == 0, done.output
    assert [c[:2] for c in static_checks(SEED)] == [("static.manifest", "PASS")]


def test_runtime_checks_pass_on_a_rendered_package(relay):
    found = {c: v for c, v, _ in runtime_checks(relay)}
    for check in ("static.manifest", "runtime.startup", "runtime.reward_well_formed", "runtime.observation_schema", "runtime.state_contract"):
        assert found[check] == "PASS", check
    assert set(found.values()) == {"PASS", "SKIP"}


def test_a_broken_server_is_told_in_its_own_words(tmp_path):
    broken = render_package(tmp_path / "broken", RELAY, {}, vendor=False)
    (broken / "server" / "app.py").write_text("raise RuntimeError('no luck')\n")
    with pytest.raises(OpenAdaptError, match="did not start: RuntimeError: no luck"), served(broken): pass


# Serving

def answer(world, **more):
    return {"action_type": world.spec.submit, "params": dict(zip(world.spec.fields, (*world.truth, world.allowed_remedies[0]))) | more}

@pytest.fixture(scope="module")
def incident():
    from openadapt.eci import Pool
    from openadapt.incident import Incident
    from openadapt.world import LocalMechanism
    return Pool(LocalMechanism(Incident))


def test_openenv_probes_the_running_server(url):
    from openenv.cli._validation import validate_running_environment
    report = validate_running_environment(url, timeout_s=30)
    assert report["passed"], [c for c in report["criteria"] if not c["passed"]]


def test_the_typed_client_plays(url, incident):
    from openadapt.envs.incident_triage import IncidentTriageEnv, InvestigationAction, InvestigationObservation
    seed = incident.seeds("train", 1)[0]; world = incident.get(seed, 3)
    with IncidentTriageEnv(base_url=url).sync() as env:
        seen = env.reset(seed=seed, eci=3, episode_id="mine")
        assert isinstance(seen.observation, InvestigationObservation) and seen.observation.context["eci"] == 3 and seen.reward == 0.0
        for verb, args in world.oracle: step = env.step(InvestigationAction(action_type=verb, params=args))
        assert [list(s.values()) for s in step.observation.context["signals"]] == [s[:5] for s in world.replies[call_key(verb, args)]]
        state = env.state()
        assert (state.episode_id, state.step_count, state.eci, len(state.history)) == ("mine", len(world.oracle), 3, len(world.oracle))
        end = env.step(InvestigationAction(**answer(world), confidence=1.0, reasoning="seen"))
    assert end.done and end.observation.done and end.reward == end.observation.reward > .8
    assert end.metadata == end.observation.metadata and end.metadata["solve_rate_signal"] == 1.0
    assert sum(end.observation.metadata["reward_breakdown"].values()) == pytest.approx(end.reward)


def test_the_generic_client_plays(url, incident):
    from openenv.core import GenericEnvClient
    seed = incident.seeds("train", 1)[0]; world = incident.get(seed, 1)
    with GenericEnvClient(base_url=url).sync() as env:
        assert env.reset(seed=seed, eci=1).observation["text"].startswith("alert")
        assert env.step({"raw_response": "not json"}).metadata["reward_breakdown"]["penalty"] < 0
        with pytest.raises(RuntimeError): env.step({"no_such_field": 1})           # refused by the schema; the session goes on
        with pytest.raises(RuntimeError): env.reset(seed=seed, eci=9)
        end = env.step(answer(world, evidence="none"))
        assert end.done and end.metadata["end_reason"] == "submitted" and end.metadata["reward_breakdown"]["correctness"] == .5
        assert env.step(answer(world)).reward == 0.0
        assert world.truth[1] not in json.dumps(env.reset(seed=seed, eci=1).observation["context"])


def test_sessions_do_not_touch_each_other(url, incident):
    from openenv.core import GenericEnvClient
    seeds = incident.seeds("validation", 3)
    def play(i):
        world = incident.get(seeds[i % 3], 1 + i % 2)
        with GenericEnvClient(base_url=url).sync() as env:
            texts = [env.reset(seed=world.seed, eci=world.eci).observation["text"]]
            for key in sorted(world.replies)[i % 3:20:3]:
                verb, _, args = key.partition("|")
                texts.append(env.step({"action_type": verb, "params": args}).observation["text"])
            return texts + [env.step(answer(world)).reward]
    alone = [play(i) for i in range(6)]
    with ThreadPoolExecutor(12) as many: assert list(many.map(play, list(range(6)) * 2)) == alone * 2


def test_a_rendered_package_runs_on_what_it_carries(relay):
    "As in an image: OpenAdapt comes from vendor/, the package from its folder."
    code = ("import openadapt, server.app; from server.environment import RelayEnvironment as E\n"
            "print(openadapt.__file__, E().reset(seed=7, eci=5).text)")
    env = os.environ | {"PYTHONPATH": str(relay / "vendor")}
    done = subprocess.run([sys.executable, "-c", code], cwd=relay, env=env, capture_output=True, text=True)
    assert done.stdout.startswith(f"{relay / 'vendor'}{os.sep}") and "alert" in done.stdout, done.stderr


def test_a_server_ends_with_its_parent_and_clients_import_anywhere(relay):
    reader, writer = os.pipe()
    if not (parent := os.fork()):
        with served(relay) as url: os.write(writer, url.encode() + b"\n"); time.sleep(600)
    try:
        with open(reader) as pipe: url = pipe.readline().strip()
        with load(relay).RelayEnv(base_url=url).sync() as env: assert env.reset(seed=7).observation.max_steps > 0
    finally: os.kill(parent, signal.SIGKILL); os.waitpid(parent, 0); os.close(writer)
    port, deadline = int(url.rsplit(":", 1)[1]), time.monotonic() + 10
    while time.monotonic() < deadline:
        try: socket.create_connection(("127.0.0.1", port), 1).close()
        except ConnectionRefusedError: return
        time.sleep(.1)
    pytest.fail("the server outlived its parent")


def test_serve_tells_what_is_wrong_in_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port, host in ((taken.getsockname()[1], "127.0.0.1"), (70000, "127.0.0.1"), (8000, "no.such.host.invalid")):
            with pytest.raises(OpenAdaptError, match="cannot listen on") as e: serve(SEED, host, port)
            assert "\n" not in str(e.value)
    broken = render_package(tmp_path / "broken", RELAY, {}, vendor=False)
    (broken / "server" / "app.py").write_text("raise SystemExit(3)")
    with pytest.raises(OpenAdaptError, match="exit code 3"): serve(broken, port=0)
    for call in (serve, static_checks, lambda d: served(d).__enter__()):
        with pytest.raises(OpenAdaptError, match="not an OpenEnv package"): call(tmp_path)


if __name__ == "__main__": print(render_package(SEED, seed_source(), SEED_CARD, vendor=False))
