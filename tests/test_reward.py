"""The reward is monotone, bounded and proper, and no trick pays. `python tests/test_reward.py` plays every attack: artifacts/metrics/attacks.json."""
import math, sys
from functools import cache
from pathlib import Path
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openadapt.attacks import Hunch, Insider, attacks, guesses, honest, measure, tricks
from openadapt.core import write_json
from openadapt.designer import design_offline
from openadapt.eci import TIERS, Pool
from openadapt.env import Episode, opening_text
from openadapt.incident import Incident
from openadapt.reward import COMPONENTS, MOST_IDS, PENALTIES, RANGES, grade, names_several, total
from openadapt.sandbox import JailedMechanism
from openadapt.world import LocalMechanism, Relay, all_calls

slow = [HealthCheck.too_slow, HealthCheck.filter_too_much]
many = settings(deadline=None, max_examples=300, derandomize=True, suppress_health_check=slow)


PROMPT = "Train an agent to find what is wrong in a data pipeline"
MECHANISMS = {"relay": lambda: LocalMechanism(Relay), "incident": lambda: LocalMechanism(Incident),
              "designed": lambda: JailedMechanism(design_offline(PROMPT, 0).source)}

@cache
def pool(name): return Pool(MECHANISMS[name]())
@cache
def seeds(name, split, n): return pool(name).seeds(split, n)

worlds = st.builds(lambda name, i, eci: pool(name).get(seeds(name, "train", 3)[i], eci),
                   st.sampled_from(["relay", "incident"]), st.integers(0, 2), st.sampled_from(TIERS))
text = st.text(max_size=30)
leaf = st.none() | st.booleans() | st.integers() | st.floats() | text
junk = st.recursive(leaf, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4), max_leaves=8)
counts = st.dictionaries(st.sampled_from(sorted(set(PENALTIES) - {"overconfident"})), st.integers(0, 5), max_size=3)


def right(world): return dict(zip(world.spec.fields, (*world.truth, world.allowed_remedies[0])))

def labels(world):
    "Field of the answer -> labels that it may take."
    remedies = world.spec.remedies
    return dict(zip(world.spec.fields, (world.entities, list(remedies), sorted({r for rs in remedies.values() for r in rs}))))

@st.composite
def answers(draw, most_cited=12):
    "Arguments of `grade`: an answer that is right, half right or junk, at any moment of an episode."
    world = draw(worlds)
    proofs, ids = sorted(world.proof_ids), sorted({s[0] for reply in world.replies.values() for s in reply})
    fields = {f: draw(st.just(r) | st.sampled_from(labels(world)[f]) | junk) for f, r in right(world).items()}
    cited = draw(st.lists(st.sampled_from(proofs) | st.sampled_from(ids) | st.sampled_from(["s9999", "", 7]), max_size=most_cited))
    return dict(world=world, params=fields | {"evidence": cited}, confidence=draw(st.none() | st.floats(0, 1)), reasoning=draw(text),
                seen=set(draw(st.lists(st.sampled_from(proofs) | st.sampled_from(ids), max_size=20))), steps=draw(st.integers(1, world.budget)),
                charges=draw(counts), task=opening_text(world))

def never_lower(before, after):
    "Neither the reward nor any component falls."
    before, after = grade(**before), grade(**after)
    assert total(after.parts) >= total(before.parts) and all(after.parts[k] >= before.parts[k] for k in COMPONENTS), (before, after)


def test_components_are_those_of_the_design():
    assert COMPONENTS == ("correctness", "efficiency", "quality", "calibration", "penalty")
    assert RANGES == {"correctness": (0, .5), "efficiency": (0, .3), "quality": (0, .15), "calibration": (0, .05), "penalty": (-.5, 0)}


@given(answers(), st.data())
@many
def test_a_correct_field_never_lowers_the_reward(answer, d):
    field, label = d.draw(st.sampled_from(sorted(right(answer["world"]).items())))
    spelt = d.draw(st.sampled_from([label, label.upper(), f" {label} ", label.replace("_", "-"), label.replace("_", " ")]))
    never_lower(answer, answer | {"params": answer["params"] | {field: spelt}})


@given(answers(most_cited=MOST_IDS - 1), st.data())
@many
def test_a_proof_more_never_lowers_the_reward(answer, d):
    "Within the six ids that count, wherever it stands in the list, if it was seen."
    proof, cited = d.draw(st.sampled_from(sorted(answer["world"].proof_ids))), list(answer["params"]["evidence"])
    answer = answer | {"seen": answer["seen"] | {proof}}
    cited.insert(d.draw(st.integers(0, len(cited))), proof)
    never_lower(answer, answer | {"params": answer["params"] | {"evidence": cited}})


@given(answers(), st.integers(1, 20))
@many
def test_a_saved_step_never_lowers_the_reward(answer, fewer):
    never_lower(answer, answer | {"steps": max(1, answer["steps"] - fewer)})


