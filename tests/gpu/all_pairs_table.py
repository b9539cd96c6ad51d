#!/usr/bin/env python3
"""Joins what `evidence.sh BUILD_FOLDER OUT_FOLDER all-pairs` measured into one page of tables.

usage: all_pairs_table.py OUT_FOLDER

Reads OUT_FOLDER/all-pairs-*.json and, if present, the output of NVIDIA's nbody sample before and after. Writes
OUT_FOLDER/all-pairs.md. If a figure is missing, not finite or not positive, it ends with status 1 and one line."""
import os
import re

from bench_tables import Refused, Run, number, positive, table, write_page

MASSES = ("unequal", "equal")
SAMPLE_COMMAND = re.compile(r"^\$ .* -numbodies=(\d+) -i=(\d+)$")
SAMPLE_TIME = re.compile(r"^(\d+) bodies, total time for (\d+) iterations: (\S+) ms$")
SAMPLE_GPU = re.compile(r"^> Compute \S+ CUDA device: \[(.*)\]$")


def sample_times(path, gpu):
    """{n: ms per step} that NVIDIA's sample printed; each command must have its time, on the same GPU."""
    times, asked = {}, None
    with open(path, encoding="utf-8") as file:
        for line in map(str.rstrip, file):
            if found := SAMPLE_GPU.match(line):
                if found[1] not in gpu:
                    raise Refused(f"the sample ran on {found[1]}, bench on {gpu}")
            if found := SAMPLE_COMMAND.match(line):
                if asked:
                    raise Refused(f"{path}: no time for {asked[0]} bodies")
                asked = found.groups()
            elif found := SAMPLE_TIME.match(line):
                if found.groups()[:2] != asked:
                    raise Refused(f"{path}: asked for {asked}, got '{line}'")
                total = float(found[3])
                times[int(found[1])] = positive(total, f"{path}: time of {found[1]} bodies") / int(found[2])
                asked = None
    if asked or not times:
        raise Refused(f"{path}: the last time is missing")
    return times


def rate(n, ms):
    return f"{number(n * n / ms * 1e-9, 3)} T"


def times_text(run, before, after):
    """`before` and `after`: {n: ms} of the sample, or empty. Ratios are over its faster run."""
    sample_titles = ["sample: ms before", "after", "ratio"] if before else []
    titles = ["bodies", "kernel", "ms per step", "interactions/s", *sample_titles, "error: median", "p99", "max", "SM clock",
              "chosen"]
    groups, rows = run.by_kernel(), []
    absent = sorted(set(before) - set(run.metadata["n"]))
    if absent:
        raise Refused(f"{run.name} lacks {absent} bodies, which the sample has")
    for n in run.metadata["n"]:
        for kernel in run.kernels():
            result = groups[kernel][n]
            ms = run.ms(result)
            sample = [""] * len(sample_titles)
            if n in before:
                sample = [number(before[n]), number(after[n]), number(min(before[n], after[n]) / ms, 3)]
            rows.append([f"{n:,}", f"`{kernel}`", number(ms), rate(n, ms), *sample,
                         *(number(error, 2) for error in run.errors(result)), run.clock(result),
                         result["chosen"] or ""])
    return table(titles, rows)


def verify_text(runs):
    rows = []
    for masses, run in runs.items():
        for kernel, results in sorted(run.by_kernel().items(), reverse=True):
            for n, result in sorted(results.items()):
                if result["result"] != "PASS":
                    raise Refused(f"{run.name}: {kernel} with {n} bodies is a {result['result']}")
                rows.append([f"`{kernel}`", masses, f"{n:,}", *(number(error, 2) for error in run.errors(result))])
    return table(["kernel", "masses", "bodies", "error: median", "p99", "max"], rows)


def deterministic_text(runs):
    rows = []
    for masses, run in runs.items():
        switch = run.by("deterministic")
        for n in run.metadata["n"]:
            results = [switch[value][n] for value in ("off", "on")]
            off, on = map(run.ms, results)
            rows.append([f"{n:,}", masses, number(off), number(on), f"{100 * (on / off - 1):+.1f} %",
                         *(number(run.errors(result)[0], 2) for result in results)])
    return table(["bodies", "masses", "ms, off", "on", "cost", "error: median, off", "on"], rows)


def lanes_text(runs):
    titles, rows = None, []
    for masses, run in runs.items():
        lanes = run.by("bodies-per-lane")
        titles = ["bodies", "masses", *(f"ms, {value}" for value in lanes)]
        for n in run.metadata["n"]:
            rows.append([f"{n:,}", masses, *(number(run.ms(results[n])) for results in lanes.values())])
    return table(titles, rows)


def page(folder):
    def both(part):
        return {masses: Run(folder, f"all-pairs-{part}-{masses}") for masses in MASSES}

    bench = both("bench")
    metadata = bench[MASSES[0]].metadata
    gpu = metadata["gpu"]
    if not gpu:
        raise Refused("bench names no GPU")
    before, after = {}, {}
    texts = [os.path.join(folder, f"all-pairs-sample-{when}.txt") for when in ("before", "after")]
    if any(map(os.path.exists, texts)):
        before, after = (sample_times(path, gpu) for path in texts)
        if before.keys() != after.keys():
            raise Refused("the sample's runs before and after differ in their numbers of bodies")
    sample = ("NVIDIA's nbody sample ran before and after; the ratio is over its faster run." if before else
              "NVIDIA's nbody sample was not measured.")
    text = (f"# All pairs, {metadata['date'][:10]}\n\n{gpu}, driver {metadata['driver']}; commit {metadata['git']}. One step is "
            f"force and integration ({metadata['integrator']}); T is 1e12 interactions/s, N² a step. Errors are |Δa|/|a| "
            f"against fp64 at the first state. {sample}\n")
    for masses, run in bench.items():
        text += f"\n## {masses.capitalize()} masses (scene {run.metadata['scene']})\n\n{times_text(run, before, after)}"
    text += f"\n## verify\n\n{verify_text(both('verify'))}"
    text += f"\n## The cost of `deterministic`\n\n{deterministic_text(both('deterministic'))}"
    text += f"\n## Bodies per lane\n\n{lanes_text(both('lanes'))}"
    return text


write_page(page, "all-pairs.md")
