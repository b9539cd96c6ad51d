#!/usr/bin/env python3
"""Measures what several GPUs of one host gain: writes OUT/scaling.md and the JSON of every run of `bench` to OUT.

    tests/gpu/scaling.py ORRERY OUT [--devices LIST] [--rounds R] [--parts PART,...] [--nccl] [--ranks] [--again]

One device, the first of LIST (default: all), and all of LIST take turns, R times (2); a time is the median of the
rounds' medians, each with everything that a step includes. PART is one of direct, tree, weak, collapse, copies, ranks,
tree_ranks; all, if none is named. `copies` compares peer copies with NCCL, and needs --nccl. The last two compare the devices
of one process with a rank of mpirun for each, by NCCL and by MPI, and need --ranks. Tables are written anew after every row.
`collapse` leaves its snapshots in OUT, where they are taken again.
--again makes the tables from the JSON in OUT, and runs nothing; it needs --devices and --rounds as they were.

The last table is a prediction for more GPUs by Amdahl's law from the times of one and of all: what all do together shrinks
with their number, and the rest takes as long as before.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from bench_tables import Refused, Run, number, table

M = 1 << 20
DIRECT_BODIES = (64 << 10, 256 << 10, M)
TREE_BODIES = (M, 4 * M, 16 * M, 64 * M)
WEAK_BODIES = 16 * M
RANK_TREE_BODIES = (M, 4 * M, 16 * M)
PARTS = ("direct", "tree", "weak", "collapse", "copies", "ranks", "tree_ranks")
ONE_ROUND_FROM = 64 * M  # making so many bodies takes longer than the steps
TITLES = ["kernel", "bodies", "ms, one GPU", "ms, {} GPUs", "times as fast", "interactions/s", "error, one GPU: median", "max",
          "error, {} GPUs: median", "max"]


class Bench:
    """Runs `orrery bench` on one device or on several; or reads what it wrote before."""

    def __init__(self, orrery, out, devices, again):
        self.orrery, self.out, self.devices, self.again = orrery, out, devices, again
        self.measured = set()  # names

    def run(self, name, devices, kernels, source, **how):
        """{kernel: (Run, result)}"""
        if not self.again and name not in self.measured:
            self.measure(name, devices, kernels, source, **how)
            self.measured.add(name)
        run = Run(self.out, name)
        return {result["kernel"]: (run, result) for result in run.results}

    def measure(self, name, devices, kernels, source, nccl=False, by_ranks=False):
        file = os.path.join(self.out, name + ".json")
        warmup = 12 if kernels == ["cuda-tree"] else 3  # by then a tree's parts have their sizes
        steps = ["--repeat", "5", "--warmup", str(warmup)]
        words = [self.orrery, "bench", *source, "--kernels", ",".join(kernels), *steps, "--json", file, "--force"]
        words += ["--devices", devices]
        if by_ranks:
            words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(devices.count(",") + 1), *words]
        environment = dict(os.environ, ORRERY_NCCL="1" if nccl else "0", OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        ended = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if ended.returncode != 0:
            raise Refused(f"{' '.join(words)}: {ended.stdout.strip().splitlines()[-1:]}")


class Page:
    def __init__(self, out, gpus):
        self.file, self.gpus, self.sections = os.path.join(out, "scaling.md"), gpus, []
        self.times = []  # (title, kernel, bodies, ms of one GPU, ms of all)

    def section(self, title, titles):
        self.sections.append((title, [each.format(self.gpus) for each in titles], []))

    def row(self, cells):
        self.sections[-1][2].append(cells)
        print("| " + " | ".join(cells) + " |", flush=True)
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("\n".join(f"## {title}\n\n{table(titles, rows)}" for title, titles, rows in self.sections if rows))

    def time(self, kernel, bodies, ms):
        self.times.append((self.sections[-1][0], kernel, bodies, *ms))

    def predict(self):
        more = [2 * self.gpus, 4 * self.gpus]
        self.section("Predicted", ["bodies of", "kernel", "bodies", "ms that do not shrink", "of the time of one GPU",
                                   *(f"ms, {gpus} GPUs, predicted" for gpus in more), *(f"times as fast, {gpus} GPUs" for gpus in more)])
        for title, kernel, bodies, one, several in self.times:
            shrinks = (one - several) * self.gpus / (self.gpus - 1)
            rest = max(one - shrinks, 0)
            ms = [rest + shrinks / gpus for gpus in more]
            self.row([title, f"`{kernel}`", f"{bodies:,}", number(rest, 3), f"{number(100 * rest / one, 2)} %", *(number(each, 3) for each in ms),
                      *(number(one / each, 3) for each in ms)])


def in_turn(bench, page, name, kernels, source, bodies, rounds):
    """A row for each kernel: one device against all, on the same bodies."""
    one, several = [], []
    for turn in range(rounds):
        one.append(bench.run(f"{name}-one-{turn}", bench.devices[0], kernels, source))
        several.append(bench.run(f"{name}-all-{turn}", ",".join(bench.devices), kernels, source))
    for kernel in kernels:
        ms = [statistics.median(run.ms(result) for run, result in (each[kernel] for each in runs)) for runs in (one, several)]
        (run_one, result_one), (run_all, result_all) = one[-1][kernel], several[-1][kernel]
        errors = [number(error, 2) for run, result in ((run_one, result_one), (run_all, result_all))
                  for error in (run.errors(result)[0], run.errors(result)[2])]
        # The rate of the last round, brought to the median time.
        rate = result_all["interactions_per_s"] * run_all.ms(result_all) / ms[1]
        page.row([f"`{kernel}`", f"{bodies:,}", number(ms[0]), number(ms[1]), number(ms[0] / ms[1], 3), f"{number(rate * 1e-12, 3)} T",
                  *errors])
        page.time(kernel, bodies, ms)


def rounds_for(bodies, rounds):
    return 1 if bodies >= ONE_ROUND_FROM else rounds


def direct(bench, page, rounds):
    page.section("Direct sums", TITLES)
    for bodies in DIRECT_BODIES:
        in_turn(bench, page, f"direct-{bodies}", ["cuda-tiled", "cuda-symmetric"], ["--scene", "plummer", "-n", str(bodies)], bodies,
                rounds)


def tree(bench, page, rounds):
    page.section("Trees, Plummer sphere", TITLES)
    for bodies in TREE_BODIES:
        in_turn(bench, page, f"tree-{bodies}", ["cuda-tree"], ["--scene", "plummer", "-n", str(bodies)], bodies,
                rounds_for(bodies, rounds))


def weak(bench, page, rounds):
    gpus = len(bench.devices)
    page.section("As many bodies per GPU", ["kernel", "bodies per GPU", "ms, one GPU", "ms, {} GPUs", "efficiency"])
    ms = []
    for which, devices, bodies in (("one", bench.devices[:1], WEAK_BODIES), ("all", bench.devices, WEAK_BODIES * gpus)):
        source = ["--scene", "plummer", "-n", str(bodies)]
        runs = [bench.run(f"tree-{bodies}-{which}-{turn}", ",".join(devices), ["cuda-tree"], source)["cuda-tree"]
                for turn in range(rounds_for(bodies, rounds))]
        ms.append(statistics.median(run.ms(result) for run, result in runs))
    page.row(["`cuda-tree`", f"{WEAK_BODIES:,}", number(ms[0]), number(ms[1]), f"{100 * ms[0] / ms[1]:.0f} %"])


def collapse(bench, page, rounds):
    page.section("Trees, cold collapse after two free-fall times", TITLES)
    for bodies in TREE_BODIES:
        folder = os.path.join(bench.out, f"collapse-{bodies}")
        if not bench.again and not os.path.isdir(folder):
            make_collapse(bench, bodies, folder)
        source = [] if bench.again else [max(os.path.join(folder, name) for name in os.listdir(folder))]
        in_turn(bench, page, f"collapse-{bodies}", ["cuda-tree"], source, bodies, rounds_for(bodies, rounds))


def make_collapse(bench, bodies, folder):
    unfinished = folder + "-unfinished"
    words = [bench.orrery, "run", "--scene", "cold-collapse", "-n", str(bodies), "--kernel", "cuda-tree", "--dt", "0.002", "--until",
             "2.22", "--every", "2.22", "--snapshots", unfinished, "--devices", ",".join(bench.devices), "--force"]
    ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ended.returncode != 0:
        raise Refused(f"{' '.join(words)}: {ended.stdout.strip().splitlines()[-1:]}")
    os.rename(unfinished, folder)


def copies(bench, page, rounds):
    page.section("Copies of the bodies", ["kernel", "bodies", "ms, peer copies", "ms, NCCL"])
    for kernel, bodies in (("cuda-tiled", 64 << 10), ("cuda-tiled", 256 << 10), ("cuda-symmetric", 256 << 10)):
        ms = []
        for nccl in (False, True):
            runs = [bench.run(f"copies-{kernel}-{bodies}-{int(nccl)}-{turn}", ",".join(bench.devices), [kernel],
                              ["--scene", "plummer", "-n", str(bodies)], nccl=nccl)[kernel] for turn in range(rounds)]
            ms.append(statistics.median(run.ms(result) for run, result in runs))
        page.row([f"`{kernel}`", f"{bodies:,}", *map(number, ms)])


def way_of_ranks(result, count):
    """How the data got from GPU to GPU: "NCCL 2.28.3", or "MPI (...)"."""
    return result["chosen"].split(f"ranks {count}, ", 1)[1]


RANKS_TITLES = ["kernel", "bodies", "ms, one GPU", "ms, {0} GPUs of one process", "ms, {0} ranks with a GPU each", "their data by",
                "ms, {0} ranks by MPI", "times as fast as one GPU"]


def ranks(bench, page, rounds):
    page.section("Ranks of mpirun", RANKS_TITLES)
    for bodies in DIRECT_BODIES:
        for kernel in "cuda-tiled", "cuda-symmetric":
            page.row(ranks_in_turn(bench, kernel, bodies, rounds)[0])


def tree_ranks(bench, page, rounds):
    page.section("Trees of ranks of mpirun", [*RANKS_TITLES, "error, one GPU: median", "max", "error, {0} ranks: median", "max"])
    for bodies in RANK_TREE_BODIES:
        cells, last = ranks_in_turn(bench, "cuda-tree", bodies, rounds)
        page.row([*cells, *(number(error, 2) for way in ("one", "ranks") for error in last[way][::2])])


def ranks_in_turn(bench, kernel, bodies, rounds):
    """The cells of a row: one GPU, all of one process, and a rank for each by NCCL and by MPI, on the same bodies. And the
    errors of each in the last round."""
    times, by, errors = {"one": [], "all": [], "ranks": [], "mpi": []}, {}, {}
    for turn in range(rounds):
        for way, of_way in times.items():
            devices = bench.devices[:1] if way == "one" else bench.devices
            run, result = bench.run(f"ranks-{kernel}-{bodies}-{way}-{turn}", ",".join(devices), [kernel],
                                    ["--scene", "plummer", "-n", str(bodies)], nccl=way == "ranks",
                                    by_ranks=way in ("ranks", "mpi"))[kernel]
            of_way.append(run.ms(result))
            errors[way] = run.errors(result)
            if way in ("ranks", "mpi"):
                by[way] = way_of_ranks(result, len(devices))
                expected = "NCCL" if way == "ranks" else "MPI"
                if not by[way].startswith(expected):
                    raise Refused(f"the data of ranks went by {by[way]}, not by {expected}")
    ms = {way: statistics.median(of_way) for way, of_way in times.items()}
    return [f"`{kernel}`", f"{bodies:,}", number(ms["one"]), number(ms["all"]), number(ms["ranks"]), by["ranks"], number(ms["mpi"]),
            number(ms["one"] / ms["ranks"], 3)], errors


def devices_of(orrery, asked):
    if asked:
        return asked.split(",")
    # Its status is not 0 where there is no display, for example.
    info = json.loads(subprocess.run([orrery, "info", "--json"], stdout=subprocess.PIPE, text=True, check=False).stdout)
    return [str(i) for i in range(len(info["cuda"]["devices"]))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("orrery")
    parser.add_argument("out")
    parser.add_argument("--devices", default="")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--parts", default="")
    parser.add_argument("--nccl", action="store_true")
    parser.add_argument("--ranks", action="store_true")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    left_out = {part for part, asked in (("copies", options.nccl), ("ranks", options.ranks), ("tree_ranks", options.ranks))
                if not asked}
    parts = options.parts.split(",") if options.parts else [part for part in PARTS if part not in left_out]
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        sys.exit(f"scaling.py: unknown parts {', '.join(unknown)}; known: {', '.join(PARTS)}")
    os.makedirs(options.out, exist_ok=True)
    devices = devices_of(options.orrery, options.devices)
    if len(devices) < 2:
        sys.exit(f"scaling.py: one GPU is here ({', '.join(devices)}); name it twice for a trial: --devices 0,0")
    bench, page = Bench(options.orrery, options.out, devices, options.again), Page(options.out, len(devices))
    failed = False
    for part in parts:
        begin = time.monotonic()
        try:
            globals()[part](bench, page, options.rounds)
        except (Refused, OSError, KeyError, TypeError, ValueError) as error:
            failed = True
            print(f"scaling.py: {part}: {type(error).__name__}: {error}", flush=True)
        print(f"{part}: {time.monotonic() - begin:.0f} s", flush=True)
    if page.times:
        page.predict()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
