"Evaluation and report under odd conditions. The run folders here are SYNTHETIC: made-up numbers that only exercise the drawing."
import json, math, random, re, shutil
from html.parser import HTMLParser
import pytest
from openadapt.core import OpenAdaptError, append_jsonl, split_of, write_json
from openadapt.eci import Pool
from openadapt.env import Episode
from openadapt.evaluate import evaluate, markdown_table, oracle_player, paired, rich_table, scripted
from openadapt.report import esc, write_report
from openadapt.world import LocalMechanism, Relay

@pytest.fixture(scope="module")
def pool(): return Pool(LocalMechanism(Relay))

def guess(episode, rng):
    from openadapt.shortcuts import answer
    return answer(episode, rng.choice(episode.entities), rng.choice(list(episode.spec.remedies)), "service_belt", [], rng.random(), "a guess")

def counted(player, seen):
    def play(worlds): seen.extend((w.seed, w.eci) for w in worlds); return player(worlds)
    return play

def test_only_test_seeds_and_equal_for_all(pool, tmp_path):
    seen = {"guess": [], "oracle": []}
    players = {"guess": counted(scripted(guess, "guess"), seen["guess"]), "oracle": counted(oracle_player, seen["oracle"])}
    rows = evaluate(players, pool, tmp_path / "evaluation.json", (1, 4), n=20, batch=7)
    assert seen["guess"] == seen["oracle"] and len(seen["guess"]) == 40
    assert {split_of(s) for s, _ in seen["guess"]} == {"test"} and {r["n"] for r in rows} == {20}
    assert json.loads((tmp_path / "evaluation.json").read_text()) == sorted(rows, key=lambda r: r["eci"])

def test_a_run_killed_anywhere_ends_with_the_same_table(pool, tmp_path):
    players, out = {"guess": scripted(guess, "guess"), "oracle": oracle_player}, tmp_path / "evaluation.json"
    whole = evaluate(players, pool, out, (1, 2), n=10)
    log = tmp_path / "evaluation_cells.jsonl"
    text = log.read_text()
    for cut in (0, 1, len(text) // 3, len(text) // 2, len(text) - 2):
        log.write_text(text[:cut]); out.unlink()
        played = []
        assert evaluate({k: counted(p, played) for k, p in players.items()}, pool, out, (1, 2), n=10) == whole
        assert len(played) == 10 * (4 - text[:cut].count("\n")) and log.read_text() == text

def test_a_player_that_fails_loses_no_finished_cell(pool, tmp_path):
    def broken(worlds): raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt): evaluate({"oracle": oracle_player, "broken": broken}, pool, tmp_path / "e.json", (1,), n=5)
    assert [r["policy"] for r in json.loads((tmp_path / "e.json").read_text())] == ["oracle"]

@pytest.mark.parametrize("player", [lambda ws: [], lambda ws: [Episode(w) for w in ws], lambda ws: oracle_player(ws)[::-1]])
def test_a_player_must_finish_every_world_in_order(pool, tmp_path, player):
    with pytest.raises(ValueError, match="in order"): evaluate({"p": player}, pool, tmp_path / "e.json", (1,), n=3)

def test_another_n_is_played_again_and_none_is_refused(pool, tmp_path):
    evaluate({"oracle": oracle_player}, pool, tmp_path / "e.json", (1,), n=4)
    assert evaluate({"oracle": oracle_player}, pool, tmp_path / "e.json", (1,), n=6)[0]["n"] == 6
    assert [r["n"] for r in json.loads((tmp_path / "e.json").read_text())] == [6]
    with pytest.raises(OpenAdaptError, match="at least one"): evaluate({"oracle": oracle_player}, pool, tmp_path / "e.json", (1,), n=0)

