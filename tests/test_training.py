"""Training under stress: invariants of rollouts, what the sorted micro-batches may not change, kill -9 and resume, NaN guard."""
import copy, random, signal, subprocess, sys, time
from pathlib import Path
import pytest, torch
from trl import GRPOTrainer
from openadapt import grpo
from openadapt.core import OpenAdaptError, keyed_rng, read_jsonl
from openadapt.eci import Pool
from openadapt.env import Episode, Move
from openadapt.policy import END, demonstrate, imitation_loss, load_policy, make_model, save_policy, supervised, warm_up
from openadapt.rollout import Decoder, Script, rollout
from openadapt.world import LocalMechanism, Relay

SMALL = dict(groups=4, group_size=4, micro_batch=4, max_tokens=500, texts_per_step=1)

def babbler(episode, rng):
    "Questions at random, then a guess."
    machine, part = rng.choice(episode.entities), rng.choice(["belt", "axle", "power", "gate"])
    asks = [Move("load", {"machine": machine}), Move("inspect", {"machine": machine, "part": part})]
    if episode.steps < rng.choice([1, 2, 3]): return rng.choice(asks)
    cause = rng.choice(list(Relay.signs))
    return Move("name_fault", {"machine": machine, "fault": cause, "repair": Relay.remedies[cause][0], "evidence": []}, .3)

def setting():
    torch.set_num_threads(1)
    pool = Pool(LocalMechanism(Relay)); seeds = pool.seeds("train", 30)
    _, tokenizer = load_policy("tiny", [pool.get(s, 1) for s in seeds], babbler)
    model = make_model(tokenizer, width=96, layers=2, heads=6)
    warm_up(model, tokenizer, pool, babbler, seeds, steps=140, batch=8)
    return pool, seeds, tokenizer, model

@pytest.fixture(scope="module")
def warm(): return setting()

def copy_of(model, tokenizer):
    new = make_model(tokenizer, width=96, layers=2, heads=6); new.load_state_dict(model.state_dict()); return new

# ---- tokenizer

def test_round_trip_of_anything(warm):
    tokenizer, rng = warm[2], random.Random(0)
    alphabet = "ab Z09_.-:,;/\"'{}[]<>|\n\té日😀" + " " * 8
    for _ in range(2000):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randrange(40)))
        assert tokenizer.decode(tokenizer(text)["input_ids"]) == text

def test_every_token_sequence_decodes(warm):
    tokenizer, rng = warm[2], random.Random(0)
    for _ in range(300): assert isinstance(tokenizer.decode([rng.randrange(len(tokenizer)) for _ in range(30)]), str)

def test_words_of_a_mechanism_are_single_tokens(warm):
    pool, seeds, tokenizer, _ = warm
    spec = pool.spec
    labels = [*spec.queries, *spec.remedies, *spec.fields, spec.submit, "dry_run", *pool.get(seeds[0], 1).entities]
    for w in labels: assert len(tokenizer(w)["input_ids"]) == 1, w
    assert len(tokenizer("s042")["input_ids"]) == 1

# ---- rollouts

def test_cache_agrees_with_plain_forward_on_mixed_lengths(warm):
    _, _, tokenizer, model = warm
    rng, rows = random.Random(1), 7
    decoder, texts = Decoder(model, rows), [[] for _ in range(rows)]
    with torch.no_grad():
        for _ in range(25):
            which = sorted(rng.sample(range(len(texts)), rng.randrange(1, len(texts) + 1)))
            chunks = [[rng.randrange(len(tokenizer)) for _ in range(rng.choice([1, 1, 1, 3, 17]))] for _ in which]
            logits = decoder.feed(which, chunks)
            for row, c in zip(which, chunks): texts[row] += c
            for row, found in zip(which, logits):
                plain = model(input_ids=torch.tensor([texts[row]])).logits[0, -1]
                assert (plain.log_softmax(-1) - found.log_softmax(-1)).abs().max() < 1e-4
            if len(texts) > 3 and rng.random() < .2:
                keep = sorted(rng.sample(range(len(texts)), len(texts) - 1)); decoder.keep(keep); texts = [texts[k] for k in keep]