@given(worlds, st.data())
@many
def test_a_query_that_was_not_needed_only_costs(world, d):
    "The same episode without one of its queries, none of whose signals is cited, and after another look."
    calls = d.draw(st.lists(st.sampled_from(all_calls(world.spec.queries, world.entities)), min_size=2, max_size=world.budget - 1))
    drop = d.draw(st.integers(1, len(calls) - 1))
    def reward(calls):
        episode = Episode(world)
        for verb, args in calls: episode.step(verb, args)
        looked = bool(episode.seen)
        return looked, episode.step(world.spec.submit, right(world), .7, "read").reward
    (looked, without), (_, with_it) = reward(calls[:drop] + calls[drop + 1:]), reward(calls)
    assert without >= with_it or not looked


@given(worlds, junk, junk, junk, junk, junk, junk, st.sets(text, max_size=5), st.integers(1, 20), counts, text)
@many
def test_any_junk_stays_in_range(world, a, b, c, evidence, confidence, reasoning, seen, steps, charges, task):
    params = dict(zip(world.spec.fields, (a, b, c))) | {"evidence": evidence, "more": confidence}
    g = grade(world, params, confidence, reasoning, seen, steps, charges, task)
    assert tuple(g.parts) == COMPONENTS and all(low <= g.parts[k] <= high for k, (low, high) in RANGES.items())
    assert math.isfinite(total(g.parts)) and 0 <= total(g.parts) <= 1


@given(worlds, st.floats(0, 1), st.floats(0, 1), st.sampled_from(["entity", "cause"]))
@many
def test_calibration_is_proper_where_something_is_right(world, p, other, kept):
    "Stating p pays at least as much as stating anything else, when the answer is right with probability p and else has one field right."
    good, (entity, cause, _) = right(world), world.spec.fields
    field = cause if kept == "entity" else entity
    bad = good | {field: next(x for x in labels(world)[field] if x not in (good[field], *world.decoys))}
    pays = lambda params, c: total(grade(world, params, c, "", {"s000"}, world.ceiling_steps, {}).parts)
    expected = lambda c: p * pays(good, c) + (1 - p) * pays(bad, c)
    assert expected(p) >= expected(other) - 1e-9
    with_nothing = lambda c, w: p * pays(good, c) + (1 - p) * w * pays(bad, c)      # of wrong answers a share of 1 - w has nothing right
    best = p / (p + (1 - p) * .25) if p else 0
    assert with_nothing(best, .25) >= with_nothing(other, .25) - 1e-9


def test_a_label_with_or_in_it_is_one_label():
    assert not any(map(names_several, ["cart-or-web", "search_and_find", "and", "or", "x or ", "band", None, 7, ""]))
    assert all(map(names_several, ["a or b", "a AND b", "a, b", "a;b", "a|b", "a/b", "a + b", "a & b", "a\nb", ["a"], {"a": 1}]))


# Attacks, on fewer seeds than the table of the notebook

@cache
def played(name, taught=30, tried=30, again=10):
    "Rows by policy: honest answers and attacks around the best free guess; tricks around the truth."
    known = pool(name), seeds(name, "train", taught)
    insider = Insider(*known)
    plays = (honest() | attacks(Hunch(*known)), tried), ({"plain guess": guesses(insider)["plain guess"]} | tricks(insider), again)
    return [{r["policy"]: r for r in measure(policies, pool(name), seeds(name, "test", n))} for policies, n in plays]

OTHER = {"evidence spray", "prober"}     # they answer something else: one has read all about its suspect, one names another cause

@pytest.mark.parametrize("name", ["relay", "incident"])
def test_no_trick_is_seen_to_earn_half_an_honest_partial_answer(name):
    "By its interval; the notebook asserts the means, on more seeds."
    rows, _ = played(name)
    assert len(rows) == 62 and min(rows["honest full"]["mean"]) > .95
    half = [m / 2 for m in rows["honest partial"]["mean"]]
    assert {k for k, r in rows.items() if any(low > h for low, h in zip(r["low"], half))} <= {"honest full", "honest partial", "early guess"}

@pytest.mark.parametrize("name", ["relay", "incident"])
def test_no_trick_adds_to_the_answer_it_is_played_around(name):
    around = played(name)
    for rows in around:
        for trick in around[1].keys() - OTHER:
            earned, plain = rows[trick]["mean"], rows["plain guess"]["mean"]
            assert all(a <= b + .005 for a, b in zip(earned, plain)), (trick, earned, plain)


if __name__ == "__main__":
    taught, tried = map(int, sys.argv[1:] or (100, 150))
    out = [{"environment": name, "around": around} | r for name in MECHANISMS
           for around, rows in zip(("guess", "truth"), played(name, taught, tried, tried)) for r in rows.values()]
    write_json(Path(__file__).parents[1] / "artifacts/metrics/attacks.json",
               {"command": f"python tests/test_reward.py {taught} {tried}", "train_seeds": taught, "test_seeds": tried, "rows": out})
