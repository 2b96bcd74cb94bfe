"Properties of the curriculum controller that hold for any sequence of results."
import json, math, random
import pytest
from hypothesis import given, settings, strategies as st
from openadapt.core import OpenAdaptError
from openadapt.curriculum import Curriculum

small = st.builds(lambda least, extra, confidence, top: dict(at_least=least, window=least + extra, confidence=confidence, top=top),
                  st.integers(1, 12), st.integers(0, 20), st.sampled_from([None, .6, .9, .99]), st.integers(1, 5))
bits = st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=400)

@settings(max_examples=100, deadline=None)
@given(small, bits, st.integers(0, 400))
def test_state_survives_a_restart_anywhere(config, results, cut):
    a = b = Curriculum(**config)
    for i, (eci, solved) in enumerate(results):
        if i == cut: b = Curriculum.from_dict(json.loads(json.dumps(a.to_dict())))
        ea = a.record(eci, solved, i)
        eb = ea if a is b else b.record(eci, solved, i)
        assert ea == eb
    assert json.loads(json.dumps(a.to_dict())) == a.to_dict() == b.to_dict()

@settings(max_examples=100, deadline=None)
@given(small, st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(0, 2**32))
def test_moves_are_single_steps_in_range_and_earned(config, phases, seed):
    c, rng = Curriculum(**config), random.Random(seed)
    for i in range(100 * len(phases)):
        before, count = c.frontier, len(c.recent)
        event = c.record(before, rng.random() < phases[i // 100], i)
        assert 1 <= c.frontier <= config["top"] and abs(c.frontier - before) == (event is not None)
        if not event: continue
        assert c.recent == [] and c.solve_rate_signal == 0 and event["step"] == i and event["n"] == min(count + 1, config["window"])
        if event["to"] > event["from"]: assert event["n"] >= config["at_least"] and event["low"] > .9 - 1e-4
        else: assert event["n"] == config["window"] and event["rate"] < .1
    assert [e["to"] for e in c.events[:-1]] == [e["from"] for e in c.events[1:]]

@settings(max_examples=40, deadline=None)
@given(st.integers(1, 4), st.integers(0, 2**32))
def test_moves_grow_with_the_logarithm_of_episodes(wall, seed):
    c, rng, n = Curriculum(window=32, at_least=8, confidence=None), random.Random(seed), 6000
    for _ in range(n): c.record(c.frontier, rng.random() < (.99 if c.frontier <= wall else .01))
    assert len(c.events) <= wall + 2 * (2 + math.log2(n / 8)) and c.frontier in (wall, wall + 1)

def test_replays_of_mastered_tiers_do_not_count():
    c = Curriculum()
    for _ in range(64): c.record(1, True)
    assert c.frontier == 2
    for _ in range(1000): assert c.record(1, False) is None and c.record(5, True) is None
    assert c.frontier == 2 and c.recent == []

def test_draw_mixes_in_every_mastered_tier():
    c, rng = Curriculum(), random.Random(3)
    assert {c.draw(rng) for _ in range(100)} == {1}
    for _ in range(3 * 64): c.record(c.frontier, True)
    drawn = [c.draw(rng) for _ in range(8000)]
    assert c.frontier == 4 and set(drawn) == {1, 2, 3, 4}
    assert abs(drawn.count(4) / 8000 - .8) < .02 and abs(drawn.count(1) / 8000 - .2 / 3) < .015

def test_the_top_is_the_end_and_says_so():
    c = Curriculum(top=2)
    for _ in range(64): c.record(c.frontier, True)
    assert c.frontier == 2 and not c.mastered
    for _ in range(500): c.record(2, True)
    assert c.frontier == 2 and c.mastered and len(c.events) == 1

@pytest.mark.parametrize("bad", [
    {"threshold": 1.0}, {"confidence": .2}, {"window": 10}, {"at_least": 0}, {"mastered_share": 1.0}, {"hopeless": .95}, {"top": 0}])
def test_settings_that_cannot_work_are_refused(bad):
    with pytest.raises(OpenAdaptError): Curriculum(**bad)

@pytest.mark.parametrize("state", [{}, {"config": {"speed": 1}}, {"config": {}, "frontier": 1}, {"config": {}, "frontier": "x", "recent": 3}])
def test_damaged_state_is_one_clear_line(state):
    with pytest.raises(OpenAdaptError, match="damaged"): Curriculum.from_dict(state)
