"Incident: contract, leaks, determinism and tiers, over more seeds than the notebook takes."
import ast, json, os, random, re, subprocess, sys
from collections import Counter
from pathlib import Path
import numpy as np
import pytest
import openadapt.incident as module
from openadapt.core import canonical, keyed_hash, sha256_text
from openadapt.eci import Rejected, prepare_tiers
from openadapt.incident import CALL_LOG, CALL_TRACE, CALM, CAUSES, CHANGES, CHATTER, LAGGING, OWN_LOG, Incident
from openadapt.world import LocalMechanism, View, all_calls, build_world, ceiling_player

SOURCE = Path(module.__file__)
incident = LocalMechanism(Incident)

@pytest.fixture(scope="module")
def worlds(): return [build_world(incident, seed) for seed in range(200, 240)]

def test_source_stands_alone():
    nodes = [n for n in ast.walk(ast.parse(SOURCE.read_text())) if isinstance(n, (ast.Import, ast.ImportFrom))]
    imports = {n.names[0].name if isinstance(n, ast.Import) else n.module for n in nodes}
    assert imports <= set(sys.stdlib_module_names)
    run = ("import runpy, random, sys; m = runpy.run_path(sys.argv[1])['Mechanism'](); s = m.scene(random.Random(1))\n"
           "print(len(m.faults(s)), len(m.query(s, None, 'overview', {})))")
    out = subprocess.run([sys.executable, "-I", "-S", "-c", run, str(SOURCE)], capture_output=True, text=True, check=True)
    assert all(int(x) > 0 for x in out.stdout.split())

def depth(calls: dict, e: str) -> int: return 1 + max([depth(calls, t) for t in calls[e]], default=0)

def test_size_of_the_graph(worlds):
    for w in worlds:
        assert 6 <= len(w.entities) <= 10 and len(w.calls) <= 140
        assert depth(w.scene["depends_on"], w.scene["front"]) >= 4
        assert w.truth[0] != w.scene["front"] == w.brief["alert"]["source"]
    assert {len(w.entities) for w in worlds} >= {7, 8, 9, 10}

def test_every_pair_differs_in_two_calls_and_every_fault_has_a_proof(worlds):
    for w in worlds:
        v = View(w)
        assert v.margin() >= 1 and v.route() >= 1
        for f, own in enumerate(w.codes):
            use = w.evidence & (own >= 0)
            calls = (v.incidence @ ((w.codes != own) & use).T.astype(np.float32) > 0).sum(0)
            assert np.delete(calls, f).min() >= 2, (w.seed, w.faults[f])
            assert (use & (own != w.healthy) & (np.delete(w.codes, f, 0) != own).all(0)).any(), (w.seed, w.faults[f])

def test_ceiling_player_solves(worlds):
    players = [ceiling_player(View(w), .001) for w in worlds]
    assert sum(p.fault == w.truth for p, w in zip(players, worlds)) / len(worlds) >= .98
    assert np.median([len(p.calls) for p in players]) <= 10

PAIRS = [("deploy_exception", "feature_flag"), ("deploy_latency", "cpu_throttling"), ("deploy_latency", "network_latency"),
         ("bad_config", "network_policy_block"), ("bad_config", "certificate_expired"), ("credentials_expired", "bad_config"),
         ("memory_leak", "crash_at_startup"), ("connection_pool_exhausted", "slow_query"), ("connection_limit_reached", "disk_full"),
         ("slow_query", "disk_io_degraded"), ("slow_query", "cache_stampede"), ("network_policy_block", "crash_at_startup"),
         ("provider_outage", "credentials_expired"), ("poison_message", "disk_io_degraded")]

@pytest.mark.parametrize("one, two", PAIRS)
def test_a_second_query_separates_a_confusable_pair(worlds, one, two):
    "Somewhere the two show the same symptom in one call; wherever they meet, at least two other calls tell them apart."
    shared = 0
    for w in worlds:
        of = lambda cause, w=w: [w.codes[f] for f in range(len(w.faults)) if w.faults[f][1] == cause]
        incidence = View(w).incidence
        for a in of(one):
            for b in of(two):
                same = incidence @ ((a == b) & (a != w.healthy) & (a >= 0) & w.evidence).astype(np.float32)
                apart = incidence @ ((a != b) & (a >= 0) & w.evidence).astype(np.float32)
                shared += bool((same > 0).any())
                assert (apart > 0).sum() >= 2
    assert shared > 0

def test_no_label_outside_runbooks(worlds):
    fold = lambda t: re.sub(r"[-_\s]+", " ", t.casefold())
    labels = [fold(x) for c, row in CAUSES.items() for x in (c, *row[5])]
    for w in worlds[:12]:
        texts = {s["text"] for table in w.tables for s in table.values() if s["kind"] != "runbook"}
        texts |= {w.brief["alert"]["text"], *w.entities}
        assert [(t, x) for t in texts for x in labels if x in fold(t)] == []

