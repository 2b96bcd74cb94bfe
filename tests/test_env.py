"Properties of worlds, reward, tiers and episodes, on random actions."
import json, math, os, random, subprocess, sys
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openadapt.core import SPLITS, OpenAdaptError, keyed_rng, split_of, split_seeds
from openadapt.eci import TIERS, Pool, Rejected, prepare_tiers
from openadapt.env import Episode, InvestigationAction, InvestigationEnvironment, parse_response, tools
from openadapt.incident import Incident
from openadapt.reward import COMPONENTS, RANGES, evidence_ids, fold, grade, names_several
from openadapt.world import LocalMechanism, Relay, View, all_calls, build_world, freeze

settings.register_profile("openadapt", deadline=None, max_examples=60, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("openadapt")


@cache
def pool(mechanism=Relay): return Pool(LocalMechanism(mechanism))

@cache
def seeds(mechanism=Relay): return pool(mechanism).seeds("train", 3) + pool(mechanism).seeds("test", 2)

worlds = st.builds(lambda m, i, eci: pool(m).get(seeds(m)[i], eci), st.sampled_from([Relay, Incident]), st.integers(0, 4), st.sampled_from(TIERS))
clean = st.text(st.characters(codec="utf-8"), max_size=40)
text = clean | st.text(st.characters(exclude_categories=[]), max_size=40)     # JSON can spell half a character
leaf = st.none() | st.booleans() | st.integers() | st.floats() | text | st.sampled_from(["s001", "anvil", "worn_belt", "replace_part", "name_fault"])
data = st.recursive(leaf, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4), max_leaves=8)


def vocabulary(world):
    "Field of the answer -> labels that it may take."
    remedies = world.spec.remedies
    return dict(zip(world.spec.fields, (world.entities, list(remedies), sorted({r for rs in remedies.values() for r in rs}))))


def some_action(draw, world):
    "An action that may be right, half right or nonsense: a method of `Episode` with its arguments."
    spec, kind = world.spec, draw(st.integers(0, 5))
    if kind <= 1:
        verb, args = draw(st.sampled_from(all_calls(spec.queries, world.entities)))
        return "step", [verb, args if kind else json.dumps(args)]
    if kind == 2:
        params = {f: draw(st.sampled_from(labels) | data) for f, labels in vocabulary(world).items()}
        return "step", [spec.submit, params | draw(st.dictionaries(st.sampled_from("evidence confidence reasoning more".split()), data, max_size=3))]
    if kind == 3: return "step", [draw(data | st.sampled_from([*spec.queries, "dry_run"])), draw(data), draw(data), draw(data)]
    if kind == 4: return "step_text", [draw(data)]
    return "step_text", [f'<reasoning>{draw(text)}</reasoning><tool_call>{json.dumps({"name": draw(leaf), "arguments": draw(data)})}</tool_call>']

actions = st.composite(lambda draw: (lambda w: (w, [some_action(draw, w) for _ in range(draw(st.integers(1, 30)))]))(draw(worlds)))()


def transcript(world, moves):
    episode = Episode(world)
    steps = [vars(episode.reset())] + [vars(getattr(episode, how)(*args)) for how, args in moves]
    return json.dumps([steps, episode.history, episode.parts, episode.total_reward, episode.end_reason, sorted(episode.seen)], sort_keys=True)


@given(actions)
def test_any_actions_keep_the_contract(played):
    world, moves = played
    episode, over = Episode(world), False
    for how, args in moves:
        step = getattr(episode, how)(*args)
        assert isinstance(step.reward, float) and math.isfinite(step.reward) and 0 <= step.reward <= 1
        assert step.done == episode.done and (step.done or step.reward == 0) and (not over or (step.done and step.reward == 0))
        assert set(step.breakdown) == set(COMPONENTS)
        assert all(RANGES[k][0] <= v <= RANGES[k][1] for k, v in step.breakdown.items()), step.breakdown
        assert episode.steps <= world.budget and (episode.done or episode.steps < world.budget)
        assert isinstance(step.text, str) and step.text.encode() is not None
        over = step.done
    assert episode.end_reason in (("submitted", "budget") if over else (None,))
    assert episode.solved <= (episode.end_reason == "submitted")


