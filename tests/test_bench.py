"Worlds are made fast, and stay what they were to the byte."
import json

from openadapt.core import keyed_rng, sha256_text
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


def world_table(world): return [world.codes.tolist(), world.healthy.tolist(), world.evidence.tolist(), [sorted(t.items()) for t in world.tables]]
