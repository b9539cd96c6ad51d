#!/usr/bin/env python3
"""Measures every CUDA variant and every step of the sources' own comparisons, and writes their figures beside ours.

  literature.py ORRERY OUT_FOLDER [SAMPLES]
  literature.py --check ORRERY

Runs `orrery bench` once for each variant and writes OUT_FOLDER/literature.md, with what each run wrote as JSON in
OUT_FOLDER/literature/. Exits 1 if a variant could not be measured or its forces are not finite; the table then names
it. With --check nothing is measured: exits 1 unless the program has every kernel and setting that is named below.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field

COUNTS = (16384, 20480, 65536)
SCENE = ("--scene", "plummer", "--integrator", "euler")


@dataclass(frozen=True)
class Variant:
    kernel: str
    settings: tuple = ()  # (name, value): what is not named is at its default
    law: str = "gravity"


@dataclass
class Step:
    row: str  # of literature.md
    what: str  # in the source's words
    variant: Variant
    speedup: float | None = None  # the source's, over the step `base`
    said: str = ""  # the source's figure as it states it
    base: int = 0  # index of the step that the speed-up is over
    counts: tuple = COUNTS


@dataclass
class Ladder:
    source: str
    machine: str
    steps: list
    notes: str = ""
    rates: dict = field(default_factory=dict)  # (step's index, n) -> interactions/s in the source


def variant(kernel, law="gravity", **settings):
    named = ((name.replace("_", "-"), str(value)) for name, value in settings.items())
    return Variant(kernel, tuple(sorted(named)), law)


# 1/sqrt as the sources write it, without flags. A loop that no pragma unrolls is unrolled by 4 by the compiler.
AS_WRITTEN = {"rsqrt": "exact", "ftz": "off"}
FAST = {"rsqrt": "fast", "ftz": "on"}
# Of the kernels that have no such settings.
FIXED_ARITHMETIC = {"cuda-branchy": "exact, ftz off", "cuda-fp64": "fp64", "cuda-constant": "fast, ftz off",
                    "cuda-shuffle": "fast, ftz off", "cuda-symmetric": "fast, ftz off", "cuda-tensor": "fast, ftz off"}
SIMPLE_TILE = {"bodies_per_thread": 1, "split": 1}


def brute_force():
    law = "attract-repel"
    plain = dict(law=law, layout="float4", epilogue="fused", unroll=4, **AS_WRITTEN)
    counted = variant("cuda-tiled-count", law, **AS_WRITTEN)
    hybrid = variant("cuda-hybrid", law, **AS_WRITTEN)
    return Ladder(
        "Brute Force N-Body Optimization (document 000)", "GTX 1060, 20,480 bodies, blocks of 1,024 (here 256), mean of 1000 runs",
        [
            Step("1", "nBodyGPU5", variant("cuda-branchy", law), 1.0, "95.8 ms"),
            Step("2", "v1: no tile, softened 1/sqrt, kick in the force kernel", variant("cuda-naive", **plain), 5.81,
                 "16.5 ms"),
            Step("3", "v3: shared-memory tile", variant("cuda-tiled", **SIMPLE_TILE, **plain), 6.54, "14.64 ms"),
            Step("2", "v1 with the GPU's approximate 1/sqrt", variant("cuda-naive", **{**plain, **FAST})),
            Step("3", "v3 with the GPU's approximate 1/sqrt", variant("cuda-tiled", **SIMPLE_TILE, **{**plain, **FAST})),
            Step("4", "v5: tile counted by __syncthreads_count", counted, 6.54, "14.64 ms"),
            Step("5", "v5 hybrid, best case: the block divides N", hybrid, 6.54, "14.64 ms"),
            Step("5", "v5 hybrid, worst case: the largest remainder", hybrid, 6.03, "15.88 ms", counts=(20479,)),
        ],
        "Law attract-repel. The baseline is nBodyGPU5, as in the source; the worst case is compared with 20,480 bodies. "
        "All take the square root and the division as the source writes them; v1 and v3 are also listed "
        "with the approximate 1/sqrt.")


def handbook_unroll():
    def unrolled(factor):
        return variant("cuda-naive", layout="float4", epilogue="stored", unroll=factor, **AS_WRITTEN)

    said = {1: (1.0, "25 G/s"), 2: (30 / 25, "30 G/s"), 16: (34.3 / 25, "34.3 G/s")}
    return Ladder(
        "CUDA Handbook 14.2, table 14.1 (document 001)", "not named there; 25 to 34.3 G interactions/s",
        [Step("8", f"naive, unroll {factor}", unrolled(factor), *said.get(factor, (None, "")))
         for factor in (1, 2, 4, 8, 16, 24, 32)])


def handbook_atomics():
    counts = (8192, *COUNTS)
    plain = dict(layout="float4", epilogue="stored", **AS_WRITTEN)
    return Ladder(
        "N-Body: FP Atomics v. Recomputation (document 004)", "GK104, 8192 bodies",
        [
            Step("10", "naive", variant("cuda-naive", **plain), 1.0, "62 ms", counts=counts),
            Step("10", "shared", variant("cuda-tiled", **SIMPLE_TILE, **plain), 62 / 55, "55 ms", counts=counts),
            Step("22", "atomics: half the pairs, three atomic adds each", variant("cuda-atomic", **AS_WRITTEN),
                 62 / 90, "90 ms", counts=counts),
        ])


def handbook_today():
    """The Handbook's programs as they are, measured on an H100; ours at their defaults."""
    names = (("8", "naive", "cuda-naive"), ("16", "shared", "cuda-tiled"), ("10", "constant", "cuda-constant"),
             ("10", "shuffle", "cuda-shuffle"), ("22", "atomic", "cuda-atomic"))
    theirs = {16384: (0.150e12, 0.466e12, 0.266e12, 0.314e12, 0.009e12),
              65536: (0.591e12, 1.282e12, 0.967e12, 1.115e12, 0.017e12)}
    return Ladder(
        "The CUDA Handbook's programs, ours at their default settings", "one H100 SXM, measured 2026-11-21",
        [Step(row, name, Variant(kernel)) for row, name, kernel in names],
        "Ratio: our interactions/s over the Handbook's program's on an H100.",
        {(index, n): rate for n, rates in theirs.items() for index, rate in enumerate(rates)})


