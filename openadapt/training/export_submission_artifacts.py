"""Plots, summary and write-up of a finished run: `python -m openadapt.training.export_submission_artifacts [--run artifacts/runs/NAME]`.

Every figure is read from the run's own files; without a finished run there is nothing to export."""
import argparse
import json
import shlex
import sys
from pathlib import Path

from openadapt.core import OpenAdaptError, read_jsonl, write_atomic, write_json


def latest_run(runs: Path) -> Path:
    "The newest finished run; raises `OpenAdaptError` when there is none."
    finished = sorted(runs.glob("*/manifest.json"), key=lambda p: p.stat().st_mtime)
    if not finished: raise OpenAdaptError(f"no finished run in {runs}: make one with `openadapt run \"…\"`, or name one with --run")
    return finished[-1].parent


def export(run: Path, out: Path) -> list[Path]:
    "Write plots, summary and write-up of `run` below `out`; gives the paths."
    from openadapt.evaluate import markdown_table, paired
    from openadapt.report import plot_components, plot_evaluation, plot_mix, plot_training, png

    if not (run / "manifest.json").exists(): raise OpenAdaptError(f"{run} is not a finished run: continue it with `openadapt run --resume {run}`")
    read = lambda name: json.loads((run / name).read_text(encoding="utf-8"))
    manifest, rows, events = read("manifest.json"), read("results.json"), read("curriculum.json")["events"]
    metrics = read_jsonl(run / "metrics.jsonl")
    plots = {"training": plot_training(metrics, events), "components": plot_components(metrics, events), "evaluation": plot_evaluation(rows),
             "curriculum": plot_mix(metrics, events)}
    made = [write_atomic(out / "plots" / f"{name}.png", png(figure, ground="white")) for name, figure in plots.items()]
    before = "warm start" if any(r["policy"] == "warm start" for r in rows) else "before training"
    gains = paired(run / "evaluation_cells.jsonl", "trained", before)
    summary = {"run": run.name, **{k: manifest[k] for k in ("params", "versions", "git", "seconds", "training")}, "evaluation": rows, "gains": gains}
    made.append(write_json(out / "metrics" / "submission_summary.json", summary))
    made.append(write_atomic(out / "writeup" / "blog.md", blog(run.name, manifest, rows, events, gains, markdown_table(rows))))
    return made


def blog(name: str, manifest: dict, rows: list, events: list, gains: list, table: str) -> str:
    "The write-up, from the figures alone."
    at = {(r["policy"], r["eci"]): r for r in rows}
    trained, p, t = at["trained", 1], manifest["params"], manifest["training"]
    moves = "; ".join(f"ECI {e['from']} → {e['to']} at step {e['step']}" for e in events) or "none"
    first = gains[0] if gains else None
    tiny = (" The policy is a model of under two million parameters made on the spot: the figures say that the loop works, not that a large "
            "model would gain as much.") if p["policy"] == "tiny" else ""
    gain = f" Seed by seed, reward rose by {first['reward']:.3f} [{first['reward_low']:.3f}, {first['reward_high']:.3f}]." if first else ""
    return f"""# {p['prompt']}

One prompt was the input. OpenAdapt wrote an environment for it, proved it in a sandbox, served it, trained a model in it by GRPO
and evaluated it on worlds that no training had seen; all of it took {manifest['seconds'] / 60:.0f} minutes.

On {trained['n']} unseen worlds at ECI 1 the trained policy solves {trained['solve_rate']:.1%}
[{trained['solve_low']:.1%}, {trained['solve_high']:.1%}].{gain} Training took {t['steps']} steps, {t['episodes']} episodes, {t['seconds']:.0f} s.
Moves of the curriculum: {moves}.

![training](../plots/training.png)
![evaluation](../plots/evaluation.png)
![components](../plots/components.png)
![curriculum](../plots/curriculum.png)

{table}

## Again

```
openadapt run {shlex.quote(p['prompt'])} {' '.join(f"--set {k}={v}" for k, v in p.items() if k != 'prompt')}
python -m openadapt.training.export_submission_artifacts
```

Run `{name}`, versions {', '.join(f'{k} {v}' for k, v in manifest['versions'].items())}.{tiny}
"""


def main() -> None:
    p = argparse.ArgumentParser(description="Export plots, summary and write-up of a finished run.")
    p.add_argument("--run", type=Path, help="run folder; the newest finished one below artifacts/runs by default")
    p.add_argument("--out", type=Path, default=Path("artifacts"))
    a = p.parse_args()
    try: made = export(a.run or latest_run(Path("artifacts/runs")), a.out)
    except (OpenAdaptError, OSError) as e: sys.exit(f"export_submission_artifacts: {e}")
    print(*made, sep="\n")


if __name__ == "__main__": main()
