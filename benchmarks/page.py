"""The page of measurements: README.md and speed.png in the results folder, from what the other benchmarks have left there."""

import argparse
import json
import statistics
from pathlib import Path

import machine
from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"
GROWS = {
    "points": "collocation points (1D, width 32)",
    "width": "width (1D, 1000 points)",
    "dimension": "dimension (1000 points)",
    "draws": "draws (501 points)",
}


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1e3 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def spread(values: list[float], form: str) -> str:
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def steps(found: dict) -> str:
    rows = []
    for name, times in found["seconds"].items():
        against = "epinn, epinet" if "epinet" in name else "epinn"
        low, high = min(times), max(times)
        ratio = "1" if name == against else f"{found['ratio'][name]:.1f}"
        rows.append([name, f"{1e6 * statistics.median(times):.0f} ({1e6 * low:.0f} to {1e6 * high:.0f})", ratio])
    floor, step = found["floor"], statistics.median(found["seconds"]["epinn"])
    least = floor["products"] + floor["activations"]
    return f"""## One training step

Adam on the paper's 1D PINN (1-32-32-32-1, tanh, 100 + 2 points, u_xx; single precision), and on its epinet; {found["machine"]}.
Every contender in a process of its own on the same core, in turn, {found["rounds"]} rounds; median (range) in µs, and how many
times the step of epinn. *Tuned* peers use every option that made them faster here (`benchmarks/peers`): fused Adam, one batch
for all points, no oneDNN on ARM; the others are as their documentation shows them. jinns is timed inside `jit`, which its plain
call is not (a third slower).

{table(["", "µs per step", "times epinn's"], rows)}
**Where the rest goes.** The matrix products of a step are {floor["operations"] / 1e6:.1f} million operations, which take
{1e6 * floor["products"]:.0f} µs by themselves at the speed this machine has for these shapes
({floor["operations"] / floor["products"] / 1e9:.0f} GFLOP/s), and its {102 * 96:,} activations {1e6 * floor["activations"]:.0f}
µs: a floor of {1e6 * least:.0f} µs. A step takes {step / least:.1f} times that. The remaining
{1e6 * (step - least):.0f} µs are the chain and product rules on arrays that fit into the cache, the update of Adam, and the
starts of some forty small loops.
"""


def accuracy(found: dict, step: dict | None) -> str:
    rows = []
    for name, fit in found["problems"].items():
        unwell = sum(map(bool, fit["warnings"]))
        error = fit["rmse"]
        rows.append(
            [
                name,
                f"{fit['noise']:g}",
                f"{statistics.median(error):.1e}",
                f"{max(error):.1e}",
                f"{statistics.median(fit['seconds']):.2f}",
                f"{max(fit['newton_steps'])}",
                f"{unwell}",
            ]
        )
    how = "all seeds at once, their time shared out" if found["together"] else "one fit after the other"
    text = f"""### {len(next(iter(found["problems"].values()))["rmse"])} seeds, {found["machine"]}

Defaults; {how}; compilation apart.

{table(["problem", "noise", "median RMSE", "worst RMSE", "s per fit", "most steps", "fits with a warning"], rows)}"""
    if "recipe" in found and step and not found["together"]:
        first, seconds = found["recipe"]["first_steps"], found["problems"]["poisson1d"]["seconds"]
        reached = [n for n in first if n > 0]
        torch = {name: statistics.median(step["seconds"][name]) for name in ("PyTorch", "PyTorch, tuned")}
        rows = [
            [
                name,
                f"{1e6 * t:.0f}",
                f"{statistics.median(reached) * t:.0f}",
                f"{statistics.median(reached) * t / statistics.median(seconds):.0f}",
            ]
            for name, t in torch.items()
        ]
        text += f"""
**Time to the published accuracy** (RMSE {found["recipe"]["published"]}, 1D Poisson without data). The paper's recipe, Adam with
learning rate 1e-3, first has it after {spread(reached, ",.0f")} steps ({len(reached)} of {len(first)} seeds within
{found["recipe"]["epochs"]:,}). At the measured time per step in PyTorch that is the third column; a whole fit of epinn takes
{spread(seconds, ".2f")} s and ends far below.

{table(["", "µs per step", "s to RMSE 0.0074", "times epinn's"], rows)}"""
    return text