def test_paired_difference(tmp_path):
    log = tmp_path / "cells.jsonl"
    cell = lambda policy, rewards: {"environment": "e", "policy": policy, "eci": 1, "seeds": [1, 2, 3, 4], "rewards": rewards,
                                    "solved": [int(r > .5) for r in rewards]}
    append_jsonl(log, cell("before", [.1, .2, .3, .4])); append_jsonl(log, cell("after", [.6, .7, .8, .9]))
    (d,) = paired(log, "after", "before")
    assert (d["reward"], d["reward_low"], d["reward_high"], d["solved"], d["n"]) == (.5, .5, .5, 1.0, 4)
    assert paired(log, "after", "nobody") == [] and paired(log, "after", "before", "other") == []
    append_jsonl(log, cell("before", [.1, .2, .3, .4]) | {"seeds": [1, 2, 3, 5]})
    assert paired(log, "after", "before") == []

# A synthetic run: every curve is a formula.
EVIL = "</pre></details><script>alert(1)</script><img src=x onerror=alert(2)>\x00\x1b[31m\u202e\ud800 & \"quoted\" https://example.com"

def synthetic_run(run, steps=120, texts=EVIL):
    rng, events, frontier, since = random.Random(0), [], 1, 0
    for step in range(steps):
        if since == 28 and frontier < 5:
            events.append({"step": step, "from": frontier, "to": frontier + 1, "n": 256, "rate": .95, "low": .93})
            frontier += 1; since = 0
        since += 1
        p = .3 + .65 / (1 + math.exp(-(since - 12) / 4)) + rng.uniform(-.05, .05)
        size = lambda e, hard=frontier, new=since == 1: 0 if e == hard > 1 and new else 51 if e == hard else 4    # one step lacks its new tier
        by = {str(e): {"n": size(e), "solved": round(size(e) * min(1, p)), "reward": p * .9} for e in range(1, frontier + 1)}
        parts = {"correctness": .5 * p, "efficiency": .25 * p * p, "quality": .14 * p, "calibration": .05 * p * p, "penalty": -.12 * (1 - p)}
        append_jsonl(run / "metrics.jsonl", {"step": step, "episodes": 64, "reward": max(0, sum(parts.values())), "solve_rate": p,
                                             "frontier": frontier, "by_eci": by, "components": parts})
        game = {"step": step, "seed": step, "eci": frontier, "reward": .5, "solved": True, "end_reason": "submitted", "text": texts}
        with open(run / "rollouts.jsonl", "a") as f: f.write(json.dumps(game) + "\n")
    write_json(run / "curriculum.json", {"frontier": frontier, "events": events})
    rows, bases = [], {"random": .02, "constant": .03, "alert": .05, "loudest": .15, "latest_change": .1, "keyword": .12}
    bases |= {"responder": .4, "warm start": .35, "warm start, greedy": .5, "trained": .93, "trained, greedy": .96, "oracle": 1.0}
    for policy, base in bases.items():
        for eci in range(1, 6):
            s = base if policy == "oracle" else base * (1 - .15 * (eci - 1))
            rows.append({"policy": policy, "environment": "synthetic <b>", "eci": eci, "n": 200,
                         "mean_reward": .9 * s, "reward_low": .9 * s - .03, "reward_high": .9 * s + .03,
                         "solve_rate": s, "solve_low": max(0, s - .05), "solve_high": min(1, s + .05), "seeds": {}, "components": {}})
    write_json(run / "evaluation.json", rows)
    write_json(run / "params.yaml", {"prompt": "SYNTHETIC <i>run</i> for tests", "seed": 7, "train": {"steps": steps, "lr": 1e-4}})
    write_json(run / "envs/abc123/card.json", {"name": "synthetic", "title": EVIL.replace("\ud800", "")})
    write_json(run / "envs/abc123/certificate.json", {"environment": "synthetic", "ok": True, "sha256": "0" * 64,
        "checks": [{"id": f"semantic.check_{i}", "eci": i % 5 + 1, "verdict": "PASS" if i else "SKIP", "got": i / 7, "expected": ">= 0"}
                   for i in range(20)]})
    write_json(run / "manifest.json", {"versions": {"openadapt": "0.0-synthetic", "torch": "x"}, "git": "0" * 40, "seconds": 812.3})
    return run