@given(actions)
def test_same_actions_same_bytes(played):
    world, moves = played
    assert transcript(world, moves) == transcript(world, moves)


@given(actions, actions)
def test_episodes_do_not_touch_each_other(one, two):
    (world, moves), (other, others) = one, two
    alone, a, b = transcript(world, moves), Episode(world), Episode(other)
    turns = [vars(a.reset())]
    for i, (how, args) in enumerate(moves):
        if i < len(others): getattr(b, others[i][0])(*others[i][1])
        turns.append(vars(getattr(a, how)(*args)))
    assert json.dumps(turns, sort_keys=True) == json.dumps(json.loads(alone)[0], sort_keys=True)


def test_same_transcript_in_another_process():
    played = lambda: [transcript(pool().get(s, e), scripted(pool().get(s, e))) for s in seeds()[:2] for e in (1, 5)]
    code = ("import random, sys; sys.path.insert(0, 'tests'); import test_env as t; random.seed(1)\n"
            "print([t.transcript(t.pool().get(s, e), t.scripted(t.pool().get(s, e))) for s in t.seeds()[:2] for e in (1, 5)])")
    other = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": "1"}, capture_output=True, text=True, check=True).stdout
    assert other == f"{played()}\n"


def scripted(world):
    "Fifteen queries, an invalid one and the right answer."
    calls = keyed_rng("script", world.seed).sample(all_calls(world.spec.queries, world.entities), 15)
    return [("step", [v, a]) for v, a in calls] + [("step", ["nothing", {}]), ("step", [world.spec.submit, right(world)])]


def right(world): return dict(zip(world.spec.fields, (*world.truth, world.allowed_remedies[0])))


@given(worlds, st.data())
def test_wrong_answers_below_right_ones(world, d):
    spec, calls = world.spec, all_calls(world.spec.queries, world.entities)
    most = world.budget - 1
    asked = d.draw(st.lists(st.sampled_from(calls), max_size=most, unique_by=str))
    def answer(params, confidence, reasoning):
        episode = Episode(world)
        for verb, args in asked: episode.step(verb, args)
        return episode.step(spec.submit, params, confidence, reasoning).reward
    wrong = {f: d.draw(st.sampled_from(labels)) for f, labels in vocabulary(world).items()}
    if (wrong[spec.fields[0]], wrong[spec.fields[1]]) == world.truth: return
    extra = {"evidence": d.draw(st.lists(st.sampled_from(sorted(world.proof_ids | world.symptom_ids)), max_size=6))}
    sure, why = d.draw(st.none() | st.floats(0, 1)), d.draw(st.sampled_from(["", "the readings say so"]))
    assert answer(right(world), None, "") > answer(wrong | extra, sure, why)                 # a bare right answer beats a decorated wrong one
    assert answer(right(world) | extra, sure, why) > answer(wrong | extra, sure, why)        # and so does the same with the same decoration


@pytest.mark.parametrize("mechanism", [Relay, Incident])
@pytest.mark.parametrize("eci", TIERS)
def test_oracle_solves_with_nearly_full_reward(eci, mechanism):
    for seed in seeds(mechanism):
        world = pool(mechanism).get(seed, eci); episode = Episode(world)
        for verb, args in world.oracle: episode.step(verb, args)
        cited = [i for i in episode.seen if i in world.proof_ids][:2]
        step = episode.step(world.spec.submit, right(world) | {"evidence": cited}, 1.0, "read there")
        assert episode.solved and step.reward > .9 and world.oracle_steps <= world.budget >= world.ceiling_steps


@given(worlds)
def test_the_opening_hides_the_truth(world):
    env = InvestigationEnvironment(pool(Relay if world.spec.name == "relay" else Incident))
    seen = env.reset(seed=world.seed, eci=world.eci)
    shown = json.dumps([seen.text, seen.context, seen.metadata, env.state.model_dump()])
    assert world.truth[1] not in shown and not any(r in shown for r in world.spec.remedies[world.truth[1]])
    assert seen.context["eci"] == world.eci and env.state.history == [] and seen.reward == 0.0 and not seen.done


