#!/usr/bin/env python3
"""Joins what `evidence.sh BUILD_FOLDER OUT_FOLDER cpu-trees` measured into one page of tables.

usage: cpu_trees_table.py OUT_FOLDER

Reads OUT_FOLDER/cpu-trees-SYSTEM*.json; writes OUT_FOLDER/cpu-trees.md. A figure that is missing, not finite or not positive ends it
with status 1 and one line."""
import math

from bench_tables import Refused, number, table, write_page
from tree_tables import COLLAPSE, SYSTEMS, results_of, runs_of, times_text

TREE = "cpu-tree"
DIRECT = ("cpu-simd", "cpu-symmetric")
TARGET_BODIES = 16384


def times_of(folder, system):
    """{n: {kernel: ms}}, every kernel for every n."""
    times = {}
    for run, result in results_of(folder, f"cpu-trees-{system}"):
        same = times.setdefault(result["n"], {})
        if result["kernel"] in same:
            raise Refused(f"{system} has {result['kernel']} with {result['n']} bodies twice")
        same[result["kernel"]] = run.ms(result)
    for n, same in times.items():
        if same.keys() != {TREE, *DIRECT}:
            raise Refused(f"{system} with {n} bodies has {sorted(same)}")
    return dict(sorted(times.items()))


def crossover(times, direct):
    """A sentence: from how many bodies on the tree is faster at all counts measured. Interpolates between two counts by a power law."""
    counts = list(times)
    ratio = [times[n][direct] / times[n][TREE] for n in counts]
    first = len(counts)
    while first > 0 and ratio[first - 1] >= 1:
        first -= 1
    if first == len(counts):
        return f"above {counts[-1]:,}"
    if first == 0:
        return f"below {counts[0]:,}"
    low, high = counts[first - 1], counts[first]
    part = -math.log(ratio[first - 1]) / math.log(ratio[first] / ratio[first - 1])
    return f"near {round(low * (high / low) ** part / 10) * 10:,}"


def system_text(folder, system):
    times = times_of(folder, system)
    if TARGET_BODIES not in times:
        raise Refused(f"{system} was not measured with {TARGET_BODIES} bodies")
    (run, result), = [(run, result) for run, result in results_of(folder, f"cpu-trees-{system}")
                      if result["kernel"] == TREE and result["n"] == TARGET_BODIES]
    median, p99, _ = run.errors(result)
    rows = [[f"{n:,}", *(number(same[kernel]) for kernel in (TREE, *DIRECT)),
             *(number(same[kernel] / same[TREE], 3) for kernel in DIRECT)] for n, same in times.items()]
    titles = ["bodies", *(f"`{kernel}`" for kernel in (TREE, *DIRECT)), *(f"`{kernel}` over tree" for kernel in DIRECT)]
    crossings = ", ".join(f"that with `{direct}` {crossover(times, direct)} bodies" for direct in DIRECT)
    trees = [pair for pair in results_of(folder, f"cpu-trees-{system}") if pair[1]["kernel"] == TREE]
    return (f"At {TARGET_BODIES:,} bodies `{TREE}` makes {number(1e3 / run.ms(result), 3)} steps/s at a median error of "
            f"{number(median, 2)} and a p99 of {number(p99, 2)}. The crossover, from which it is faster: {crossings}.\n\n"
            f"{table(titles, rows)}\n{times_text(trees)}")


def page(folder):
    runs = [run for system in SYSTEMS for run in runs_of(folder, f"cpu-trees-{system}")]
    threads = {result["settings"]["threads"] for run in runs for result in run.results}
    if len(threads) != 1:
        raise Refused(f"different numbers of threads: {sorted(threads)}")
    metadata = runs[0].metadata
    text = (f"# Trees on a CPU, {metadata['date'][:10]}\n\n{metadata['cpu']}, {threads.pop()} threads; commit {metadata['git']}. ms of a "
            f"step: force, tree built anew, and integration ({metadata['integrator']}). Errors are |Δa|/|a| against fp64 on at most 4096 "
            f"bodies at the first state. {COLLAPSE}.\n")
    for system, title in SYSTEMS.items():
        text += f"\n## {title}\n\n{system_text(folder, system)}"
    return text


write_page(page, "cpu-trees.md")
