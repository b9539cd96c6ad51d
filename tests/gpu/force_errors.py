#!/usr/bin/env python3
"""Prints how the force errors of the trees are spread over the bodies of six systems, beside the time of a step.

usage: force_errors.py ORRERY [KERNEL ...] [n=N] [order=A,B] [tolerance=A,B] [system=A,B] [length=L] [repeat=R]
                       [set=NAME=VALUE] [against=OTHER] [rounds=R]

KERNEL: the trees (cpu-tree). n: bodies (20000). length: multiplies all lengths (1); the errors do not depend on it. A row
has the median, the 99th percentile and the maximum of |a - fp64| / |fp64| over a sample of 4096 bodies, the last two also
over the median, and the median time of a step of leapfrog. With `against`, another build of orrery runs in turn with the
first, as often as `rounds` (3) says: the row ends with the least time of each and their ratio. Needs no packages."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

SOFTENING = 0.02


def direction(rng):
    x, y, z = (rng.gauss(0, 1) for _ in range(3))
    r = math.sqrt(x * x + y * y + z * z)
    return x / r, y / r, z / r


def at(rng, radius, centre=(0, 0, 0)):
    return tuple(c + radius * u for c, u in zip(centre, direction(rng)))


def plummer_radius(rng, scale=1, outermost=0.9999):
    return scale / math.sqrt((outermost * (1 - rng.random())) ** (-2 / 3) - 1)


def plummer(n, rng):
    return [(1 / n, *at(rng, plummer_radius(rng))) for _ in range(n)]


def clumpy(n, rng):
    clumps = [(at(rng, 10 * rng.random() ** (1 / 3)), rng.uniform(0.1, 0.5)) for _ in range(30)]
    return [(1 / n, *at(rng, plummer_radius(rng, clumps[i % 30][1], 0.999), clumps[i % 30][0])) for i in range(n)]


def lognormal(n, rng):
    return [(1 / n, *at(rng, math.exp(rng.gauss(0, 1.5)))) for _ in range(n)]


def disc(n, rng):
    bodies = []
    for _ in range(n):
        r, phi = -math.log((1 - rng.random()) * (1 - rng.random())), rng.uniform(0, 2 * math.pi)
        bodies.append((1 / n, r * math.cos(phi), r * math.sin(phi), rng.gauss(0, 0.05)))
    return bodies


def star(n, rng):
    """A star among planetesimals of a thousandth of its mass in all."""
    bodies = []
    for _ in range(n - 1):
        r, phi = 0.5 * 20 ** rng.random(), rng.uniform(0, 2 * math.pi)
        bodies.append((1e-3 / n, r * math.cos(phi), r * math.sin(phi), rng.gauss(0, 0.02 * r)))
    return bodies[: n // 3] + [(1, 0, 0, 0)] + bodies[n // 3 :]


def uniform(n, rng):
    return [(1 / n, *at(rng, rng.random() ** (1 / 3))) for _ in range(n)]


SYSTEMS = {make.__name__: make for make in (plummer, clumpy, lognormal, disc, star, uniform)}


def measure(orrery, path, kernel, options, softening):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        sets = [f"--set={name}={options[name]}" for name in ("order", "tolerance") if kernel != "cuda-tree-lock"]
        if options["set"]:
            sets.append("--set=" + options["set"])
        command = [orrery, "bench", path, "--kernels", kernel, *sets, "--law", "gravity", "--softening", repr(softening),
                   "--repeat", options["repeat"], "--json", out]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"force_errors: {' '.join(command)}\n{done.stdout}{done.stderr}")
        with open(out) as file:
            return json.load(file)["results"]


def compared(runs, i):
    """The least times of two programs for result i, and their ratio."""
    if len(runs[0]) == 1:
        return ""
    least = [min(run[which][i]["step_ms"]["min"] for run in runs) for which in (0, 1)]
    return f" {least[0]:.3f} | {least[1]:.3f} | {least[0] / least[1]:.3f} |"


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    options = {"n": "20000", "order": "quadrupole,local,high", "tolerance": "1e-2,1e-3,1e-4,1e-5", "length": "1",
               "system": ",".join(SYSTEMS), "repeat": "10", "set": "", "against": "", "rounds": "3"}
    kernels = []
    for argument in arguments[1:]:
        name, equals, value = argument.partition("=")
        if equals and name not in options:
            sys.exit(f"force_errors: no option {name}; known: {', '.join(options)}")
        options.update({name: value}) if equals else kernels.append(argument)
    length = float(options["length"])
    columns = ["system", "kernel", "order", "tolerance", "median", "p99", "max", "p99 / median", "max / median", "ms"]
    columns += ["least ms", "least ms of the other", "ratio"] if options["against"] else []
    print("| " + " | ".join(columns) + " |\n|" + " --- |" * len(columns))
    with tempfile.TemporaryDirectory() as folder:
        for system in options["system"].split(","):
            path = os.path.join(folder, system + ".txt")
            with open(path, "w") as file:
                file.write("# m x y z vx vy vz\n")
                for m, *place in SYSTEMS[system](int(options["n"]), random.Random(1)):
                    file.write(" ".join(f"{v:.9g}" for v in (m, *(x * length for x in place))) + " 0 0 0\n")
            for kernel in kernels or ["cpu-tree"]:
                rounds = int(options["rounds"]) if options["against"] else 1
                programs = [arguments[0], options["against"]] if options["against"] else [arguments[0]]
                runs = [[measure(program, path, kernel, options, SOFTENING * length) for program in programs]
                        for _ in range(rounds)]
                for i, result in enumerate(runs[0][0]):
                    error, settings = result["error"], result["settings"]
                    median, p99, greatest = (error[key] for key in ("median", "p99", "max"))
                    print(f"| {system} | {kernel} | {settings.get('order', '')} | {settings.get('tolerance', '')} | {median:.2e} | "
                          f"{p99:.2e} | {greatest:.2e} | {p99 / median:.1f} | {greatest / median:.1f} | "
                          f"{result['step_ms']['median']:.3f} |{compared(runs, i)}", flush=True)


main(sys.argv[1:])
