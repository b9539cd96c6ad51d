#!/usr/bin/env python3
"""Compares the figures of `orrery profile` with those of Nsight Compute.

  profile_against_ncu.py ORRERY [N]
  profile_against_ncu.py --check

Profiles cuda-naive, cuda-tiled, cuda-symmetric, cuda-tensor and the walk of cuda-tree with both, over the same part of
one evaluation of N bodies (65536), and prints every figure with its difference. Exits 1 if one differs by more than
5 % and by more than 0.5 percentage points or 0.05 warps, or if one of the two programs has no figures. With --check it
only tests the comparison itself. `ncu` must be on PATH, and this user must have the right to profile.
"""

import csv
import io
import json
import math
import subprocess
import sys

KERNELS = ("cuda-naive", "cuda-tiled", "cuda-symmetric", "cuda-tensor", "cuda-tree")
REASONS = ("barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle", "long_scoreboard",
           "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected",
           "short_scoreboard", "sleeping", "tex_throttle", "wait")
FIGURES = {
    "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "fma": "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "alu": "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
    "xu": "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
    "tensor": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "lsu": "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
    "l1": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "instructions": "smsp__inst_executed.sum",
}
# Percentages of the time of the range: Nsight Compute's begins earlier and ends later than Orrery's, which is the time of
# the kernels. So both are taken times their range, which is the work done.
OF_THE_RANGE = ("l2",)
RANGE = "gpu__time_duration.sum"
WITHIN = 0.05  # of the value
LEAST = {"stall": 0.05, "figure": 0.5, "instructions": 0}  # warps, percentage points: below this two values are equal


def metric_of(reason):
    return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"


def differs(kind, ours, theirs):
    """Whether two values of one figure disagree. A value that is not a number always does."""
    if not (math.isfinite(ours) and math.isfinite(theirs)):
        return True
    return abs(ours - theirs) > max(WITHIN * abs(theirs), LEAST[kind])


def read_ncu(text):
    """The values by metric of the one range in `ncu --csv --page raw`: a row of names, one of units, one of values."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.reader(io.StringIO("\n".join(lines))))
    if len(rows) < 3:
        raise SystemExit("ncu printed no values:\n" + text[-2000:])
    if len(rows) > 3:
        raise SystemExit(f"ncu measured {len(rows) - 2} ranges instead of one")
    values = {}
    for name, value in zip(rows[0], rows[2]):
        try:
            values[name] = float(value.replace(",", ""))
        except ValueError:
            continue
    return values


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def compare(orrery, kernel, count):
    order = [orrery, "profile", "--kernels", kernel, "--scene", "plummer", "-n", str(count)]
    ours = json.loads(run([*order, "--json", "-"]))["profiles"][0]
    if ours["problem"]:
        raise SystemExit(f"orrery has no counters of {kernel}: {ours['problem']}")
    metrics = ",".join([*map(metric_of, REASONS), *FIGURES.values(), RANGE])
    # As here: at the clocks of a usual run, and with the caches as the evaluation before has left them.
    theirs = read_ncu(run(["ncu", "--replay-mode", "app-range", "--clock-control", "none", "--cache-control", "none",
                           "--metrics", metrics, "--csv", "--page", "raw", "--print-units", "base", *order,
                           "--marks-only"]))
    wrong = 0
    rows = [("stall", reason, ours["stalls"].get(reason), metric_of(reason)) for reason in REASONS]
    rows += [("instructions" if name == "instructions" else "figure", name, ours["figures"].get(name), metric)
             for name, metric in FIGURES.items()]
    for kind, name, value, metric in rows:
        if value is None and metric not in theirs:
            continue
        own = math.nan if value is None else value
        other = theirs.get(metric, math.nan)
        if name in OF_THE_RANGE:
            other *= theirs.get(RANGE, math.nan) / (1e6 * ours["figures"].get("part_ms", math.nan))
        bad = differs(kind, own, other)
        wrong += bad
        change = 100 * (own / other - 1) if other else 0.0
        print(f"{kernel:16} {name:20} {own:14.4f} {other:14.4f} {change:+8.2f} % {'DIFFERS' if bad else ''}")
    return wrong


def check():
    assert not differs("stall", 1.0, 1.04)
    assert differs("stall", 1.0, 1.2)
    assert not differs("stall", 0.01, 0.04), "both are nearly nothing"
    assert differs("figure", math.nan, 50.0) and differs("figure", 50.0, math.nan)
    assert differs("instructions", 100.0, 106.0) and not differs("instructions", 100.0, 104.0)
    text = '==PROF== connected\n"ID","a.sum","b.ratio"\n"","byte",""\n"0","1,024","2.5"\n'
    assert read_ncu(text) == {"ID": 0.0, "a.sum": 1024.0, "b.ratio": 2.5}


def main(words):
    if words == ["--check"]:
        check()
        return 0
    if len(words) not in (1, 2):
        raise SystemExit(__doc__)
    count = int(words[1]) if len(words) == 2 else 65536
    print(f"{'kernel':16} {'figure':20} {'orrery':>14} {'ncu':>14} {'change':>10}")
    return 1 if sum(compare(words[0], kernel, count) for kernel in KERNELS) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
