"""Shared by the pages of trees on a GPU and on a CPU: how they name a tree's accuracy, and the table of its times."""
import glob
import os

from bench_tables import Refused, Run, number, positive, table

SYSTEMS = {"plummer": "Plummer sphere", "collapse": "Cold collapse after two free-fall times"}
COLLAPSE = ("The collapse is the scene `cold-collapse` after 1110 steps of 0.002 under a tree, two free-fall times; it is measured with the "
            "softening that the bodies of a file get, which is a fraction of the scene's")


def runs_of(folder, name):
    """All that was measured under NAME: in one file each, or in one with all numbers of bodies."""
    paths = sorted(glob.glob(os.path.join(folder, f"{name}*.json")))
    if not paths:
        raise Refused(f"there is no {name}*.json")
    return [Run(folder, os.path.basename(path)[: -len(".json")]) for path in paths]


def results_of(folder, name):
    """[(run, result)] of those."""
    return [(run, result) for run in runs_of(folder, name) for result in run.results]


def accuracy(result):
    settings = result["settings"]
    return ", ".join(f"{name} {settings[name]}" for name in ("theta", "tolerance") if name in settings)


def times_text(results):
    results = sorted(results, key=lambda pair: (accuracy(pair[1]), pair[1]["n"]))
    rows = []
    for run, result in results:
        ms, per_s = run.ms(result), positive(result["interactions_per_s"], "interactions/s")
        rows.append([accuracy(result), f"{result['n']:,}", number(ms), number(per_s * ms * 1e-3 / result["n"]),
                     f"{number(per_s * 1e-9, 3)} G", *(number(error, 2) for error in run.errors(result)), run.clock(result)])
    titles = ["accuracy", "bodies", "ms per step", "interactions per body", "interactions/s", "error: median", "p99", "max",
              "SM clock"]
    return table(titles, rows)