def uth():
    def hostloop(pinned):
        return variant("cuda-hostloop", block=1024, pinned=pinned, **AS_WRITTEN)

    def naive(layout):
        return variant("cuda-naive", layout=layout, unroll=1, **common, **AS_WRITTEN)

    def tiled(layout, unroll, **arithmetic):
        return variant("cuda-tiled", layout=layout, unroll=unroll, **SIMPLE_TILE, **common,
                       **(arithmetic or AS_WRITTEN))

    common = dict(block=1024, epilogue="fused")
    approximate = dict(rsqrt="fast", ftz="off")
    unrolls = [Step("17", f"unroll {factor}", tiled("soa", factor), None, "best" if factor == 16 else "", base=5)
               for factor in (2, 4, 8, 16, 24, 32)]
    best = 5 + 4  # the step of unroll 16
    steps = [
        Step("14", "naive, positions on the host (5.1)", hostloop("off")),
        Step("19", "the same, pinned memory (5.7)", hostloop("on"), 1.0, "no gain"),
        Step("18", "naive with positions on the GPU (5.5)", naive("aos6"), None, "small gain"),
        Step("15", "structure of arrays (5.2)", naive("soa"), 1.0, "no gain", base=2),
        Step("15", "tiled, array of structures (5.3)", tiled("aos6", 1), None, "slower than tiled soa", base=2),
        Step("16", "tiled, structure of arrays (5.3)", tiled("soa", 1), 1.25, "1.25x", base=3),
        *unrolls,
        Step("18", "FP16 (5.6)", variant("cuda-fp16", block=1024, **AS_WRITTEN), None, "slightly slower", base=best),
        Step("20", "rsqrtf (5.8)", tiled("soa", 16, **approximate), 2.12, "2.12x", base=best),
        Step("20", "flush to zero (5.9)", tiled("soa", 16, **FAST), 1.15, "1.15x", base=best + 4),
        Step("20", "float3 (5.10)", tiled("float3", 16, **FAST), 1.0, "no gain", base=best + 5),
        Step("20", "float4 (5.10)", tiled("float4", 16, **FAST), 1.0, "no gain", base=best + 5),
    ]
    return Ladder(
        "UTH homework (document 003)", "Tesla K80; 30k, 64k and 128k bodies", steps,
        "Each speed-up is over the step named, as in the source, which gives most figures as plots without numbers. It "
        "kept positions on the host until 5.5; here every step but the first two keeps them on the GPU.")


LADDERS = (brute_force(), handbook_unroll(), handbook_atomics(), handbook_today(), uth())


def cuda_kernels(orrery):
    listed = subprocess.run([orrery, "kernels", "--json"], check=True, capture_output=True, text=True).stdout
    return [kernel for kernel in json.loads(listed) if kernel["backend"] == "cuda"]


