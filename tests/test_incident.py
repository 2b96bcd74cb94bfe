"""Incident: contract, leaks, determinism and tiers, over more seeds than the notebook takes.
`python tests/test_incident.py` counts classes and accepted seeds into artifacts/metrics/incident.json."""
import ast, json, os, random, re, subprocess, sys
from collections import Counter
from pathlib import Path
import numpy as np
import pytest
import openadapt.incident as module
from openadapt.core import canonical, keyed_hash, keyed_rng, sha256_text, wilson, write_json
from openadapt.eci import TIERS, Rejected, prepare_tiers
from openadapt.incident import CALL_LOG, CALL_TRACE, CALM, CAUSES, CHANGES, CHATTER, FAMILIES, LAGGING, METRICS, OWN_LOG
from openadapt.incident import Incident, Telemetry, draw_graph
from openadapt.world import MAX_SIGNALS, LocalMechanism, View, all_calls, build_world, ceiling_player, code, draw_truth

SOURCE = Path(module.__file__)
incident = LocalMechanism(Incident)
scene_of = lambda seed: incident.scene(keyed_hash("scene", seed))

@pytest.fixture(scope="module")
def worlds(): return [build_world(incident, seed) for seed in range(200, 240)]

@pytest.fixture(scope="module")
def scenes(): return [scene_of(seed) for seed in range(400, 460)]

def test_source_stands_alone():
    nodes = [n for n in ast.walk(ast.parse(SOURCE.read_text())) if isinstance(n, (ast.Import, ast.ImportFrom))]
    imports = {n.names[0].name if isinstance(n, ast.Import) else n.module for n in nodes}
    assert imports <= set(sys.stdlib_module_names)
    run = ("import runpy, random, sys; m = runpy.run_path(sys.argv[1])['Mechanism'](); s = m.scene(random.Random(1))\n"
           "print(len(m.faults(s)), len(m.query(s, None, 'overview', {})))")
    out = subprocess.run([sys.executable, "-I", "-S", "-c", run, str(SOURCE)], capture_output=True, text=True, check=True)
    assert all(int(x) > 0 for x in out.stdout.split())

def test_every_class_of_the_taxonomy_but_two_faults_at_once():
    assert {r["id"] for r in CAUSES.values()} == {f"C{i:02}" for i in range(1, 35)}

def depth(calls: dict, e: str) -> int: return 1 + max([depth(calls, t) for t in calls[e]], default=0)

def test_size_of_the_graph(worlds):
    for seed in range(300):
        g = module.draw_graph(random.Random(seed))
        assert all(len(module.hosted(g, k)) >= 2 for k, kind in enumerate(g["kinds"]) if kind == "node")
    for w in worlds:
        kinds = Counter(w.scene["kind"].values())
        assert 6 <= len(w.entities) - kinds["node"] - kinds["monitor"] <= 12 and 2 <= kinds["node"] <= 4 and len(w.calls) <= 400
        assert depth(w.scene["depends_on"], w.scene["front"]) >= 4
        assert w.truth[0] != w.scene["front"] == w.brief["alert"]["source"]

def test_every_pair_differs_in_two_calls_and_every_fault_has_a_proof(worlds):
    for w in worlds:
        v = View(w)
        assert v.margin() >= 1 and v.route() >= 1
        for f, own in enumerate(w.codes):
            use = w.evidence & (own >= 0)
            calls = (w.incidence @ ((w.codes != own) & use).T.astype(np.float32) > 0).sum(0)
            assert np.delete(calls, f).min() >= 2, (w.seed, w.faults[f])
            assert (use & (own != w.healthy) & (np.delete(w.codes, f, 0) != own).all(0)).any(), (w.seed, w.faults[f])

def test_ceiling_player_solves(worlds):
    players = [ceiling_player(View(w), .001) for w in worlds]
    assert sum(p.fault == w.truth for p, w in zip(players, worlds)) / len(worlds) >= .98
    assert np.median([len(p.calls) for p in players]) <= 10