def gpu(found: dict) -> str:
    rows = [[n, f"{float(t) * int(n):.0f}", f"{t:.2f}"] for n, t in found["microseconds"].items()]
    nine = found["nine_cells"]
    cells = [[name, f"{c['sharpness']:.2f}", f"{c['coverage']:.2f}", f"{c['rmse']:.4f}"] for name, c in nine["cells"].items()]
    return f"""## Many networks at once

{found["machine"]}, single precision without TF32, the same 1D PINN:

{table(["networks", "µs per step", "µs per step and network"], rows)}
The nine E-PINN cells of the paper's three 1D problems, its settings (100,000 epochs for the base, 10,000 for the epinet, 10,000
draws), {nine["seeds"]} seeds each: **{nine["seconds"]:.0f} s** in one process, compilation included. Medians over the seeds:

{table(["cell", "sharpness", "coverage", "RMSE"], cells)}"""


def growth(found: dict) -> str:
    text = f"""### {found["machine"]}

One Adam step on u_xx + u_yy + ... = -1, three hidden layers; and one prediction (mean and band) with an epinet. The limit of
memory (`compute.memory`) is {found["memory_gibibytes"]:g} GiB; the peak is that of the whole process, libraries included, on a
CPU and that of the device on a GPU.

"""
    for what, label in GROWS.items():
        rows = [[f"{c['size']:,}", duration(c["seconds"]), f"{c['peak_bytes'] / 2**30:.2f}"] for c in found[what]]
        text += table([label, "time", "peak GiB"], rows) + "\n"
    return text


def startup(found: dict) -> str:
    rows = [[name, spread(times, ".2f")] for name, times in found["seconds"].items()]
    return f"""## Start

{found["machine"]}; seconds from the command to the answer, or to the report of the first 100 training steps of 1D Poisson.

{table(["", "seconds"], rows)}"""


def picture(step: dict | None, grown: dict) -> Figure:
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    if step:
        names = [name for name in step["seconds"] if "epinet" not in name]
        values = [1e6 * statistics.median(step["seconds"][name]) for name in names]
        bars = left.barh(names, values, color=[BLUE if name.startswith("epinn") else GREY for name in names])
        left.bar_label(bars, [f"{step['ratio'][name]:.1f}×" for name in names], padding=3, fontsize=8)
        left.set_xlim(right=1.2 * max(values))
        left.invert_yaxis()
        left.set_title("one Adam step of the 1D PINN", fontsize=10)
        left.set_xlabel("µs")
    for axes, key in ((middle, "seconds"), (right, "peak_bytes")):
        for (label, found), colour in zip(grown.items(), (BLUE, ORANGE), strict=False):
            sizes = [c["size"] for c in found["points"]]
            scale = 1 if key == "seconds" else 2**30
            draw = axes.loglog if key == "seconds" else axes.semilogx
            draw(sizes, [c[key] / scale for c in found["points"]], "o-", color=colour, label=label)
        axes.set_xlabel("collocation points")
        axes.grid(alpha=0.3)
    first = next(iter(grown.values()))["points"]
    middle.loglog(
        [c["size"] for c in first[1:]],
        [first[-1]["seconds"] * c["size"] / first[-1]["size"] for c in first[1:]],
        ":",
        color=GREY,
        label="linear",
    )
    figure.legend(*middle.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    middle.set_title("seconds of one step", fontsize=10)
    right.set_ylim(bottom=0)
    right.set_title("peak memory in GiB (limit 1)", fontsize=10)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=machine.RESULTS)
    folder = parser.parse_args().out
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    parts = ["# Speed\n", "Made by `make bench` and, for the GPU, by the commands at the end.\n\n![speed](speed.png)\n"]
    if "step" in found:
        parts.append(steps(found["step"]))
    parts.append(
        "## What a fit reaches\n\nNonlinear 1D Poisson has several solutions with the same boundary values "
        "(`python benchmarks/solutions.py`): an RMSE of order one is another one of them, with residuals as small.\n"
    )
    parts += [accuracy(found[name], found.get("step")) for name in ("accuracy", "accuracy-gpu") if name in found]
    if "gpu" in found:
        parts.append(gpu(found["gpu"]))
    grown = {found[name]["machine"]: found[name] for name in ("growth", "growth-gpu") if name in found}
    if grown:
        parts.append("## Growth\n")
        parts += [growth(values) for values in grown.values()]
        picture(found.get("step"), grown).savefig(folder / "speed.png", dpi=150)
    if "startup" in found:
        parts.append(startup(found["startup"]))
    parts.append("""## Commands

```
make bench                                                                  # one thread of a CPU; installs the peers
BENCH_CORE=all python benchmarks/gpu.py                                     # on a GPU, as the rest
BENCH_CORE=all python benchmarks/accuracy.py all --together --name accuracy-gpu
BENCH_CORE=all python benchmarks/growth.py --name growth-gpu
python benchmarks/page.py                                                   # this page
```
""")
    (folder / "README.md").write_text("\n".join(part.rstrip("\n") + "\n" for part in parts))
    print(f"written: {folder / 'README.md'}")


if __name__ == "__main__":
    main()
