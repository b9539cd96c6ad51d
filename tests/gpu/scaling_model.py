#!/usr/bin/env python3
"""Fits a cost model to the times of docs/measurements/scaling.md (GPUs) and docs/scaling.md (ranks), and prints what it
predicts for more of them, as Markdown.

    tests/gpu/scaling_model.py [--check]

--check: instead of printing, exits with 1 unless the documents contain the tables.

A step of N bodies on p GPUs takes

    T = work * (1 + imbalance) / p + rest + latency * log2(p) + bytes / bandwidth

work is w N^2 for direct sums and w N for trees; rest is r N + start, and is not divided. w, r, start and latency are fitted:
least squares of relative errors, none below 0. What these times cannot tell is assumed: see ASSUMED.

For ranks, r contains the copies and what is done once in each rank, and work is w N log2 N for trees.
"""
import argparse
import itertools
import math
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
OF_GPUS = os.path.join(ROOT, "docs", "measurements", "scaling.md")
OF_RANKS = os.path.join(ROOT, "docs", "scaling.md")
ASSUMED = {"imbalance of trees": 0.025,  # half of the largest that is left as it is
           "bytes of trees": 730,  # that a GPU with N bodies gets, per N^(2/3)
           "NVLink, bytes/ms": 450e6,  # NVIDIA's data sheet of the H100, one direction
           "between hosts, bytes/ms": 50e6}  # 400 Gbit/s for each GPU
GPUS_PER_HOST = 8
PREDICTED = (8, 64, 1024)
TWO_THREADS = 0  # in place of a number of ranks


def rows_below(heading, text):
    """Cells of the rows of all tables of a section whose first cell names a kernel; and the number of GPUs in the title of the
    fourth column, if one is there."""
    section = re.search(rf"^##+ {heading}\n(.*?)(?=^##|\Z)", text, re.S | re.M)[1]
    gpus = 0
    for line in section.splitlines():
        if not line.startswith("| "):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "kernel":
            gpus = int((re.match(r"ms, (\d+) GPUs", cells[3]) or [0, 0])[1])
        elif cells[0].startswith("`c"):
            yield cells[0].strip("`"), int(cells[1].replace(",", "")), cells[2:], gpus


def measured(text):
    """{(what, kernel): [(bodies, GPUs, ms)]}"""
    times = {}
    for what in "Direct sums", "Trees":
        for kernel, bodies, cells, gpus in rows_below(what, text):
            one, several = float(cells[0]), float(cells[1])
            if not cells[2].endswith("%"):  # rows with as many bodies per GPU have times of other rows
                times.setdefault((what, kernel), []).extend([(bodies, 1, one), (bodies, gpus, several)])
    return times