CONFUSABLE = [   # (one, other, the check that tells them apart, asked where the first would be)
    ("deploy_exception", "feature_flag", "rollout"), ("deploy_exception", "wrong_result", "rollout"), ("deploy_latency", "cpu_throttling", "code"),
    ("deploy_latency", "network_latency", "code"), ("deploy_latency", "slow_query", "code"), ("cpu_throttling", "traffic_surge", "resources"),
    ("cpu_throttling", "replicas_pending", "resources"), ("gc_pressure", "cpu_throttling", "runtime"),
    ("noisy_neighbour", "cpu_throttling", "resources"),
    ("noisy_neighbour", "disk_io_degraded", "resources"), ("bad_config", "network_policy_block", "rollout"), ("bad_config", "dns_failure", "rollout"),
    ("bad_config", "crash_at_startup", "rollout"), ("routing_mismatch", "crash_at_startup", "network"),
    ("routing_mismatch", "probe_misconfigured", "network"),
    ("credentials_expired", "certificate_expired", "security"), ("credentials_expired", "connection_limit_reached", "security"),
    ("clock_skew", "certificate_expired", "security"), ("memory_leak", "memory_limit_low", "runtime"),
    ("memory_limit_low", "crash_at_startup", "resources"),
    ("memory_leak", "gc_pressure", "runtime"), ("connection_pool_exhausted", "slow_query", "rollout"),
    ("connection_pool_exhausted", "fd_exhausted", "rollout"),
    ("connection_limit_reached", "slow_query", "traffic"), ("slow_query", "disk_io_degraded", "data"), ("slow_query", "cache_stampede", "data"),
    ("database_read_only", "disk_full", "runtime"), ("poison_message", "deploy_exception", "data"),
    ("provider_outage", "provider_throttling", "runtime"),
    ("provider_outage", "deploy_exception", "runtime"), ("retry_storm", "traffic_surge", "traffic"), ("retry_storm", "cache_stampede", "traffic"),
    ("network_latency", "node_link_slow", "network"), ("packet_loss", "conntrack_full", "network"),
    ("network_policy_block", "packet_loss", "security"),
    ("node_down", "telemetry_gap", "runtime"), ("node_down", "network_policy_block", "runtime"), ("false_alert", "deploy_exception", "traffic")]

@pytest.mark.parametrize("one, other, check", CONFUSABLE)
def test_a_second_query_separates_a_confusable_pair(scenes, one, other, check):
    "Somewhere the two are rivals of which a query without a check shows one symptom; wherever they are rivals the named check differs."
    met = agree = 0
    for scene in scenes:
        t, by = Telemetry(scene), {}
        for f, (alert, _) in scene["incidents"].items(): by.setdefault((f.split("|")[1], alert), []).append(f.split("|")[0])
        for a in {alert for _, alert in by}:
            for x in by.get((one, a), []):
                for y in by.get((other, a), []):
                    met += 1
                    p, q, key = t.differing((x, one)), t.differing((y, other)), ("inspect", x, check)
                    assert p.get(key, t.calm[key]) != q.get(key, t.calm[key]), (x, y)
                    said = lambda d, k: {(s["slot"], code(s)) for s in d[k]}
                    shared = [k for k in p.keys() & q.keys() if k[0] != "inspect" and (said(p, k) & said(q, k)) - said(t.calm, k)]
                    agree += bool(shared)
        if met > 40 and agree: break
    assert met and agree, (met, agree)

def test_every_cause_is_confusable(): assert {c for one, other, _ in CONFUSABLE for c in (one, other)} == set(CAUSES)

def test_no_label_outside_runbooks(worlds):
    fold = lambda t: re.sub(r"[-_\s]+", " ", t.casefold())
    labels = [fold(x) for c, r in CAUSES.items() for x in (c, *r["remedies"])]
    for w in worlds[:12]:
        texts = {s["text"] for table in w.tables for s in table.values() if s["kind"] != "runbook"}
        texts |= {w.brief["alert"]["text"], *w.entities}
        assert [(t, x) for t in texts for x in labels if x in fold(t)] == []

def test_texts_are_short_and_names_are_not_words_of_texts():
    texts = [t for said in (OWN_LOG, LAGGING, CALL_LOG, CALL_TRACE, CALM, CHANGES, module.UNIT, module.ALERTS) for t in said.values()]
    texts += [t for said in CHATTER.values() for t in said] + [t for r in CAUSES.values() for t in r["findings"].values()]
    texts += [t for pages in FAMILIES.values() for page in pages for t in page]
    assert max(len(t.split()) for t in texts) <= 8
    assert max(len(line.split()) for topic in CALM for _, line in module.book(topic)) <= 10
    names = [n for pool in module.POOLS.values() for n in pool]
    words = {w for t in texts for w in re.findall(r"[a-z0-9]+", t.lower())} | {m for ms in METRICS.values() for m in ms} | {*CALM, *CAUSES}
    assert set(names) & words == set() and len(names) == len(set(names)) > 100