def test_rollouts_do_not_touch_global_randomness(warm):
    pool, seeds, tokenizer, model = warm
    torch.manual_seed(5); before = torch.get_rng_state()
    play = lambda: rollout(model, tokenizer, [Episode(pool.get(s, 1)) for s in seeds[:8]], generator=torch.Generator().manual_seed(1), max_tokens=400)
    first = play()
    assert torch.equal(before, torch.get_rng_state())
    torch.rand(3)
    assert [r.completion_ids for r in play()] == [r.completion_ids for r in first]

def test_malformed_replies_end_an_episode(warm):
    pool, seeds, tokenizer, _ = warm
    untaught = make_model(tokenizer, width=32, layers=1, heads=2)
    with torch.no_grad(): untaught.model.embed_tokens.weight[tokenizer.eos_token_id] *= 60       # ends its turn at once, more often than not
    rs = rollout(untaught, tokenizer, [Episode(pool.get(s, 1)) for s in seeds[:16]], generator=torch.Generator().manual_seed(0), max_tokens=700)
    assert {r.end_reason for r in rs} <= {"malformed", "too_long"} and all(r.reward == 0 for r in rs)

def test_a_general_models_template_frames_the_replies(warm):
    from trl.chat_template_utils import qwen3_chat_template
    pool, seeds, tokenizer, _ = warm
    general = copy.deepcopy(tokenizer); general.chat_template = qwen3_chat_template
    script = Script(general, pool.spec)
    before, after = script.frame
    assert "<tool_response>" in before and after.rstrip().endswith(("<|im_start|>assistant", "</think>")) and not before.startswith(END)
    opening = general.decode(script.opening(Episode(pool.get(seeds[0], 1)).opening))
    assert "name_fault" in opening and "alert" in opening and opening.count("<|im_start|>user") == 1          # told the tools, then the opening view

# ---- the trainer

def test_low_rank_adapter_trains(warm, tmp_path):
    pytest.importorskip("peft")
    pool, seeds, tokenizer, model = warm
    adapted, words = load_policy(str(save_policy(model, tokenizer, tmp_path / "base")), lora=4)
    assert 0 < sum(p.numel() for p in adapted.parameters() if p.requires_grad) < .2 * model.num_parameters()
    rows = grpo.train(adapted, words, pool, seeds, tmp_path / "run", max_steps=1, **SMALL)
    assert len(rows) == 1

