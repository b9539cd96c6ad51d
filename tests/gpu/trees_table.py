#!/usr/bin/env python3
"""Joins what `evidence.sh BUILD_FOLDER OUT_FOLDER trees` measured into one page of tables.

usage: trees_table.py OUT_FOLDER

Reads OUT_FOLDER/trees-*.json, the recordings trees-drift-SYSTEM-KERNEL-conserved.csv, trees-memory-SYSTEM-KERNEL.txt and
trees-auto.csv; writes OUT_FOLDER/trees.md. A figure that is missing, not finite or not positive ends it with status 1 and one line."""
import csv
import json
import math
import os

from bench_tables import Refused, number, positive, table, write_page
from tree_tables import COLLAPSE, SYSTEMS, accuracy, results_of, runs_of, times_text

# What others reach on this GPU at settings with these errors at 1,048,576 bodies (Plummer); ms per step.
PEERS = (
    ("Bonsai", "theta 0.75", 5.5e-4, 2.6e-3, {65536: 2.08, 262144: 2.55, 1048576: 6.36, 4194304: 23.8}),
    ("Bonsai", "theta 0.5", 1.1e-4, 4.0e-4, {65536: 2.79, 262144: 3.79, 1048576: 11.3, 4194304: 44.1}),
    ("ECL-BH", "theta 0.75", 1.8e-3, 7.5e-3, {65536: 0.81, 262144: 1.34, 1048576: 4.30, 4194304: 16.0}),
    ("ECL-BH", "theta 0.5", 3.6e-4, 2.3e-3, {65536: 1.65, 262144: 2.79, 1048576: 10.0, 4194304: 39.3}),
)
KERNELS = {"Bonsai": "cuda-tree", "ECL-BH": "cuda-tree-lock"}
TREES = ("cuda-tree", "cuda-tree-lock")
DRIFTING = ("cuda-symmetric", *TREES)
MOST_BODIES = 10485760


def figures(folder, system, kernel, n):
    """[(ms, accuracy, median, p99)] of every accuracy measured."""
    results = [(run, result) for run, result in results_of(folder, f"trees-{system}-{kernel}-s") if result["n"] == n]
    return [(run.ms(result), accuracy(result), *run.errors(result)[:2]) for run, result in results]


def beside(name, how, n, theirs, kernel, ours):
    ratio = "" if theirs is None or ours is None else number(theirs / ours[0], 3)
    theirs = "" if theirs is None else number(theirs, 3)
    if ours is None:
        return [f"{name}, {how}", f"{n:,}", theirs, f"`{kernel}`: none", "", "", "", ""]
    ms, our_how, median, p99 = ours
    return [f"{name}, {how}", f"{n:,}", theirs, f"`{kernel}` {our_how}", number(ms, 3), ratio, number(median, 2), number(p99, 2)]


TITLES = ["other", "bodies", "its ms", "ours", "our ms", "ratio", "our median", "our p99"]


def equal_errors_text(folder):
    """Our fastest with errors no larger than the other's; if none was measured, the row says so."""
    rows = []
    for name, how, median, p99, times in PEERS:
        kernel = KERNELS[name]
        for n, theirs in {**times, MOST_BODIES: None}.items():
            measured = figures(folder, "plummer", kernel, n)
            if not measured:
                raise Refused(f"{kernel} was not measured with {n} bodies")
            fitting = [ours for ours in measured if ours[2] <= median and ours[3] <= p99]
            row = beside(name, how, n, theirs, kernel, min(fitting, default=None))
            rows.append([row[0], f"{median:.1e}", f"{p99:.1e}", *row[1:]])
    return table([TITLES[0], "median", "p99", *TITLES[1:]], rows)


def equal_theta_text(folder):
    """ECL-BH accepts cells as cuda-tree-lock does."""
    rows = []
    for name, how, _, _, times in PEERS:
        if name != "ECL-BH":
            continue
        for n, theirs in times.items():
            same = [ours for ours in figures(folder, "plummer", KERNELS[name], n) if ours[1] == how]
            if not same:
                raise Refused(f"{KERNELS[name]} was not measured with {how} and {n} bodies")
            rows.append(beside(name, how, n, theirs, KERNELS[name], same[0]))
    return table(TITLES, rows)


