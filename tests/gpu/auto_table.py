#!/usr/bin/env python3
"""What `auto` takes at each accuracy, beside the fastest of a sweep that is as accurate: a Markdown table.

auto_table.py ORRERY [--sizes 16k,128k] [--accuracies 1e-2,1e-3] [--scenes plummer,collapse,collision] [--sweep LIST]

The sweep measures the direct sums that no other kernel beats, and the tree with many values of tolerance, or those
of --sweep; without a GPU, those of the CPU. The times of direct sums of more than 131,072 bodies are those of 131,072, times the square of the ratio.
The fastest of the sweep has a median error of at most the accuracy itself, `auto` of at most 90 % of it. Every run of `auto`
begins with an empty cache. *ratio* is the step of `auto` over that of the fastest. If the fastest takes more than 10 s per step,
`auto` is not measured.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

from bench_tables import Refused, number, positive, table

SCENES = ("plummer", "collapse", "collision")
SWEEPS = {"cpu-tree": "tolerance=1e-6,3e-6,1e-5,2e-5,5e-5,1e-4,2e-4,5e-4,1e-3,2e-3,5e-3,1e-2",
          "cuda-tree": "tolerance=5e-8,1e-7,3e-7,1e-6,3e-6,1e-5,2e-5,3e-5,5e-5,1e-4,2e-4,3e-4,5e-4,1e-3,2e-3,5e-3,1e-2"}
TREE_CHANGES = {"cuda-tree": ["--set", "rebuild=1,4", "--set", "order=local,high"],
                "cpu-tree": ["--set", "leaf=16,32", "--set", "order=local,high"]}
MOST_SUMMED = 131_072
SLOW_MS = 10_000
DIRECT = {"cuda": ["cuda-symmetric", "cuda-tensor", "cuda-tiled", "cuda-fp64"], "cpu": ["cpu-symmetric", "cpu-simd"]}


def bench(orrery, scene, n, *options):
    """Results of one `orrery bench` with an empty cache, and the seconds that it took."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "results.json")
        done = subprocess.run([orrery, "bench", "--scene", scene, "-n", n, "--repeat", "3", "--json", path, *options],
                              capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": folder}, check=False)
        if done.returncode != 0:
            raise Refused(f"bench {' '.join(options)} failed: {done.stderr.strip()}")
        with open(path, encoding="utf-8") as file:
            return json.load(file)["results"], time.monotonic() - begin


def median_error(result):
    return positive(result["error"]["median"], "median error")


def step_ms(result):
    return positive(result["step_ms"]["median"], "time of a step")


def words(result):
    settings = result["settings"]
    shown = [f"{name}={settings[name]}" for name in ("theta", "tolerance", "order", "leaf", "rebuild") if name in settings]
    return " ".join([f"`{result['kernel']}`", *shown])


def kernels_here(orrery):
    listed = json.loads(subprocess.run([orrery, "kernels", "--json"], capture_output=True, text=True, check=True).stdout)
    usable = {kernel["id"]: kernel["backend"] for kernel in listed if kernel["available"]}
    backend = "cuda" if "cuda" in usable.values() else "cpu"
    trees = [kernel for kernel in SWEEPS if usable.get(kernel) == backend]
    return trees, [kernel for kernel in DIRECT[backend] if kernel in usable]


def sweep(orrery, scene, n, values):
    trees, direct = kernels_here(orrery)
    found = []
    for tree in trees:
        tunable, initial = SWEEPS[tree].split("=")
        found += bench(orrery, scene, n, "--kernels", tree, "--set", f"{tunable}={values or initial}", *TREE_CHANGES.get(tree, []))[0]
    bodies = found[0]["n"]
    sums, _ = bench(orrery, scene, str(min(bodies, MOST_SUMMED)), "--kernels", ",".join(direct))
    for result in sums:
        result["step_ms"]["median"] *= (bodies / result["n"]) ** 2
        result["n"] = bodies
    return found + sums


def rows_of(orrery, scene, n, accuracies, values):
    rows = []
    swept = sweep(orrery, scene, n, values)
    for accuracy in accuracies:
        enough = [result for result in swept if median_error(result) <= float(accuracy)]
        best = min(enough, key=step_ms) if enough else None
        if not best or step_ms(best) > SLOW_MS:
            continue
        results, seconds = bench(orrery, scene, n, "--kernels", "auto", "--accuracy", accuracy)
        taken = results[0]
        rows.append([scene, f"{taken['n']:,}", accuracy, words(taken), number(step_ms(taken)), number(median_error(taken), 2),
                     words(best), number(step_ms(best)), number(median_error(best), 2), number(step_ms(taken) / step_ms(best), 3),
                     number(seconds, 3)])
        print(f"{scene} {n} {accuracy}: done in {seconds:.1f} s", file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("--sizes", default="1k,16k,128k,1M,10M")
    parser.add_argument("--accuracies", default="1e-2,1e-3,1e-4,1e-5,1e-6,1e-7")
    parser.add_argument("--scenes", default="plummer,collapse,collision")
    parser.add_argument("--sweep", help="values of the tree's tolerance, separated by commas (many)")
    options = parser.parse_args()
    scenes = options.scenes.split(",")
    unknown = sorted(set(scenes) - set(SCENES))
    if unknown:
        sys.exit(f"auto_table.py: no scene is named {', '.join(unknown)}; it knows {', '.join(SCENES)}")
    rows = []
    try:
        for scene in scenes:
            for n in options.sizes.split(","):
                rows += rows_of(options.orrery, scene, n, options.accuracies.split(","), options.sweep)
    except (Refused, OSError, KeyError, TypeError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"auto_table.py: {type(error).__name__}: {error}")
    print(table(["scene", "bodies", "accuracy", "`auto`", "ms per step", "median error", "fastest of the sweep", "ms per step", "median error",
                 "ratio", "whole command, s"], rows), end="")


if __name__ == "__main__":
    main()