def test_unknown_policies_get_one_clear_line(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    for name in ("./nowhere", str(tmp_path), "a b c", ""):
        with pytest.raises(OpenAdaptError) as e: load_policy(name)
        assert "\n" not in str(e.value)

def one_update(cls, warm, folder, monkeypatch):
    pool, seeds, tokenizer, model = warm
    monkeypatch.setattr(grpo, "Trainer", cls)
    monkeypatch.setattr(grpo, "earned", lambda completion_ids, **kwargs: [len(c) % 7 / 7 for c in completion_ids])     # spread in every group
    new = copy_of(model, tokenizer)
    row, = grpo.train(new, tokenizer, pool, seeds, folder, max_steps=1, warmup_steps=0, **SMALL)
    return row, torch.cat([p.detach().flatten() for p in new.parameters()])

def test_sorted_micro_batches_give_the_gradient_of_plain_trl(warm, tmp_path, monkeypatch):
    ours, w1 = one_update(grpo.Trainer, warm, tmp_path / "a", monkeypatch)
    plain, w2 = one_update(GRPOTrainer, warm, tmp_path / "b", monkeypatch)
    assert ours["grad_norm"] == pytest.approx(plain["grad_norm"], rel=1e-3) and ours["loss"] == pytest.approx(plain["loss"], abs=1e-6)
    assert ours["grad_norm"] > 0 and ours["reward"] == plain["reward"]

def test_imitation_counts_the_assistants_tokens_alone(warm):
    pool, seeds, tokenizer, model = warm
    ids, mine = supervised(tokenizer, demonstrate(babbler, pool.get(seeds[0], 1), keyed_rng(1))[0])
    with torch.no_grad():
        logp = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        by_hand = -sum(logp[i - 1, ids[i]] for i in range(1, len(ids)) if mine[i]) / sum(mine)
        padded = imitation_loss(model, tokenizer, [(ids, mine), (ids[:20], [False] * 20)])
    assert padded.item() == pytest.approx(by_hand.item(), rel=1e-4)
    assert 0 < sum(mine) < len(ids) and "<|im_start|>" not in tokenizer.decode([i for i, m in zip(ids, mine) if m])

def test_environment_tokens_get_no_gradient(warm, tmp_path, monkeypatch):
    "Other tokens in the environment's place, with the same mask, would have to matter only as context: their own loss is masked."
    pool, seeds, tokenizer, model = warm
    masks = []
    class Spy(grpo.Trainer):
        def _compute_loss(self, model, inputs):
            masks.append((inputs["completion_ids"], inputs["completion_mask"] * inputs["tool_mask"]))
            return super()._compute_loss(model, inputs)
    monkeypatch.setattr(grpo, "Trainer", Spy)
    grpo.train(copy_of(model, tokenizer), tokenizer, pool, seeds, tmp_path, max_steps=1, **SMALL)
    for ids, mask in masks:
        for i, m in zip(ids, mask):
            assert tokenizer.decode(i[m.bool()]).count("<|im_start|>") == 0                            # the policy writes no turn markers
            outside = tokenizer.decode(i[~m.bool()]).replace("<|endoftext|>", "")
            assert "<tool_call>" not in outside and "alert" in outside

def test_groups_share_a_world_and_only_train_seeds_are_used(warm, tmp_path):
    pool, seeds, tokenizer, model = warm
    stepper = grpo.Stepper(pool, seeds, grpo.Curriculum(), 4, 0, {"max_new_tokens": 40, "max_tokens": 300})
    class Fake:
        class state: global_step = 3
        class args: temperature = 1.0
        class accelerator: unwrap_model = staticmethod(lambda m: m)
        processing_class = tokenizer
    Fake.model = model
    out = stepper(["x"] * 12, Fake)
    worlds = [(r.episode.seed, r.episode.eci) for r in stepper.rollouts]
    assert all(len(set(worlds[i:i + 4])) == 1 for i in (0, 4, 8)) and len(set(worlds)) > 1
    assert [len(c) for c in out["completion_ids"]] == [len(m) for m in out["env_mask"]]
    with pytest.raises(OpenAdaptError): grpo.Stepper(pool, pool.seeds("validation", 1), grpo.Curriculum(), 4, 0, {})

def test_nan_stops_the_run_and_keeps_the_last_checkpoint(warm, tmp_path):
    pool, seeds, tokenizer, model = warm
    new = copy_of(model, tokenizer)
    def poison(step, steps, row, left):
        if step == 2:
            with torch.no_grad(): new.model.norm.weight.fill_(float("nan"))
    with pytest.raises(OpenAdaptError, match="broke at step 3|cannot"):
        grpo.train(new, tokenizer, pool, seeds, tmp_path, max_steps=5, save_every=1, progress=poison, **SMALL)

def test_interrupt_leaves_a_run_that_continues(warm, tmp_path):
    pool, seeds, tokenizer, model = warm
    def stop(step, steps, row, left):
        if step == 3: raise KeyboardInterrupt
    run = lambda **more: grpo.train(copy_of(model, tokenizer), tokenizer, pool, seeds, tmp_path, max_steps=5, save_every=2, **SMALL, **more)
    with pytest.raises(KeyboardInterrupt): run(progress=stop)
    rows = run(resume=True)
    assert [r["step"] for r in rows] == [1, 2, 3, 4, 5]

def test_killed_run_resumes(tmp_path):
    "kill -9 while it trains; the continued run ends, with one row per step."
    command = [sys.executable, __file__, str(tmp_path)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(1200):
        if len(read_jsonl(tmp_path / "metrics.jsonl")) >= 2 or run.poll() is not None: break
        time.sleep(.1)
    run.send_signal(signal.SIGKILL); run.wait()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert [r["step"] for r in read_jsonl(tmp_path / "metrics.jsonl")] == [1, 2, 3, 4]

if __name__ == "__main__":
    pool, seeds, tokenizer, model = setting()
    grpo.train(model, tokenizer, pool, seeds, Path(sys.argv[1]), max_steps=4, save_every=1, resume=True, **SMALL)