def solved(matrix, right):
    """By elimination with the largest pivot; None: singular."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda row: abs(rows[row][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        if rows[i][i] == 0:
            return None
        for k in range(len(rows)):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def fitted(equations, values):
    """Least squares with constants of at least 0: the best of all choices of those that are above it."""
    count, best = len(equations[0]), None
    for chosen in itertools.chain(*(itertools.combinations(range(count), size) for size in range(1, count + 1))):
        scale = [max(abs(equation[i]) for equation in equations) or 1.0 for i in chosen]
        scaled = [[equation[i] / s for i, s in zip(chosen, scale)] for equation in equations]
        matrix = [[sum(e[i] * e[k] for e in scaled) for k in range(len(chosen))] for i in range(len(chosen))]
        some = solved(matrix, [sum(e[i] * v for e, v in zip(scaled, values)) for i in range(len(chosen))])
        if some is None or min(some) < 0:
            continue
        error = sum((sum(a * b for a, b in zip(e, some)) - v) ** 2 for e, v in zip(scaled, values))
        if best is None or error < best[0]:
            constants = [0.0] * count
            for i, value, s in zip(chosen, some, scale):
                constants[i] = value / s
            best = error, constants
    return best[1]


def duration(ms):
    for unit, of_ms in ("ps", 1e9), ("ns", 1e6):
        if 0 < ms * of_ms < 1000:
            return f"{ms * of_ms:.3g} {unit}"
    return f"{1e3 * ms:.3g} µs"


class Model:
    """Of a kernel: `times` are triples of the bodies, the number of devices and ms."""

    def __init__(self, what, kernel, times):
        self.what, self.kernel = what, kernel
        # Divided by the measured time: so the errors are relative.
        equations = [[term / ms for term in self.terms(bodies, devices)] for bodies, devices, ms in times]
        self.constants = fitted(equations, [1 - self.copies_ms(bodies, devices) / ms for bodies, devices, ms in times])
        self.largest_error = max(abs(self.ms(bodies, devices) / ms - 1) for bodies, devices, ms in times)

    def ms(self, bodies, devices):
        return sum(a * b for a, b in zip(self.constants, self.terms(bodies, devices))) + self.copies_ms(bodies, devices)

    def row(self):
        return [f"`{self.kernel}`", *map(duration, self.constants), f"{100 * self.largest_error:.1f} %"]


class GpuModel(Model):
    def terms(self, bodies, gpus):
        """What the constants w, r, start and latency are multiplied with."""
        work = bodies**2 if self.what == "Direct sums" else bodies * (1 + ASSUMED["imbalance of trees"] * (gpus > 1))
        return [work / gpus, bodies, 1.0, math.log2(gpus)]

    def copies_ms(self, bodies, gpus):
        """The first GPU sends the bodies to each other GPU of its host by peer copies, which share its links. Over several
        hosts, a broadcast hands them on, and takes as long as the slowest link. It receives accelerations, or sums for all
        bodies."""
        link = ASSUMED["NVLink, bytes/ms" if gpus <= GPUS_PER_HOST else "between hosts, bytes/ms"]
        if self.what == "Trees":  # cells and bodies near the surface of its domain
            return ASSUMED["bytes of trees"] * (bodies / gpus) ** (2 / 3) * (gpus > 1) / link
        back = 12 * bodies * (gpus - 1) if self.kernel == "cuda-symmetric" else 16 * bodies * (gpus - 1) / gpus
        return (16 * bodies * (gpus - 1 if gpus <= GPUS_PER_HOST else 1) + back) / link

    def bound_ms(self, bodies, gpus):
        """If nothing but starts and latency were left undivided, and nothing were copied."""
        work, rest, start, hops = self.terms(bodies, gpus)
        return sum(a * b for a, b in zip(self.constants, (work, rest / gpus, start, hops)))


class RankModel(Model):
    """Ranks of one core each. One process of two threads has the work of two ranks, and no other costs."""

    def terms(self, bodies, ranks):
        work = bodies * math.log2(bodies) if self.kernel == "cpu-tree" else bodies**2
        if ranks == TWO_THREADS:
            return [work / 2, 0.0, 1.0, 0.0]
        return [work / ranks, bodies, 1.0, math.log2(ranks)]

    def copies_ms(self, bodies, ranks):
        return 0.0  # a part of r


def table(titles, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in (titles, ["---"] * len(titles), *rows)) + "\n"


CONSTANTS = ["kernel", "w", "r", "start", "latency", "largest error of the fit"]


def gpu_tables(text):
    times = measured(text)
    models = {key: GpuModel(*key, rows) for key, rows in times.items()}
    predictions = []
    for key, model in models.items():
        for bodies in sorted({bodies for bodies, _, _ in times[key]}):
            one = model.ms(bodies, 1)
            predictions.append([f"`{model.kernel}`", f"{bodies:,}"]
                               + [f"{model.ms(bodies, gpus):.3g} ({one / model.ms(bodies, gpus):.3g})" for gpus in PREDICTED]
                               + [f"{one / model.bound_ms(bodies, gpus):.3g}" for gpus in PREDICTED])
    return "\n".join([table(CONSTANTS, (model.row() for model in models.values())),
                      table(["kernel", "bodies", *(f"{gpus} GPUs: ms (times as fast)" for gpus in PREDICTED),
                             *(f"bound, {gpus} GPUs" for gpus in PREDICTED)], predictions)])


def rank_tables(text):
    times = {}
    for kernel, bodies, cells, _ in rows_below("Measured", text):
        times.setdefault(kernel, []).extend([(bodies, TWO_THREADS, float(cells[0])), (bodies, 2, float(cells[1]))])
    models = [RankModel("Ranks", kernel, rows) for kernel, rows in times.items()]
    predictions = [[f"`{model.kernel}`", f"{bodies:,}"] + [f"{model.ms(bodies, ranks):.3g}" for ranks in (1, *PREDICTED[:2])]
                   for model in models for bodies in sorted({bodies for bodies, _, _ in times[model.kernel]}, reverse=True)]
    return "\n".join([table(CONSTANTS, (model.row() for model in models)),
                      "Predicted, not measured, for cores of one host that are as fast as these:\n",
                      table(["kernel", "bodies", "ms, 1 rank", *(f"ms, {ranks} ranks" for ranks in PREDICTED[:2])], predictions)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    for document, tables_of in (OF_GPUS, gpu_tables), (OF_RANKS, rank_tables):
        with open(document, encoding="utf-8") as file:
            text = file.read()
        if not options.check:
            print(tables_of(text))
        elif tables_of(text) not in text:
            sys.exit(f"{document} does not have what tests/gpu/scaling_model.py prints")


if __name__ == "__main__":
    main()
