#!/usr/bin/env python3
"""Energy and angular momentum over many dynamical times, by `orrery run`: a Markdown table.

usage: conserved_table.py ORRERY [--backend cuda|cpu] [-n N] [--times 100] [--softening E] [--dt T]

A Plummer sphere in virial units runs for so many dynamical times of 2 sqrt(2), the crossing time GM^(5/2) / |2 E|^(3/2). Each
row is one integrator with one kernel. Changes are relative to the first state, largest and last of 200 samples; that of the angular
momentum is the length of its change over the kinetic energy times a dynamical time, since the sphere hardly rotates. A run that fails
ends the script with status 1 and one line."""
import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile
import time

from bench_tables import Refused, number, positive, table

DYNAMICAL_TIME = 2 * math.sqrt(2)
SAMPLES = 200
ROWS = {
    "cuda": (("leapfrog", "cuda-symmetric", "float"), ("leapfrog", "cuda-symmetric", "compensated"),
             ("leapfrog", "cuda-tree", "float"), ("leapfrog-blocks", "cuda-tiled", "float"),
             ("yoshida4", "cuda-symmetric", "compensated"), ("hermite4", "cuda-jerk", "float"),
             ("hermite4-blocks", "cuda-jerk", "float")),
    "cpu": (("leapfrog", "cpu-symmetric", "float"), ("leapfrog", "cpu-symmetric", "compensated"),
            ("leapfrog", "cpu-tree", "float"), ("leapfrog-blocks", "cpu-simd", "float"),
            ("yoshida4", "cpu-symmetric", "compensated"), ("hermite4", "cpu-jerk", "float"),
            ("hermite4-blocks", "cpu-jerk", "float")),
}


def samples_of(asked, integrator, kernel, digits):
    """Rows of the diagnostics, and the seconds that the whole command took."""
    until = float(asked.times) * DYNAMICAL_TIME
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "diagnostics.csv")
        command = [asked.orrery, "run", "--scene", "plummer", "-n", asked.count, "--until", repr(until), "--kernel", kernel,
                   "--integrator", integrator, "--digits", digits, "--diagnostics", path, "--every", repr(until / SAMPLES)]
        for option in ("softening", "dt"):
            if getattr(asked, option):
                command += [f"--{option}", getattr(asked, option)]
        begin = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - begin
        if done.returncode != 0:
            raise Refused(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        with open(path, encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    if len(rows) < SAMPLES:
        raise Refused(f"{integrator} with {kernel} has {len(rows)} samples")
    return rows, seconds


def changes(rows):
    """Of each sample: the relative change of the energy, and that of the angular momentum."""
    def spin(row):
        return [float(row[f"angular_momentum_{axis}"]) for axis in "xyz"]

    first, scale = rows[0], float(rows[0]["kinetic"]) * DYNAMICAL_TIME
    energy = [abs(float(row["total"]) / float(first["total"]) - 1) for row in rows]
    turn = [math.dist(spin(row), spin(first)) / scale for row in rows]
    for value in energy + turn:
        if not math.isfinite(value):
            raise Refused("a change is not finite")
    return energy, turn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("--backend", default="cuda", choices=sorted(ROWS))
    parser.add_argument("-n", dest="count", default="4k")
    parser.add_argument("--times", default="100", help="dynamical times")
    parser.add_argument("--softening", help="the scene's without it")
    parser.add_argument("--dt", help="the scene's without it")
    asked = parser.parse_args()
    rows = []
    try:
        for integrator, kernel, digits in ROWS[asked.backend]:
            samples, seconds = samples_of(asked, integrator, kernel, digits)
            energy, turn = changes(samples)
            rows.append([f"`{integrator}`", f"`{kernel}`", digits, number(positive(seconds, "the time"), 3),
                         *(f"{value:.1e}" for value in (max(energy), energy[-1], max(turn), turn[-1]))])
            print(f"{integrator} with {kernel}, {digits}: done in {seconds:.1f} s", file=sys.stderr)
    except (Refused, OSError, KeyError, ValueError) as error:
        sys.exit(f"conserved_table.py: {error}")
    print(f"Plummer sphere, {asked.count} bodies, softening {asked.softening or 'of the scene'}, dt {asked.dt or 'of the scene'}, "
          f"{asked.times} dynamical times\n")
    print(table(["integrator", "kernel", "digits", "whole command, s", "energy: largest change", "last", "angular momentum: largest", "last"],
                rows), end="")


if __name__ == "__main__":
    main()