def test_brief_says_only_its_class():
    for seed in range(30):
        scene = scene_of(seed)
        faults = incident.faults(scene)
        by_class = {}
        for b in incident.briefs(scene, faults): by_class.setdefault(b["alert_class"], set()).add(canonical(b))
        assert all(len(bs) == 1 for bs in by_class.values())
        sizes = Counter(b["alert_class"] for b in incident.briefs(scene, faults))
        assert min(sizes.values()) >= 8

def test_normal_day_is_calm_and_alarms_stay_in_their_band():
    for seed in range(60):
        g = scene_of(seed)["graph"]; day = module.calm_day(g)
        assert max(day["err"]) < .02 and max(day["busy"]) < .6 and module.flow(g, day, {}) == day
        for x, e in enumerate(g["edges"]):                      # consumers of a queue work closer to full
            assert day["call"][x] <= .85 * e[5] and day["use"][x] < (.75 if e[9] else .6)
    for seed in range(10):
        scene = scene_of(seed); g = scene["graph"]; day = module.calm_day(g)
        for f, (alert, strength) in scene["incidents"].items():
            site, cause = f.split("|")
            if scene["kind"][site] == "monitor": continue
            now = module.flow(g, day, module.strike(g, day, g["names"].index(site), cause, strength))
            points, ratio = now["err"][0] - day["err"][0], now["lat"][0] / day["lat"][0]
            assert points <= .39 and ratio <= 5 and (points >= .03 or ratio >= 1.5) and module.page(points, ratio) == alert

def test_propagation():
    "Asynchronous edges delay and do not fail; what a node breaks sits on that node; the dead say nothing."
    seen = Counter()
    for seed in range(40):
        scene = scene_of(seed); g = scene["graph"]; day = module.calm_day(g); t = Telemetry(scene)
        for i, kind in enumerate(g["kinds"]):
            if kind != "worker": continue
            now = module.flow(g, day, {"own": {i: .9}}); q = i - 1
            assert now["err"][q] == day["err"][q] and now["lat"][q] > day["lat"][q]; seen["async"] += 1
        for f in scene["incidents"]:
            site, cause = f.split("|")
            if cause == "node_down":
                for s in t.on[site]:
                    assert all("no data" in x["text"] for x in incident.query(scene, (site, cause), "metrics", {"service": s}))
                    log = incident.query(scene, (site, cause), "logs", {"service": s, "level": "error"})
                    assert [x["text"] for x in log] == ["no lines received"]
                seen["down"] += 1
            if cause == "noisy_neighbour":
                slow = {s for (s, check) in module.state_of(t, site, cause)["told"] if check == "runtime"}
                assert set(t.on[site]) <= slow; seen["noisy"] += 1
    assert min(seen[k] for k in ("async", "down", "noisy")) > 5

def test_a_false_alarm_is_contradicted_by_a_second_source():
    for seed in range(20):
        scene = scene_of(seed)
        for f in incident.faults(scene):
            if f[1] != "false_alert": continue
            state, front = module.state_of(Telemetry(scene), *f), scene["front"]
            assert {"errors", "p99"} & set(state["z"][front]) and not state["calls"]
            for verb, args in (("traces", {"service": front}), ("logs", {"service": front, "level": "error"})):
                assert incident.query(scene, f, verb, args) == incident.query(scene, None, verb, args)

def test_metrics_stay_in_their_range():
    for seed in range(20):
        scene = scene_of(seed); t = Telemetry(scene)
        for f in incident.faults(scene):
            for signals in t.differing(f).values():
                for x in signals:
                    for m, v in x["values"].items():
                        most = 1.1 if m in ("cpu", "memory", "pool", "sessions", "disk", "hits") else 100 if m == "errors" else 1e9
                        assert 0 <= v[0] <= most, (f, m, v)

def test_every_entity_has_changes_and_their_minutes_do_not_depend_on_the_fault(worlds):
    for w in worlds[:20]:
        changes = [r for r, (c, slot) in enumerate(w.readings) if w.calls[c][0] == "changes"]
        assert {w.tables[-1][r]["source"] for r in changes} == set(w.entities)
        for table in w.tables: assert [table[r]["at"] - w.tables[-1][r]["at"] for r in changes] == [0] * len(changes)
        assert all(at <= w.scene["onset"] for e in w.entities for _, at in w.scene["changes"][e][:2])

def test_queries_are_pure_and_survive_sorted_json():
    scene = scene_of(3)
    other = json.loads(json.dumps(scene, sort_keys=True))
    faults = incident.faults(scene)
    assert incident.faults(other) == faults
    state = random.getstate()
    calls = all_calls(incident.spec.queries, scene["entities"])
    first = canonical([[incident.query(scene, f, *c) for c in calls] for f in [faults[0], None]])
    random.seed(5)
    again = canonical([[incident.query(other, f, *c) for c in reversed(calls)][::-1] for f in [faults[0], None]])
    random.setstate(state)
    assert first == again and canonical(other) == canonical(scene)

