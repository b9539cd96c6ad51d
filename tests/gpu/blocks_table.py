#!/usr/bin/env python3
"""Time to the same energy error: leapfrog-blocks against leapfrog, by `orrery race`.

usage: blocks_table.py ORRERY [--kernel ID] [-n LIST] [--scenes LIST] [--softening E] [--until T] [--etas LIST]

Each system runs to the time T with leapfrog at 4, 2, 1, 1/2 and 1/4 times the scene's dt, and with leapfrog-blocks at 4 times
its dt, once per eta. The last column of a row of leapfrog-blocks is the least time of leapfrog whose energy
error is not larger, over the row's own time; it is empty where all errors of leapfrog are larger. A run that fails ends
the script with status 1 and one line."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from bench_tables import Refused, number, positive, table


def race(orrery, system, integrator, options):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "race.json")
        command = [orrery, "race", *system, "--integrators", integrator, *options, "--json", out]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Refused(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
        with open(out, encoding="utf-8") as file:
            results = json.load(file)["results"]
    for result in results:
        positive(result["seconds"], f"the time of {integrator}")
        positive(result["energy_error"], f"the energy error of {integrator}")
    return results


def seconds_at(results, error):
    """The least time of leapfrog whose energy error is not larger; None: all of them are."""
    return min((r["seconds"] for r in results if r["energy_error"] <= error), default=None)


def row(integrator, eta, result, ratio=None):
    return [integrator, eta, number(result["dt"], 3), number(result["seconds"], 3), f"{result['energy_error']:.1e}",
            "" if ratio is None else number(ratio, 3)]


def system_text(asked, scene, count):
    orrery = asked.orrery
    system = ["--scene", scene, "-n", count, "--until", asked.until, "--kernels", asked.kernel]
    if asked.softening:
        system += ["--softening", asked.softening]
    equal_steps = race(orrery, system, "leapfrog", [])
    rows = [row("`leapfrog`", "", result) for result in equal_steps]
    longest = max(result["dt"] for result in equal_steps)
    for eta in asked.etas.split(","):
        (result,) = race(orrery, system, "leapfrog-blocks", ["--dt", repr(longest), "--eta", eta])
        theirs = seconds_at(equal_steps, result["energy_error"])
        rows.append(row("`leapfrog-blocks`", eta, result, theirs and theirs / result["seconds"]))
    titles = ["integrator", "eta", "dt", "time s", "energy error", "leapfrog at this error over this"]
    softening = asked.softening or "the scene's"
    return f"{scene}, {count} bodies, softening {softening}, to t = {asked.until}, `{asked.kernel}`\n\n{table(titles, rows)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("--kernel", default="cuda-tiled", help="it should take targets, see `orrery kernels`")
    parser.add_argument("-n", dest="counts", default="4k,16k,64k")
    parser.add_argument("--scenes", default="collapse,collision")
    parser.add_argument("--softening", help="the scene's without it")
    parser.add_argument("--until", default="1")
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
