#!/usr/bin/env python3
"""Work and time to the same energy error: block steps against leapfrog, by `orrery race`.

usage: blocks_table.py ORRERY [--kernel ID] [--set NAME=VALUE]... [-n LIST] [--scenes LIST] [--softening E] [--until T]
                       [--dts LIST] [--blocks leapfrog-blocks|hermite4-blocks] [--blocks-kernel ID] [--blocks-dts LIST]
                       [--etas LIST]

Each system runs to the time T with leapfrog at each of --dts (4, 2, 1, 1/2 and 1/4 times the scene's dt without it), and with
block steps at each of --blocks-dts (the longest of leapfrog's without it) and each of --etas. Work is the interactions of all
evaluations, in those of one evaluation by leapfrog: with a direct sum, the evaluations of an average body.

The last two columns have block steps' share of leapfrog's work and time at the row's energy error. Leapfrog's are on the line
between the two runs around that error, in logarithms. "< 0.2": all runs of leapfrog have larger errors, and the least of them
takes 1/0.2 of this row; "> 1.2": all have smaller ones, and the largest of them takes 1/1.2. A run that fails ends the script
with status 1 and one line."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

from bench_tables import Refused, number, positive, table


def race(orrery, system, kernel, integrator, options):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "race.json")
        command = [orrery, "race", *system, *kernel, "--integrators", integrator, *options, "--json", out]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Refused(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        with open(out, encoding="utf-8") as file:
            results = json.load(file)["results"]
    for result in results:
        for key in ("seconds", "energy_error", "interactions", "evaluations"):
            positive(result[key], f"{key} of {integrator}")
    return results


def share(result, equal_steps, key):
    """Of what leapfrog needs for the energy error of `result`."""
    error = result["energy_error"]
    runs = sorted(equal_steps, key=lambda run: run["energy_error"])
    for finer, coarser in zip(runs, runs[1:]):
        low, high = finer["energy_error"], coarser["energy_error"]
        if low <= error <= high and low < high:
            part = math.log(error / low) / math.log(high / low)
            return number(result[key] / finer[key] * (finer[key] / coarser[key]) ** part, 2)
    sign, nearest = ("< ", runs[0]) if error < runs[0]["energy_error"] else ("> ", runs[-1])
    return sign + number(result[key] / nearest[key], 2)


def row(integrator, eta, result, of_one, shares):
    return [f"`{integrator}`", eta, number(result["dt"], 3), f"{result['evaluations']:,}",
            number(result["interactions"] / of_one, 3), number(result["seconds"], 3), f"{result['energy_error']:.1e}", *shares]


def system_text(asked, scene, count):
    system = ["--scene", scene, "-n", count, "--until", asked.until]
    if asked.softening:
        system += ["--softening", asked.softening]
    settings = [word for setting in asked.set for word in ("--set", setting)]
    kernel = ["--kernels", asked.kernel, *settings]
    equal_steps = race(asked.orrery, system, kernel, "leapfrog", ["--dt", asked.dts] if asked.dts else [])
    of_one = equal_steps[0]["interactions"] / equal_steps[0]["evaluations"]
    rows = [row("leapfrog", "", result, of_one, ["", ""]) for result in equal_steps]
    dts = asked.blocks_dts or repr(max(result["dt"] for result in equal_steps))
    blocks_kernel = ["--kernels", asked.blocks_kernel] if asked.blocks_kernel else kernel
    for eta in asked.etas.split(","):
        for result in race(asked.orrery, system, blocks_kernel, asked.blocks, ["--dt", dts, "--eta", eta]):
            shares = [share(result, equal_steps, key) for key in ("interactions", "seconds")]
            rows.append(row(asked.blocks, eta, result, of_one, shares))
    titles = ["integrator", "eta", "dt", "evaluations", "work", "time s", "energy error", "share of work", "of time"]
    kernels = " and ".join(f"`{id}`" for id in dict.fromkeys([asked.kernel, asked.blocks_kernel or asked.kernel]))
    softening = asked.softening or "the scene's"
    return f"{scene}, {count} bodies, softening {softening}, to t = {asked.until}, {kernels}\n\n{table(titles, rows)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("--kernel", default="cuda-tiled", help="it should take targets, see `orrery kernels`")
    parser.add_argument("--set", action="append", default=[], help="a setting of that kernel")
    parser.add_argument("-n", dest="counts", default="4k,16k,64k")
    parser.add_argument("--scenes", default="collapse,collision")
    parser.add_argument("--softening", help="the scene's without it")
    parser.add_argument("--until", default="1")
    parser.add_argument("--dts", help="time steps of leapfrog")
    parser.add_argument("--blocks", default="leapfrog-blocks", choices=["leapfrog-blocks", "hermite4-blocks"])
    parser.add_argument("--blocks-kernel", help="of block steps; that of leapfrog without it")
    parser.add_argument("--blocks-dts", help="the longest time steps of block steps")
    parser.add_argument("--etas", default="0.025,0.006,0.0015,0.0004,0.0001")
    asked = parser.parse_args()
    try:
        for scene in asked.scenes.split(","):
            for count in asked.counts.split(","):
                print(system_text(asked, scene, count), flush=True)
    except Refused as refused:
        sys.exit(f"blocks_table.py: {refused}")


if __name__ == "__main__":
    main()
