#!/usr/bin/env python3
"""Joins what `evidence.sh BUILD_FOLDER OUT_FOLDER trees` measured into one page of tables.

usage: trees_table.py OUT_FOLDER

Reads OUT_FOLDER/trees-*.json, the recordings trees-drift-*-conserved.csv and trees-memory.txt; writes OUT_FOLDER/trees.md. A
figure that is missing, not finite or not positive ends it with status 1 and one line."""
import csv
import glob
import os
import re

from bench_tables import Refused, Run, number, positive, table, write_page

SYSTEMS = {"plummer": "Plummer sphere", "collapse": "Cold collapse after two free-fall times"}
# What others reach on this GPU at settings with these errors at 1,048,576 bodies (Plummer); ms a step.
PEERS = (
    ("Bonsai", "theta 0.75", 5.5e-4, 2.6e-3, {65536: 2.08, 262144: 2.55, 1048576: 6.36, 4194304: 23.8}),
    ("Bonsai", "theta 0.5", 1.1e-4, 4.0e-4, {65536: 2.79, 262144: 3.79, 1048576: 11.3, 4194304: 44.1}),
    ("ECL-BH", "theta 0.75", 1.8e-3, 7.5e-3, {65536: 0.81, 262144: 1.34, 1048576: 4.30, 4194304: 16.0}),
    ("ECL-BH", "theta 0.5", 3.6e-4, 2.3e-3, {65536: 1.65, 262144: 2.79, 1048576: 10.0, 4194304: 39.3}),
)
KERNELS = {"Bonsai": "cuda-tree", "ECL-BH": "cuda-tree-lock"}


def runs_of(folder, system, kernel):
    """All runs of a kernel: of one file each, or of one file with all numbers of bodies."""
    paths = sorted(glob.glob(os.path.join(folder, f"trees-{system}-{kernel}*.json")))
    if not paths:
        raise Refused(f"nothing was measured of {kernel} with {system}")
    return [Run(folder, os.path.basename(path)[: -len(".json")]) for path in paths]


def accuracy(result):
    settings = result["settings"]
    return ", ".join(f"{name} {settings[name]}" for name in ("theta", "tolerance") if name in settings)


def times_text(folder, system, kernel):
    results = [(run, result) for run in runs_of(folder, system, kernel) for result in run.results]
    results.sort(key=lambda pair: (accuracy(pair[1]), pair[1]["n"]))
    rows = []
    for run, result in results:
        ms, per_s = run.ms(result), positive(result["interactions_per_s"], "interactions/s")
        rows.append([accuracy(result), f"{result['n']:,}", number(ms), number(per_s * ms * 1e-3 / result["n"]),
                     f"{number(per_s * 1e-12, 3)} T", *(number(error, 2) for error in run.errors(result)), run.clock(result)])
    titles = ["accuracy", "bodies", "ms a step", "interactions a body", "interactions/s", "error: median", "p99", "max",
              "SM clock"]
    return table(titles, rows)


def peers_text(folder):
    """Beside Bonsai our fastest with errors no larger than its own; beside ECL-BH, which accepts cells as cuda-tree-lock does, the
    same theta, whatever the errors are."""
    rows = []
    for name, how, median, p99, times in PEERS:
        kernel = KERNELS[name]
        results = [(run, result) for run in runs_of(folder, "plummer", kernel + "-s") for result in run.results]
        for n, theirs in {**times, 10485760: None}.items():
            ours = []
            for run, result in results:
                errors = run.errors(result)
                fits = accuracy(result) == how if name == "ECL-BH" else errors[0] <= median and errors[1] <= p99
                if result["n"] == n and fits:
                    ours.append((run.ms(result), accuracy(result), errors))
            if not ours:
                raise Refused(f"{kernel} has nothing to hold against {name}, {how}, with {n} bodies")
            ms, our_how, errors = min(ours)
            rows.append([f"{name}, {how}", f"{median:.1e}", f"{p99:.1e}", f"{n:,}", "" if theirs is None else number(theirs, 3),
                         f"`{kernel}` {our_how}", number(ms, 3), "" if theirs is None else number(theirs / ms, 3),
                         number(errors[0], 2), number(errors[1], 2)])
    titles = ["other", "median", "p99", "bodies", "its ms", "ours", "our ms", "ratio", "our median", "our p99"]
    return table(titles, rows)


def drift_text(folder):
    rows = []
    for path in sorted(glob.glob(os.path.join(folder, "trees-drift-*-conserved.csv"))):
        with open(path, newline="", encoding="utf-8") as file:
            file.readline()  # the metadata
            sums = list(csv.DictReader(file))
        drift = [abs(float(row["total_drift"])) for row in sums if row["total_drift"]]
        if len(drift) < 2:
            raise Refused(f"{path} has no drift")
        kernel = re.sub(r".*trees-drift-(.*)-conserved.csv", r"\1", path)
        rows.append([f"`{kernel}`", sums[-1]["step"], f"{drift[-1]:.2e}", f"{max(drift):.2e}"])
    if not rows:
        raise Refused("no drift was recorded")
    return table(["kernel", "step", "relative energy drift", "greatest until then"], rows)


def page(folder):
    metadata = runs_of(folder, "plummer", "cuda-tree-s")[0].metadata
    if not metadata["gpu"]:
        raise Refused("bench names no GPU")
    with open(os.path.join(folder, "trees-memory.txt"), encoding="utf-8") as file:
        mib = positive(max(int(line) for line in file), "memory")
    text = (f"# Trees, {metadata['date'][:10]}\n\n{metadata['gpu']}, driver {metadata['driver']}; commit {metadata['git']}. A step "
            f"is force, tree built anew, and integration ({metadata['integrator']}); interactions are those evaluated. Errors are "
            f"|Δa|/|a| against fp64 on 4096 bodies at the first state.\n\n## Beside others (Plummer)\n\n{peers_text(folder)}")
    for system, title in SYSTEMS.items():
        for kernel in ("cuda-tree", "cuda-tree-lock"):
            text += f"\n## {title}: `{kernel}`\n\n{times_text(folder, system, kernel + '-s')}"
    text += f"\n## Energy over 1000 steps (Plummer, 65,536 bodies)\n\n{drift_text(folder)}"
    text += f"\nThe device had at most {mib:,} MiB in use while `cuda-tree` stepped 10,485,760 bodies.\n"
    return text


write_page(page, "trees.md")