def drift_text(folder):
    rows = []
    for system, title in SYSTEMS.items():
        for kernel in DRIFTING:
            path = os.path.join(folder, f"trees-drift-{system}-{kernel}-conserved.csv")
            with open(path, newline="", encoding="utf-8") as file:
                metadata = json.loads(file.readline().lstrip("# "))
                sums = list(csv.DictReader(file))
            drift = [abs(float(row["total_drift"] or "nan")) for row in sums]
            steps = [int(row["step"]) for row in sums]
            if len(drift) < 2 or steps[-1] - steps[0] < 1000 or not all(math.isfinite(each) for each in drift):
                raise Refused(f"{path} has no drift over 1000 steps")
            rows.append([title, f"{metadata['n']:,}", number(metadata["dt"]), number(metadata["softening"]), f"`{kernel}`",
                         f"{steps[-1] - steps[0]}", f"{drift[-1]:.2e}", f"{max(drift):.2e}"])
    titles = ["system", "bodies", "dt", "softening", "kernel", "steps", "relative energy drift", "greatest until then"]
    return table(titles, rows)


def memory_text(folder):
    rows, most = [], 0
    for system, title in SYSTEMS.items():
        for kernel in TREES:
            path = os.path.join(folder, f"trees-memory-{system}-{kernel}.txt")
            with open(path, encoding="utf-8") as file:
                mib = positive(max((int(line) for line in file), default=0), f"memory in {path}")
            most = max(most, mib)
            rows.append([title, f"`{kernel}`", f"{mib:,}"])
    return (f"MiB in use on the device, the most that was seen of some five looks a second while {MOST_BODIES:,} bodies went "
            f"their steps, the viewer's own buffers among them: at most {most:,} MiB, {number(most * 2**20 / 1e9, 3)} GB.\n\n"
            + table(["system", "kernel", "MiB"], rows))


def auto_text(folder):
    """What `auto` chose on an empty cache, and what the whole command took."""
    rows = []
    with open(os.path.join(folder, "trees-auto.csv"), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            (run,) = runs_of(folder, f"trees-auto-{row['system']}-{row['bodies']}")
            (result,) = run.results
            settings = " ".join(f"{name}={value}" for name, value in result["settings"].items())
            rows.append([SYSTEMS[row["system"]], f"{result['n']:,}", f"`{result['kernel']}` {settings}", number(run.ms(result)),
                         number(run.errors(result)[0], 2), number(positive(float(row["seconds"]), "seconds"), 3)])
    if not rows:
        raise Refused("trees-auto.csv is empty")
    return table(["system", "bodies", "chosen", "ms per step", "median error", "whole command, s"], rows)


def page(folder):
    metadata = runs_of(folder, "trees-plummer-cuda-tree-s")[0].metadata
    if not metadata["gpu"]:
        raise Refused("bench names no GPU")
    text = (f"# Trees, {metadata['date'][:10]}\n\n{metadata['gpu']}, driver {metadata['driver']}; commit {metadata['git']}. A step "
            f"is force, tree built anew, and integration ({metadata['integrator']}); interactions are those evaluated. Errors are "
            f"|Δa|/|a| against fp64 on 4096 bodies at the first state. {COLLAPSE}.\n\n## Beside others at equal errors (Plummer)\n\n"
            "Our fastest accuracy whose median and p99 are no larger than the other's at 1,048,576 bodies, the only ones known; "
            f"*none* if no measured accuracy is.\n\n{equal_errors_text(folder)}"
            f"\n## Beside ECL-BH at equal theta (Plummer)\n\nWhatever the errors are.\n\n{equal_theta_text(folder)}")
    for system, title in SYSTEMS.items():
        for kernel in TREES:
            text += f"\n## {title}: `{kernel}`\n\n{times_text(results_of(folder, f'trees-{system}-{kernel}-s'))}"
    text += ("\n## Energy over 1000 steps\n\nThe collapsed bodies go on under the scene's own softening, with a time step at which the "
             f"direct sum's drift is small.\n\n{drift_text(folder)}")
    text += f"\n## Memory\n\n{memory_text(folder)}"
    text += f"\n## `auto` on an empty cache\n\n`orrery bench --kernels auto`, from its start to its end.\n\n{auto_text(folder)}"
    return text


write_page(page, "trees.md")