class Lab:
    """Runs the program and keeps what it measured."""

    def __init__(self, orrery, out, samples):
        self.orrery, self.samples = orrery, samples
        self.folder = os.path.join(out, "literature")
        os.makedirs(self.folder, exist_ok=True)
        self.results, self.problems, self.metadata = {}, {}, None

    def measure(self, wanted, counts):
        name = "-".join([wanted.kernel, wanted.law, *(f"{key}={value}" for key, value in wanted.settings)])
        path = os.path.join(self.folder, name + ".json")
        if os.path.exists(path):
            os.remove(path)  # or the program would write beside it
        command = [self.orrery, "bench", *SCENE, "--kernels", wanted.kernel, "--law", wanted.law, "-n",
                   ",".join(map(str, sorted(counts))), "--repeat", str(self.samples), "--json", path]
        for key, value in wanted.settings:
            command += ["--set", f"{key}={value}"]
        run = subprocess.run(command, capture_output=True, text=True)
        print(f"{'ok   ' if run.returncode == 0 else 'FAIL '} {name}", flush=True)
        if run.returncode != 0:
            said = run.stderr.strip().splitlines()
            self.problems[wanted] = said[-1] if said else f"exit {run.returncode}"
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            whole = json.load(file)
        self.metadata = self.metadata or whole["metadata"]
        for result in whole["results"]:
            self.results[wanted, result["n"]] = result
        for skip in whole["skipped"]:
            self.problems.setdefault(wanted, skip["reason"])

    def interval(self, wanted, n):
        """The 95 % interval of the median time of a step."""
        time = self.results[wanted, n]["step_ms"]
        return time["low"], time["high"]

    def ms(self, wanted, n):
        result = self.results.get((wanted, n))
        return result["step_ms"]["median"] if result else None


def number(value, digits=4):
    return "" if value is None else f"{value:.{digits}g}"


def rate(value):
    if value is None:
        return ""
    return f"{value / 1e12:.3g} T" if value >= 1e12 else f"{value / 1e9:.3g} G"


def settings_text(result, wanted):
    """What was asked for; the rest is at its default, which `chosen` may say more of."""
    text = " ".join(f"{key}={value}" for key, value in wanted.settings) or "defaults"
    return text + (f" ({result['chosen']})" if result.get("chosen") else "")


def arithmetic_text(result, wanted):
    """1/sqrt and the treatment of denormal numbers, asked for or by default."""
    settings = result.get("settings", {})
    if "rsqrt" in settings:
        return f"{settings['rsqrt']}, ftz {settings['ftz']}"
    return FIXED_ARITHMETIC.get(wanted.kernel, "")


def measured_cells(lab, wanted, n):
    result = lab.results.get((wanted, n))
    if result is None:
        return [lab.problems.get(wanted, "not measured"), "", "", "", "", "", "", ""]
    error, card = result["error"], result.get("card") or {}
    occupancy = card.get("occupancy")
    return [number(result["step_ms"]["median"]), rate(result["interactions_per_s"]), number(error["median"], 2),
            number(error["p99"], 2), number(error["max"], 2), number(card.get("registers")),
            number(card.get("local_bytes")), "" if occupancy is None else f"{100 * occupancy:.0f} %"]


MEASURED = ["ms per step", "interactions/s", "error: median", "p99", "max", "registers", "local bytes", "occupancy"]


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def places(values):
    """{key: rank from 1}, the largest value first; equal values share a rank."""
    return {key: 1 + sum(other > value for other in values.values()) for key, value in values.items()}


def open_places(times):
    """{key: "2" or "2-4"}, the ranks that the 95 % intervals {key: (low, high)} allow, 1 the fastest: the
    program's own rule. "-" if there is no interval."""
    known = {key: interval for key, interval in times.items() if None not in interval}
    text = {}
    for key in times:
        if key not in known:
            text[key] = "-"
            continue
        low, high = known[key]
        first = 1 + sum(other_high < low for _, other_high in known.values())
        last = sum(other_low <= high for other_low, _ in known.values())
        text[key] = str(first) if first == last else f"{first}-{last}"
    return text


def source_places(ladder, n):
    """The source's order, if it gives one: by rates, else by speed-ups over one common base."""
    rates = {index: value for (index, count), value in ladder.rates.items() if count == n}
    if rates:
        return places(rates)
    if any(step.base != 0 for step in ladder.steps):
        return {}
    return places({index: step.speedup for index, step in enumerate(ladder.steps) if step.speedup is not None})


def ladder_rows(lab, ladder, n):
    """One row per step. A step that was also measured at one body fewer, the worst case of a block, has a second row."""
    steps = {}  # index -> the N at which it was measured
    for index, step in enumerate(ladder.steps):
        if n in step.counts:
            steps[index] = n
        elif len(step.counts) == 1 and step.counts[0] + 1 == n:
            steps[index] = step.counts[0]
    theirs = source_places(ladder, n)
    ours = open_places({index: lab.interval(ladder.steps[index].variant, count) for index, count in steps.items()
                        if index in theirs and (ladder.steps[index].variant, count) in lab.results})
    rows = []
    for index, count in steps.items():
        step = ladder.steps[index]
        own, base = lab.ms(step.variant, count), lab.ms(ladder.steps[step.base].variant, n)
        result = lab.results.get((step.variant, count), {})
        known = ladder.rates.get((index, n))
        if ladder.rates:
            source, source_ratio = rate(known), "" if known is None else "1"
            ratio = result["interactions_per_s"] / known if result and known else None
        else:
            source, source_ratio = step.said, number(step.speedup, 3)
            ratio = base / own if base and own else None
        over = "" if ladder.rates or index == step.base else ladder.steps[step.base].what
        rows.append([step.row, step.what, f"`{step.variant.kernel}`", settings_text(result, step.variant),
                     arithmetic_text(result, step.variant), f"{count:,}", *measured_cells(lab, step.variant, count), source, source_ratio, number(ratio, 3), over,
                     str(theirs.get(index, "")), ours.get(index, "")])
    return rows


