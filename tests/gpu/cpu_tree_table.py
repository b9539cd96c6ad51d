#!/usr/bin/env python3
"""What `cpu-tree` takes for each accuracy, beside `cpu-symmetric` in the same run of `bench`: a Markdown table. Needs no GPU.

chrt -r 10 cpu_tree_table.py ORRERY OUT_FOLDER [--sizes 16k,128k] [--scenes plummer,collapse] [--accuracies 1e-3,5e-4,1e-4,1e-5]
                                              [--repeat 6]

Of all settings measured, a row has the fastest whose median error is at most the accuracy. *ratio* is the step of
`cpu-symmetric` over that of `cpu-tree`. Under the real-time scheduler (chrt, where it is allowed), other programs do not
disturb the times; they stand still meanwhile. The files of `bench` go to OUT_FOLDER.
"""
import argparse
import os
import subprocess
import sys

from bench_tables import Refused, Run, table

DIRECT, TREE = "cpu-symmetric", "cpu-tree"
SETTINGS = {"local": ["order=local", "leaf=16", "tolerance=3e-3,2e-3,9e-4,8e-4,7e-5,6e-5"],
            "high": ["order=high", "leaf=32", "tolerance=1.1e-4,1e-4,7e-5,6e-5,4.4e-6,2.8e-6,2.2e-6"]}


def measured(arguments, scene, size, order):
    name = f"cpu-tree-{order}-{scene}-{size}"
    path = os.path.join(arguments.folder, name + ".json")
    settings = [word for setting in SETTINGS[order] for word in ("--set", setting)]
    done = subprocess.run([arguments.orrery, "bench", "--scene", scene, "-n", size, "--kernels", f"{DIRECT},{TREE}", "--repeat",
                           arguments.repeat, "--force", "--json", path, *settings], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"bench of {name} failed: {done.stderr.strip()}")
    return Run(arguments.folder, name)


def rows(arguments, scene, size):
    found = []
    for order in SETTINGS:
        run = measured(arguments, scene, size, order)
        direct, = (result for result in run.results if result["kernel"] == DIRECT)
        found += [(run.ms(result), run.ms(direct), run.errors(result), result["settings"], result["n"])
                  for result in run.results if result["kernel"] == TREE]
    for accuracy in arguments.accuracies.split(","):
        exact = [one for one in found if one[2][0] <= float(accuracy)]
        if not exact:
            raise Refused(f"no setting has a median error of at most {accuracy} for {scene}, {size}")
        ms, direct_ms, (median, p99, _), settings, n = min(exact, key=lambda one: one[0])
        yield [scene, f"{n:,}", accuracy, ", ".join(f"{name} {settings[name]}" for name in ("order", "leaf", "tolerance")),
               f"{ms:.3g}", f"{median:.1e}", f"{p99:.1e}", f"{direct_ms:,.3g}" if direct_ms < 1000 else f"{direct_ms:,.0f}",
               f"{direct_ms / ms:.3g}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("folder")
    parser.add_argument("--sizes", default="16k,128k")
    parser.add_argument("--scenes", default="plummer,collapse")
    parser.add_argument("--accuracies", default="1e-3,5e-4,1e-4,1e-5")
    parser.add_argument("--repeat", default="6")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    all_rows = [row for scene in arguments.scenes.split(",") for size in arguments.sizes.split(",")
                for row in rows(arguments, scene, size)]
    print(table(["scene", "bodies", "median error of at most", "settings", "ms per step", "median error", "p99",
                 f"`{DIRECT}`, ms", "ratio"], all_rows))


if __name__ == "__main__":
    try:
        main()
    except Refused as problem:
        sys.exit(f"cpu_tree_table.py: {problem}")