def test_texts_are_short_and_names_are_not_words_of_texts():
    texts = [t for said in (OWN_LOG, LAGGING, CALL_LOG, CALL_TRACE, CALM, CHANGES) for t in said.values()]
    texts += [*CHATTER, *(row[2] for row in CAUSES.values())]
    assert max(len(t.split()) for t in texts) <= 8
    pools = (module.FRONTS, module.APPS, module.DATABASES, module.CACHES, module.QUEUES, module.PROVIDERS)
    names = [n for pool in pools for n in pool]
    words = {w for t in texts for w in re.findall(r"[a-z0-9]+", t.lower())} | {m for ms in module.METRICS.values() for m in ms}
    words |= {*CALM, *CAUSES}
    assert set(names) & words == set() and len(names) == len(set(names)) > 100

def test_brief_says_only_its_class():
    for seed in range(30):
        scene = incident.scene(seed)
        faults = incident.faults(scene)
        by_class = {}
        for b in incident.briefs(scene, faults): by_class.setdefault(b["alert_class"], set()).add(canonical(b))
        assert all(len(bs) == 1 for bs in by_class.values())
        sizes = Counter(b["alert_class"] for b in incident.briefs(scene, faults))
        assert min(sizes.values()) >= 8

def test_normal_day_is_calm():
    for seed in range(100):
        rng = random.Random(seed); g = module.draw_graph(rng); day = module.draw_servers(rng, g)
        assert max(day["err"]) < .02 and max(day["busy"]) < .6 and max(day["use"], default=0) < .6 and max(day["late"]) == 0

def test_metrics_stay_in_their_range():
    for seed in range(20):
        scene = incident.scene(seed)
        for state in [{"z": {}}, *scene["incidents"].values()]:
            for e, kind in scene["kind"].items():
                shown = {m: module.reading(scene, state, e, m)[0] for m in module.METRICS[kind]}
                assert min(shown.values(), default=0) >= 0
                assert max([v for m, v in shown.items() if m in ("cpu", "memory", "pool", "sessions", "disk", "hits")], default=0) < 1.1

def test_every_service_has_changes_and_their_minutes_do_not_depend_on_the_fault(worlds):
    for w in worlds[:20]:
        changes = [r for r, (c, slot) in enumerate(w.readings) if w.calls[c][0] == "changes"]
        assert {w.tables[-1][r]["source"] for r in changes} == set(w.entities)
        for table in w.tables: assert [table[r]["at"] for r in changes] == [w.tables[-1][r]["at"] for r in changes]

def test_cause_is_seldom_the_loudest(worlds):
    loud = late = 0
    for w in worlds:
        s = w.scene; z = s["incidents"]["|".join(w.truth)]["z"]
        peak = {e: max([abs(x) for m, x in z.get(e, {}).items() if m != "self"], default=0) for e in s["entities"]}
        loud += max(peak, key=peak.get) == w.truth[0]
        late += max(s["entities"], key=lambda e: s["changes"][e][0][1]) == w.truth[0]
    assert loud / len(worlds) < .5 and late / len(worlds) < .35

def test_queries_are_pure_and_survive_sorted_json():
    scene = incident.scene(keyed_hash("scene", 3))
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

def test_same_bytes_in_any_process():
    run = ("from openadapt.core import canonical, sha256_text, keyed_hash; from openadapt.incident import Incident\n"
           "from openadapt.world import LocalMechanism; m = LocalMechanism(Incident); s = m.scene(keyed_hash('scene', 11))\n"
           "print(sha256_text(canonical([s, m.table(s, m.faults(s)[:6] + [None])])))")
    ask = lambda seed: subprocess.check_output([sys.executable, "-c", run], text=True, env=os.environ | {"PYTHONHASHSEED": seed})
    outs = {ask(seed) for seed in "01"}
    scene = incident.scene(keyed_hash("scene", 11))
    assert outs == {sha256_text(canonical([scene, incident.table(scene, incident.faults(scene)[:6] + [None])])) + "\n"}

def test_the_prior_is_followed_and_change_induced_causes_lead():
    brought = sum(row[4] for row in CAUSES.values() if row[3])
    assert brought / sum(row[4] for row in CAUSES.values()) > .6

def test_tiers_accept_most_seeds():
    accepted = Counter()
    for seed in range(300, 330):
        try: accepted.update(prepare_tiers(incident, seed).keys())
        except Rejected: pass
    assert min(accepted[eci] for eci in (1, 2, 3, 4, 5)) >= .8 * 30