def ladder_text(lab, ladder):
    titles = ["row", "the source's step", "variant", "settings", "1/sqrt", "n", *MEASURED, "source", "source's ratio",
              "our ratio", "ratio over", "source's rank", "our rank"]
    text = f"## {ladder.source}\n\nThe source's machine: {ladder.machine}. {ladder.notes}\n"
    for n in sorted({count for step in ladder.steps for count in step.counts if len(step.counts) > 1}):
        text += f"\n{table(titles, ladder_rows(lab, ladder, n))}"
    return text


def overview_text(lab, variants):
    text = "## Every CUDA variant at its default settings\n"
    for n in COUNTS:
        timed = {wanted: lab.ms(wanted, n) for wanted in variants}
        order = sorted(variants, key=lambda wanted: (timed[wanted] is None, timed[wanted] or 0))
        ranks = open_places({wanted: lab.interval(wanted, n) for wanted in variants if (wanted, n) in lab.results})
        rows = []
        for wanted in order:
            result = lab.results.get((wanted, n), {})
            rows.append([ranks.get(wanted, "-"), f"`{wanted.kernel}`", settings_text(result, wanted),
                         arithmetic_text(result, wanted), f"{n:,}", *measured_cells(lab, wanted, n)])
        text += "\n" + table(["rank", "variant", "settings", "1/sqrt", "n", *MEASURED], rows)
    return text


def headline(lab):
    """Row 1 against row 3, the figure that document 000 is about."""
    steps = LADDERS[0].steps
    first, third = lab.ms(steps[0].variant, 20480), lab.ms(steps[2].variant, 20480)
    ours = f"{first / third:.3g}" if first and third else "not measured"
    return f"Row 1 against row 3 at 20,480 bodies: {ours}; the source: {steps[2].speedup}.\n"


def report(lab, variants):
    names = ("gpu", "driver", "cuda_runtime", "version", "git", "date", "scene", "integrator", "seed")
    machine = "; ".join(f"{name} {lab.metadata[name]}" for name in names if lab.metadata.get(name) is not None)
    return "\n".join([
        "# The literature's techniques, measured\n",
        f"{machine}. Median of {lab.samples} samples, after warm-up, of one step: forces, and the update of "
        "velocities and positions. Error: |Δa|/|a| against a direct sum in fp64 on 4096 bodies. A ratio is a speed-up: the "
        "base's time over the step's. A rank of ours is a range, \"2-3\", if the 95 % intervals of the medians overlap.\n",
        headline(lab), overview_text(lab, variants), *(ladder_text(lab, ladder) for ladder in LADDERS)])


def missing(kernels):
    """A line for each kernel or setting of the ladders that the program does not have."""
    known = {kernel["id"]: {tunable["name"]: tunable["values"] for tunable in kernel["tunables"]} for kernel in kernels}
    for one in dict.fromkeys(step.variant for ladder in LADDERS for step in ladder.steps):
        if one.kernel not in known:
            yield f"no kernel {one.kernel}"
            continue
        for name, value in one.settings:
            if value not in known[one.kernel].get(name, ()):
                yield f"{one.kernel} has no {name}={value}"


def check(orrery):
    problems = sorted(set(missing(cuda_kernels(orrery))))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        check(sys.argv[2])
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    lab = Lab(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) == 4 else 15)
    overview = [Variant(kernel["id"]) for kernel in cuda_kernels(lab.orrery)]
    wanted = {one: set(COUNTS) for one in overview}
    for ladder in LADDERS:
        for step in ladder.steps:
            wanted.setdefault(step.variant, set()).update(step.counts)
    for one, counts in wanted.items():
        lab.measure(one, counts)
    if lab.metadata is None:
        sys.exit("nothing could be measured: " + next(iter(lab.problems.values()), "no variant"))
    path = os.path.join(sys.argv[2], "literature.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(report(lab, overview))
    print("wrote", path)
    for one, problem in lab.problems.items():
        print(f"{one.kernel} {dict(one.settings)}: {problem}", file=sys.stderr)
    sys.exit(1 if lab.problems else 0)


if __name__ == "__main__":
    main()