def test_what_does_not_differ_is_the_same_object():
    scene = scene_of(5); calls = all_calls(incident.spec.queries, scene["entities"])
    calm = [incident.query(scene, None, *c) for c in calls]
    for f in incident.faults(scene)[::7]:
        replies = [incident.query(scene, f, *c) for c in calls]
        assert all((a is b) == (a == b) for a, b in zip(replies, calm)) and .5 < np.mean([a is b for a, b in zip(replies, calm)]) < 1

def pythons() -> list:
    "Interpreters from 3.10 on that are at hand: only the mechanism itself needs to run in them."
    return sorted(p for p in Path.home().glob(".pyenv/versions/3.*/bin/python") if int(p.parts[-3].split(".")[1]) >= 10)

def test_same_bytes_in_any_process_and_python():
    run = ("import hashlib, json, random, runpy, sys; M = runpy.run_path(sys.argv[1])['Mechanism']; m, h = M(), hashlib.sha256()\n"
           "for seed in range(3):\n"
           "    s = m.scene(random.Random(seed)); h.update(json.dumps(s, sort_keys=True).encode())\n"
           "    for f in [None, *m.faults(s)[::5]]:\n"
           "        for e in s['entities']:\n"
           "            for v, a in m.queries.items():\n"
           "                args = {k: e if d == 'entity' else d[len(e) % len(d)] for k, d in a.items()}\n"
           "                h.update(json.dumps(m.query(s, f, v, args), sort_keys=True).encode())\n"
           "print(sys.version_info[:2], h.hexdigest())")
    def ask(python, seed):
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": ""}
        return subprocess.check_output([str(python), "-c", run, str(SOURCE)], text=True, env=env)
    outs = [ask(sys.executable, seed) for seed in "01"] + [ask(python, "7") for python in pythons()]
    assert len({out.split()[-1] for out in outs}) == 1, outs

def test_the_same_transcript_by_another_process():
    run = ("from openadapt.core import canonical, sha256_text, keyed_hash; from openadapt.incident import Incident\n"
           "from openadapt.world import LocalMechanism; m = LocalMechanism(Incident); s = m.scene(keyed_hash('scene', 11))\n"
           "print(sha256_text(canonical([s, m.table(s, m.faults(s)[:6] + [None])])))")
    out = subprocess.check_output([sys.executable, "-c", run], text=True, env=os.environ | {"PYTHONHASHSEED": "3"})
    scene = scene_of(11)
    assert out == sha256_text(canonical([scene, incident.table(scene, incident.faults(scene)[:6] + [None])])) + "\n"

def test_the_prior_is_followed_and_change_induced_causes_lead():
    brought = sum(r["weight"] for r in CAUSES.values() if r["change"])
    assert brought / sum(r["weight"] for r in CAUSES.values()) > .6

def test_tiers_accept_most_seeds():
    accepted = Counter()
    for seed in range(300, 330):
        try: accepted.update(prepare_tiers(incident, seed).keys())
        except Rejected: pass
    assert min(accepted[eci] for eci in TIERS) >= .8 * 30

def test_a_node_without_instances_is_no_error():
    assert build_world(incident, 647).entities


def test_the_busiest_service_fits_a_reply():
    "Kind and calls of every service are at most eight signals, in any scene."
    most = max(max(Counter(i for i, _ in draw_graph(random.Random(s))["links"]).values()) for s in range(3000))
    assert most + 1 <= MAX_SIGNALS

def measure(n: int = 500, start: int = 10_000) -> dict:
    "Counts over fresh seeds: causes drawn, and what the tiers accept."
    drawn, accepted, why = Counter(), Counter(), Counter()
    for seed in range(start, start + n):
        scene = scene_of(seed)
        drawn[draw_truth(incident.spec, incident.faults(scene), keyed_rng("truth", seed))[1]] += 1
        try: accepted.update(prepare_tiers(incident, seed).keys())
        except Rejected as e: why[str(e).split(": ")[1]] += 1
    return {"seeds": [start, start + n], "rejected": dict(why), "accepted": {str(e): [accepted[e], n, *wilson(accepted[e], n)] for e in TIERS},
            "drawn": dict(drawn.most_common()), "expected": {c: round(n * r["weight"] / 105, 1) for c, r in CAUSES.items()}}

if __name__ == "__main__": write_json(Path(__file__).parent.parent / "artifacts/metrics/incident.json", measure())
