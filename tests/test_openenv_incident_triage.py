"The seed environment, as a user of OpenEnv meets it: python -m unittest discover -s tests -p test_openenv_incident_triage.py"
import json
import unittest

from openadapt.envs.incident_triage import IncidentTriageEnvironment, InvestigationAction


class IncidentTriage(unittest.TestCase):
    def setUp(self): self.env = IncidentTriageEnvironment()

    def world(self, seen): return self.env.pool.get(*self.opened(seen))

    def opened(self, seen):
        "Seed and tier that are being played: the seed asked for may have given way to the next provable one."
        episode = self.env._episode
        self.assertEqual(episode.eci, seen.metadata["eci"])
        return episode.seed, episode.eci

    def right(self, seen, **more):
        world = self.world(seen)
        params = {"service": world.truth[0], "root_cause": world.truth[1], "mitigation": world.allowed_remedies[0]}
        return InvestigationAction(action_type="diagnose_incident", params=params | more, confidence=.9, reasoning="the readings point there")

    def test_ground_truth_is_hidden(self):
        seen = self.env.reset(seed=7, eci=3)
        self.assertEqual(seen.context["eci"], 3)
        cause, remedies = self.world(seen).truth[1], self.world(seen).allowed_remedies
        shown = json.dumps([seen.context, seen.text, seen.metadata, self.env.state.model_dump()])
        for label in (cause, *remedies): self.assertNotIn(label, shown)
        keys = {*seen.context, *seen.metadata, *self.env.state.model_dump()}
        self.assertFalse({"truth", "ground_truth", "oracle", "proof_ids"} & keys)
        self.assertNotEqual(seen.context["alert"]["source"], self.world(seen).truth[0])      # the alert names the symptom

    def test_right_diagnosis(self):
        seen = self.env.reset(seed=7, eci=1)
        for verb, args in self.world(seen).oracle: self.env.step(InvestigationAction(action_type=verb, params=args))
        proofs = [i for i in self.env._episode.seen if i in self.world(seen).proof_ids]
        end = self.env.step(self.right(seen, evidence=proofs[:2]))
        self.assertIsInstance(end.reward, float)
        self.assertGreater(end.reward, .9)
        self.assertTrue(end.done)
        self.assertEqual(end.metadata["solve_rate_signal"], 1.0)
        self.assertAlmostEqual(sum(end.metadata["reward_breakdown"].values()), end.reward)

    def test_text_without_an_action(self):
        self.env.reset(seed=7, eci=1)
        seen = self.env.step(InvestigationAction(raw_response="not json"))
        self.assertEqual(seen.reward, 0.0)
        self.assertLess(seen.metadata["reward_breakdown"]["penalty"], 0)
        self.assertFalse(seen.done)

    def test_params_as_text(self):
        seen = self.env.reset(seed=7, eci=1)
        action = self.right(seen)
        end = self.env.step(action.model_copy(update={"params": json.dumps(action.params)}))
        self.assertTrue(end.done)
        self.assertEqual(end.metadata["reward_breakdown"]["correctness"], .5)

    def test_raw_response_with_an_action(self):
        seen = self.env.reset(seed=7, eci=1)
        action = {"action_type": "diagnose_incident", "params": self.right(seen).params, "confidence": .9}
        end = self.env.step(InvestigationAction(raw_response=f"<reasoning>it is there</reasoning><action>{json.dumps(action)}</action>"))
        self.assertEqual(end.metadata["reward_breakdown"]["correctness"], .5)

    def test_same_seed_same_episode(self):
        first, second = self.env.reset(seed=7, eci=2), IncidentTriageEnvironment().reset(seed=7, eci=2)
        self.assertEqual(first.model_dump_json(), second.model_dump_json())


if __name__ == "__main__": unittest.main()