class Strict(HTMLParser):
    def __init__(self): super().__init__(); self.tags, self.open, self.links = [], [], []
    def handle_starttag(self, tag, attrs):
        self.tags.append(tag); self.links += [v for k, v in attrs if k in ("src", "href") or k.startswith("on")]
        if tag not in ("img", "meta"): self.open.append(tag)
    def handle_endtag(self, tag): assert self.open.pop() == tag, tag

def parsed(page):
    p = Strict(); p.feed(page); p.close(); assert p.open == []; return p

@pytest.fixture(scope="module")
def finished(tmp_path_factory): return synthetic_run(tmp_path_factory.mktemp("runs") / "synthetic")

def test_one_self_contained_page(finished):
    page = write_report(finished).read_text()
    p = parsed(page)
    assert p.tags.count("img") == 4 and all(x.startswith("data:image/png;base64,") for x in p.links)
    assert not {"script", "link", "iframe", "a"} & set(p.tags)
    assert "default-src 'none'" in page and "not yet" not in page and len(page) < 2_000_000
    for text in ("ECI 4 → 5", "19 PASS, 1 SKIP", "0.0-synthetic", "SYNTHETIC &lt;i&gt;run&lt;/i&gt;", "93 %"): assert text in page
    assert not [f for f in finished.iterdir() if f.suffix == ".tmp"]

def test_what_a_model_writes_is_text(finished):
    page = write_report(finished).read_text()
    assert "&lt;script&gt;alert(1)" in page and "onerror=alert" in page
    assert not re.findall(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\ud800-\udfff]", page)
    assert esc("a\u202eb\ud800c\x07") == "a�b�c�" and esc(EVIL).count("<") == 0

def test_every_unfinished_folder_gives_a_page(finished, tmp_path):
    for i, name in enumerate(("metrics.jsonl", "rollouts.jsonl", "curriculum.json", "evaluation.json", "params.yaml", "manifest.json", "envs")):
        run = tmp_path / str(i)
        shutil.copytree(finished, run)
        shutil.rmtree(run / name) if name == "envs" else (run / name).unlink()
        page = write_report(run).read_text(); parsed(page)
        assert ("not yet" in page) == (name != "curriculum.json") and "ECI 4 → 5" in page or name == "metrics.jsonl"
        assert ("not finished" in page) == (name == "manifest.json")

@pytest.mark.parametrize("name", ["metrics.jsonl", "curriculum.json", "evaluation.json", "params.yaml", "envs/abc123/certificate.json"])
@pytest.mark.parametrize("damage", [b"{\n\n{]", b"\xff\xfe\x00", b"3\n3\n"])
def test_damaged_files_are_named_and_left_out(tmp_path, name, damage):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True); (tmp_path / name).write_bytes(damage)
    page = write_report(tmp_path).read_text(); parsed(page)
    assert f"Unreadable, left out: {name.split('/')[-1]}." in page

@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_run_that_has_just_begun(tmp_path, steps): parsed(write_report(synthetic_run(tmp_path, steps)).read_text())

def test_rows_with_foreign_or_missing_columns_are_skipped(tmp_path):
    run = synthetic_run(tmp_path, 3)
    append_jsonl(run / "metrics.jsonl", {"step": 3, "loss": .1}); append_jsonl(run / "rollouts.jsonl", {})
    parsed(write_report(run).read_text())

def test_tables_of_any_policy_name():
    rows = [{"policy": "[bold]a|b", "environment": "[red]", "eci": e, "n": 7 + e, "mean_reward": .5,
             "solve_rate": .5, "solve_low": .2, "solve_high": .8} for e in (1, 2)]
    from rich.console import Console
    console = Console(width=80, record=True, force_jupyter=False, quiet=True); console.print(rich_table(rows))
    assert "n = 8 to 9" in markdown_table(rows) and "a\\|b" in markdown_table(rows)