def test_the_opening_is_the_same_for_every_fault():
    mechanism = LocalMechanism(Relay)
    for seed in seeds()[:2]:
        world = build_world(mechanism, seed)
        openings = {Episode(freeze(View(build_world(mechanism, seed, truth=f)), 1, 20, 5, [])).opening for f in world.faults}
        assert len(openings) == 1


@given(st.integers() | st.integers(-5, 5))
def test_a_seed_has_one_split(seed):
    assert split_of(seed) in SPLITS
    assert [s for s in SPLITS if seed in split_seeds(s, 1, seed)] == [split_of(seed)]


def test_pool_splits_are_disjoint():
    found = {s: pool().seeds(s, 4) for s in SPLITS}
    assert len({x for xs in found.values() for x in xs}) == 12
    assert all(split_of(x) == s for s, xs in found.items() for x in xs)


@given(st.integers(0, 10**9))
@settings(max_examples=8)
def test_worlds_are_functions_of_their_seed(seed):
    def bytes_of(noise):
        random.seed(noise)
        try: return json.dumps({e: w.to_json() for e, w in prepare_tiers(LocalMechanism(Relay), seed).items()}, sort_keys=True)
        except Rejected as e: return str(e)
    assert bytes_of(1) == bytes_of(2)


@given(worlds, data, data, data, data, data, st.integers(1, 20))
def test_grading_never_raises(world, a, b, c, evidence, more, steps):
    params = dict(zip(world.spec.fields, (a, b, c))) | {"evidence": evidence, "more": more}
    g = grade(world, params, more, more, set(world.proof_ids), min(steps, world.budget), {}, "task")
    assert all(RANGES[k][0] <= v <= RANGES[k][1] for k, v in g.parts.items())


@given(data)
def test_loose_values_never_raise(x):
    assert fold(fold(x)) == fold(x)
    assert isinstance(names_several(x), bool) and all(isinstance(i, str) for i in evidence_ids(x))
    parse_response(x)


# OpenEnv's face

@given(st.lists(st.builds(dict, action_type=clean, params=st.dictionaries(clean, data, max_size=3) | clean,
                          confidence=st.none() | st.floats(0, 1), reasoning=clean, raw_response=st.none() | clean), max_size=25))
@settings(max_examples=25)
def test_the_environment_takes_any_action(moves):
    env = InvestigationEnvironment(pool())
    env.reset(seed=seeds()[0], eci=2)
    for move in moves:
        seen = env.step(InvestigationAction(**move))
        assert isinstance(seen.reward, float) and {"reward_breakdown", "solve_rate_signal", "eci", "step", "end_reason"} <= set(seen.metadata)
        json.loads(seen.model_dump_json()); json.loads(env.state.model_dump_json())
        assert env.state.step_count == seen.step <= seen.max_steps


def test_lone_surrogates_stay_out_of_observations():
    "JSON can spell half a character; text that holds one cannot be sent or tokenized."
    half = r'<tool_call>{"name": "\ud800", "arguments": {}}</tool_call>'
    env = InvestigationEnvironment(pool()); env.reset(seed=seeds()[0])
    seen = env.step(InvestigationAction(raw_response=half))
    assert seen.text.encode() and seen.model_dump_json() and env.state.model_dump_json()


@pytest.mark.parametrize("eci", [0, 6, -1, "1", None, 1.5])
def test_unknown_tiers_are_refused(eci):
    with pytest.raises(OpenAdaptError, match="does not exist"): InvestigationEnvironment(pool()).reset(seed=0, eci=eci)


def test_solve_rate_counts_each_episode_once():
    env = InvestigationEnvironment(pool())
    for seed in seeds()[:3]:
        env.reset(seed=seed); world = env._episode._world
        params = right(world) if seed != seeds()[0] else dict.fromkeys(world.spec.fields, "x")
        answer = InvestigationAction(action_type=world.spec.submit, params=params)
        env.step(answer); seen = env.step(answer)
    assert seen.metadata["solve_rate_signal"] == pytest.approx(2 / 3)


def test_tools_describe_every_verb():
    spec = pool().spec
    assert {t["function"]["name"] for t in tools(spec)} == {*spec.queries, "dry_run", spec.submit}
