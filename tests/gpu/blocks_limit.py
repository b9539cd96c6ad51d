#!/usr/bin/env python3
"""The least work of block steps of second order, as a share of that of equal steps with the same energy error.

usage: blocks_limit.py ORRERY [-n N] [--scenes LIST] [--softening E] [--until T] [--states S]

A leapfrog with steps of dt conserves, to dt^4, not the energy E, but E + dt^2 sum m (v j'/12 - a a/24), with the acceleration
a and j' = -da/dt of a body (Hairer, Lubich & Wanner 2006, Geometric Numerical Integration, IX). So a body's part of the
error is at most dt^2 q with q = |v j|/12 + a a/24, unless errors cancel. If each body may have any step of its own, the
least work for the sum of these parts is that of dt ~ q^(-1/3). It is <q^(1/3)>^(3/2) / <q>^(1/2) of the work of equal steps.
If these may also change with time, it is the mean of the numerator over the time divided by the greatest denominator.

Runs each scene with leapfrog and prints both, for S states. No GPU is needed; the time grows as N^2 S."""
import argparse
import glob
import math
import os
import subprocess
import sys
import tempfile

from bench_tables import Refused, number, positive, table


def states(asked, scene, folder):
    every = positive(float(asked.until), "--until") / asked.states
    command = [asked.orrery, "run", "--scene", scene, "-n", str(asked.count), "--integrator", "leapfrog", "--kernel", asked.kernel,
               "--until", asked.until, "--snapshots", folder, "--every", repr(every), "--format", "text"]
    if asked.softening:
        command += ["--softening", asked.softening]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    for name in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        with open(name, encoding="utf-8") as file:
            lines = file.read().splitlines()
        time = float(lines[0].split("=")[1])
        yield time, [[float(word) for word in line.split()] for line in lines if not line.startswith("#")]


def parts_of_error(bodies):
    """q of each body; rows are m x y z vx vy vz softening."""
    pulls = [[0.0] * 6 for _ in bodies]
    for i, (m, x, y, z, u, v, w, softening) in enumerate(bodies):
        mine = pulls[i]
        for k in range(i):
            n, xk, yk, zk, uk, vk, wk, _ = bodies[k]
            dx, dy, dz, du, dv, dw = xk - x, yk - y, zk - z, uk - u, vk - v, wk - w
            square = dx * dx + dy * dy + dz * dz + softening * softening
            inverse = 1 / (square * math.sqrt(square))
            along = 3 * (dx * du + dy * dv + dz * dw) / square
            terms = (dx, dy, dz, du - along * dx, dv - along * dy, dw - along * dz)
            theirs = pulls[k]
            for c, term in enumerate(terms):
                mine[c] += n * inverse * term
                theirs[c] -= m * inverse * term
    return [abs(b[4] * p[3] + b[5] * p[4] + b[6] * p[5]) / 12 + (p[0] ** 2 + p[1] ** 2 + p[2] ** 2) / 24
            for b, p in zip(bodies, pulls)]


def scene_text(asked, scene):
    rows, blocks, equal = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for time, bodies in states(asked, scene, folder):
            parts = parts_of_error(bodies)
            blocks.append(positive(sum(q ** (1 / 3) for q in parts) / len(parts), "a sum") ** 1.5)
            equal.append(math.sqrt(positive(sum(parts) / len(parts), "a sum")))
            rows.append([number(time, 3), number(equal[-1], 3), number(blocks[-1], 3), number(blocks[-1] / equal[-1], 2)])
    whole = sum(blocks) / len(blocks) / max(equal)
    softening = asked.softening or "the scene's"
    titles = ["t", "work of equal steps", "of block steps", "share"]
    return (f"{scene}, {asked.count} bodies, softening {softening}\n\n{table(titles, rows)}\n"
            f"Over the whole time: {number(whole, 2)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("-n", dest="count", type=int, default=1000)
    parser.add_argument("--kernel", default="auto")
    parser.add_argument("--scenes", default="collapse,collision")
    parser.add_argument("--softening", help="the scene's without it")
    parser.add_argument("--until", default="2")
    parser.add_argument("--states", type=int, default=16, help="beside the first")
    asked = parser.parse_args()
    try:
        for scene in asked.scenes.split(","):
            print(scene_text(asked, scene), flush=True)
    except Refused as refused:
        sys.exit(f"blocks_limit.py: {refused}")


if __name__ == "__main__":
    main()
