#!/usr/bin/env python3
"""One process of two threads against two ranks of one thread, by turns: ms per step of `orrery run`, as a Markdown table.

    tests/benchmarks/ranks_table.py ORRERY [--kernel K] [--bodies N] [--steps S] [--turns T] [--before OTHER]

--before: also two ranks of another build. As root, set what mpirun needs (docs/usage/mpi.md). With `chrt -r 10` before the
command, other programs disturb the runs less.
"""
import argparse
import re
import statistics
import subprocess
import sys


def ms_per_step(command):
    ended = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"^([0-9.]+) (ms|us|s) per step", ended.stdout, re.M)
    if ended.returncode != 0 or not found:
        sys.exit(f"{' '.join(command)}: {ended.stderr or ended.stdout}")
    return float(found[1]) * {"us": 1e-3, "ms": 1, "s": 1e3}[found[2]]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("orrery")
    parser.add_argument("--kernel", default="cpu-tree")
    parser.add_argument("--bodies", default="64k")
    parser.add_argument("--steps", default="32")
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--before")
    args = parser.parse_args()
    run = ["run", "--scene", "plummer", "-n", args.bodies, "--kernel", args.kernel, "--steps", args.steps]
    commands = {"one process": [args.orrery, *run], "two ranks": ["mpirun", "-n", "2", args.orrery, *run]}
    if args.before:
        commands["two ranks before"] = ["mpirun", "-n", "2", args.before, *run]
    times = {name: [] for name in commands}
    for _ in range(args.turns):
        for name, command in commands.items():
            times[name].append(ms_per_step(command))
    print("| run | least | median | speed, least | speed, median |\n| --- | --- | --- | --- | --- |")
    one = times["one process"]
    for name, of_run in times.items():
        median = statistics.median(of_run)
        print(f"| {name} | {min(of_run):.3g} | {median:.3g} | {min(one) / min(of_run):.2f} | "
              f"{statistics.median(one) / median:.2f} |")


if __name__ == "__main__":
    main()
