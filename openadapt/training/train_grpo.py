"""GRPO for a number of episodes: `python -m openadapt.training.train_grpo --episodes 40 --output artifacts/training_metrics.jsonl`.

The environment is the one that `openadapt run` designs for its default prompt: on the seed environment, whose transcripts are three times as
long, the tiny policy had not learned to copy names after 250 steps. A tiny policy imitates the fallible responder, then TRL's trainer plays.
The work folder stands beside the output, named like it with `.work`; the same command again goes on with an unfinished one and starts a
finished one anew."""
import argparse
import json
import os
import shutil
import sys
from pathlib import Path

from openadapt.core import OpenAdaptError, sha256_text, write_atomic, write_json

GROUP, MOST_GROUPS = 8, 32


def train_episodes(episodes: int, output: Path, seed: int, warm_steps: int, train_seeds: int) -> list[dict]:
    "Train for `episodes` episodes, in groups of eight; gives the rows of metrics."
    from openadapt.designer import design_offline
    from openadapt.grpo import train
    from openadapt.pipeline import PARAMS, open_pool, warm_start

    if episodes < GROUP: raise OpenAdaptError(f"--episodes {episodes}: GRPO compares {GROUP} episodes of one world, so give at least {GROUP}")
    groups = min(MOST_GROUPS, episodes // GROUP)
    steps = episodes // (groups * GROUP)
    folder = output.with_name(output.name + ".work")
    source = design_offline(PARAMS["prompt"], seed).source
    params = {"episodes": episodes, "seed": seed, "warm_steps": warm_steps, "train_seeds": train_seeds, "environment": sha256_text(source)}
    known = folder / "params.json"
    if folder.exists() and not known.exists(): raise OpenAdaptError(f"{folder} is not a work folder of this command: choose another --output")
    if known.exists() and ((folder / "done").exists() or json.loads(known.read_text()) != params): shutil.rmtree(folder)
    write_json(known, params)
    tell = lambda done, of, words, left=None: print(f"\r{words} {done}/{of}", end="", file=sys.stderr)
    pool, seeds = open_pool(folder, source, "train", train_seeds, tell)
    model, tokenizer = warm_start(folder, params, pool, seeds, tell)
    show = lambda step, of, row, left: print(f"\nstep {step}/{of}: reward {row['reward']:.3f}, solved {row['solve_rate']:.2f}, "
                                             f"ECI {row['frontier']}, {left:.0f} s left", file=sys.stderr)
    rows = train(model, tokenizer, pool, seeds, folder, max_steps=steps, groups=groups, group_size=GROUP, seed=seed, resume=True, progress=show)
    pool.mechanism.close()
    write_atomic(output, (folder / "metrics.jsonl").read_text(encoding="utf-8"))
    (folder / "done").touch()
    return rows


def main() -> None:
    p = argparse.ArgumentParser(description="Train a tiny policy by GRPO in the environment of the default prompt.")
    p.add_argument("--episodes", type=int, default=40, help="episodes in all; up to 256 a step")
    p.add_argument("--output", type=Path, default=Path("artifacts/training_metrics.jsonl"), help="one row of metrics per step")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--warm-steps", type=int, default=250, help="imitation steps before GRPO; with far fewer the policy does not yet copy names")
    p.add_argument("--train-seeds", type=int, default=300, help="worlds to train on")
    a = p.parse_args()
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")          # as in the command: torch's waiting threads soon sleep
    try: rows = train_episodes(a.episodes, a.output, a.seed, a.warm_steps, a.train_seeds)
    except (OpenAdaptError, OSError) as e: sys.exit(f"train_grpo: {e}")
    print(f"{len(rows)} steps, {sum(r['episodes'] for r in rows)} episodes: {a.output}")


if __name__ == "__main__": main()
