#!/usr/bin/env python3
"""Compares the figures of `orrery profile` with those of Nsight Compute.

  profile_against_ncu.py ORRERY [N]
  profile_against_ncu.py --check

Profiles cuda-naive, cuda-tiled, cuda-symmetric, cuda-tensor and the walk of cuda-tree with both, over the same part of
one evaluation of N bodies (65536), and prints every figure with its difference. Exits 1 if one differs by more than
5 % and by more than 0.5 percentage points, 0.05 warps or 0.5 % of what the memory moves in that time, or if one of the
two programs has no figures. With --check it only tests the comparison itself. `ncu` must be on PATH, and this user must
have the right to profile.
"""

import csv
import io
import json
import math
import pathlib
import subprocess
import sys

KERNELS = ("cuda-naive", "cuda-tiled", "cuda-symmetric", "cuda-tensor", "cuda-tree")
REASONS = ("barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard",
           "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected",
           "short_scoreboard", "sleeping", "tex_throttle", "wait")
# The metrics of each figure, as in app/features/profile/kernel_profile.cpp: the first that the chip has.
SHARES = {
    "issue": ("smsp__issue_active.avg.pct_of_peak_sustained_active",),
    "occupancy": ("sm__warps_active.avg.pct_of_peak_sustained_active",),
    "fma": ("sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",),
    "alu": ("sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",),
    "xu": ("sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",),
    "tensor": ("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",),
    "fp16": ("sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_active",
             "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active"),
    "fp64": ("sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",),
    "lsu": ("sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",),
    "l1": ("l1tex__throughput.avg.pct_of_peak_sustained_active",),
    "l2": ("lts__throughput.avg.pct_of_peak_sustained_elapsed",),
    "dram": ("dram__throughput.avg.pct_of_peak_sustained_elapsed",),
}
COUNTS = {
    "instructions": ("smsp__inst_executed.sum",),
}
BYTES = {"dram_bytes": ("dram__bytes.sum",)}
CLOCK = {"clock_mhz": ("sm__cycles_elapsed.avg.per_second",)}
FIGURES = {**SHARES, **COUNTS, **BYTES, **CLOCK}
# Percentages of the time of the range: Nsight Compute's begins earlier and ends later than Orrery's, which is the time of
# the kernels. So both are taken times their range, which is the work done.
OF_THE_RANGE = ("l2", "dram")
RANGE = "gpu__time_duration.sum"
WITHIN = 0.05  # of the value
LEAST_WARPS, LEAST_POINTS, LEAST_OF_DRAM = 0.05, 0.5, 0.005  # below this, two values are equal
# The metrics with units that Nsight Compute may write in several ways: what one of each is in bytes, ns or Hz.
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "ns": 1, "nsecond": 1, "us": 1e3, "usecond": 1e3, "ms": 1e6,
         "msecond": 1e6, "s": 1e9, "second": 1e9, "hz": 1, "Hz": 1, "Khz": 1e3, "Mhz": 1e6, "Ghz": 1e9, "cycle/second": 1,
         "cycle/usecond": 1e6, "cycle/nsecond": 1e9, "cycle/s": 1, "cycle/us": 1e6, "cycle/ns": 1e9}
WITH_UNITS = (RANGE, *BYTES["dram_bytes"], *CLOCK["clock_mhz"])
SCALES = {"clock_mhz": 1e-6}  # from the metric to the figure


def stall_metric(reason):
    return f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"


def differs(ours, theirs, least):
    """Whether two values of one figure disagree. A value that is not a number always does."""
    if not all(map(math.isfinite, (ours, theirs, least))):
        return True
    return abs(ours - theirs) > max(WITHIN * abs(theirs), least)


def read_ncu(text):
    """The values by metric of the one range in `ncu --csv --page raw`: a row of names, one of units, one of values."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.reader(io.StringIO("\n".join(lines))))
    if len(rows) < 3:
        raise SystemExit("ncu printed no values:\n" + text[-2000:])
    if len(rows) > 3:
        raise SystemExit(f"ncu measured {len(rows) - 2} ranges instead of one")
    values = {}
    for name, unit, value in zip(*rows):
        if name in WITH_UNITS and unit not in UNITS:
            raise SystemExit(f"ncu gives {name} in '{unit}', which this script does not know")
        try:
            values[name] = float(value.replace(",", "")) * (UNITS[unit] if name in WITH_UNITS else 1)
        except ValueError:  # "n/a", or what describes the range
            continue
    return values


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def least_of(name, figures):
    """The difference that is always allowed, in the unit of the figure."""
    if name in SHARES:
        return LEAST_POINTS
    if name in BYTES:
        return LEAST_OF_DRAM * figures.get("dram_limit_per_s", math.nan) * figures.get("part_ms", math.nan) / 1e3
    return 0


def rows_of(ours, theirs):
    """The name, both values and the least difference of each figure of a chip that has its metric."""
    missing = set(ours["missing"])

    def number(values, name):
        value = values.get(name)
        return math.nan if value is None else value

    for reason in REASONS:
        if stall_metric(reason) not in missing:
            yield reason, number(ours["stalls"], reason), number(theirs, stall_metric(reason)), LEAST_WARPS
    for name, metrics in FIGURES.items():
        there = [metric for metric in metrics if metric not in missing]
        if not there:
            continue
        other = number(theirs, there[0]) * SCALES.get(name, 1)
        if name in OF_THE_RANGE:
            other *= number(theirs, RANGE) / (1e6 * number(ours["figures"], "part_ms"))
        yield name, number(ours["figures"], name), other, least_of(name, ours["figures"])


def compare(ours, theirs):
    """Prints one line for each figure. Returns how many were compared, and how many of them differ."""
    compared = wrong = 0
    for name, own, other, least in rows_of(ours, theirs):
        bad = differs(own, other, least)
        compared += 1
        wrong += bad
        change = 100 * (own / other - 1) if other else 0.0
        print(f"{ours['kernel']:16} {name:20} {own:20.4f} {other:20.4f} {change:+8.2f} % {'DIFFERS' if bad else ''}")
    return compared, wrong


def measure(orrery, kernel, count):
    order = [orrery, "profile", "--kernels", kernel, "--scene", "plummer", "-n", str(count)]
    ours = json.loads(run([*order, "--json", "-"]))["profiles"][0]
    if ours["problem"]:
        raise SystemExit(f"orrery has no counters of {kernel}: {ours['problem']}")
    asked = [*map(stall_metric, REASONS), *(metric for metrics in FIGURES.values() for metric in metrics), RANGE]
    metrics = ",".join(metric for metric in asked if metric not in ours["missing"])
    # As here: at the clocks of a usual run, and with the caches as the evaluation before has left them.
    theirs = read_ncu(run(["ncu", "--replay-mode", "app-range", "--clock-control", "none", "--cache-control", "none",
                           "--metrics", metrics, "--csv", "--page", "raw", "--print-units", "base", *order,
                           "--marks-only"]))
    return ours, theirs


def made_up():
    """A profile and the values of Nsight Compute for it, which agree."""
    figures = {"part_ms": 2.0, "dram_limit_per_s": 1e12, "clock_mhz": 1980.0, "instructions": 1e6, "dram_bytes": 4e8,
               **{name: 40.0 for name in SHARES}}
    ours = {"kernel": "cuda-none", "figures": figures, "stalls": {reason: 0.5 for reason in REASONS if reason != "gmma"},
            "missing": [stall_metric("gmma"), SHARES["fp16"][0]], "problem": ""}
    metrics = {stall_metric(reason): ("", 0.5) for reason in ours["stalls"]}
    for name, names in FIGURES.items():
        metrics[names[-1]] = ("%", figures[name]) if name in SHARES else ("inst", figures[name])
    # Its range is twice as long, so the shares of the range are half as large.
    for name in OF_THE_RANGE:
        metrics[SHARES[name][0]] = ("%", 20.0)
    metrics[RANGE] = ("ns", 4e6)
    metrics[BYTES["dram_bytes"][0]] = ("Mbyte", "400.00")
    metrics[CLOCK["clock_mhz"][0]] = ("cycle/nsecond", "1.98")
    rows = [["ID", "Process Name", *metrics], ["", "", *(unit for unit, _ in metrics.values())],
            ["0", "orrery", *(f"{value:,}" if isinstance(value, float) else value for _, value in metrics.values())]]
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)
    return ours, f"==PROF== Connected to process 7\n{text}\n"


def check():
    assert not differs(1.0, 1.04, LEAST_WARPS) and differs(1.0, 1.2, LEAST_WARPS)
    assert not differs(0.01, 0.04, LEAST_WARPS), "both are nearly nothing"
    assert differs(math.nan, 50.0, 1) and differs(50.0, math.nan, 1) and differs(50.0, 50.0, math.nan)
    assert differs(100.0, 106.0, 0) and not differs(100.0, 104.0, 0)
    ours, text = made_up()
    figures = len(REASONS) - 1 + len(FIGURES)
    assert compare(ours, read_ncu(text)) == (figures, 0)
    for name in FIGURES:
        # By 6 % and by more than the least difference.
        changed = {**ours, "figures": {**ours["figures"], name: 1.06 * ours["figures"][name]}}
        assert compare(changed, read_ncu(text)) == (figures, 1), name
        unknown = {**ours, "figures": {**ours["figures"], name: None}}
        assert compare(unknown, read_ncu(text)) == (figures, 1), name
    little = {**ours, "figures": {**ours["figures"], "dram_bytes": 1e6}}  # of 2e9 in this time
    assert compare(little, {**read_ncu(text), BYTES["dram_bytes"][0]: 5e6})[1] == 0
    assert compare(ours, {})[1] == figures, "without values of the other program"
    assert compare({**ours, "missing": []}, read_ncu(text))[1] == 2, "gmma and the first metric of fp16 have no values"
    for broken in ("", text.replace('"Mbyte"', '"furlong"'), text + '"1","orrery"\n'):
        try:
            read_ncu(broken)
        except SystemExit:
            continue
        raise AssertionError(broken)
    program = pathlib.Path(__file__).resolve().parents[2] / "app/features/profile/kernel_profile.cpp"
    source = program.read_text(encoding="utf-8")
    for name, metrics in FIGURES.items():
        assert f'"{name}"' in source and all(f'"{metric}"' in source for metric in metrics), name
    assert all(f'StallReason{{"{reason}"' in source for reason in REASONS)
    assert source.count('StallReason{"') == len(REASONS), "a reason that is not compared"


def main(words):
    if words == ["--check"]:
        check()
        return 0
    if len(words) not in (1, 2):
        raise SystemExit(__doc__)
    count = int(words[1]) if len(words) == 2 else 65536
    print(f"{'kernel':16} {'figure':20} {'orrery':>20} {'ncu':>20} {'change':>10}")
    results = [compare(*measure(words[0], kernel, count)) for kernel in KERNELS]
    compared, wrong = map(sum, zip(*results))
    print(f"{compared} figures of {len(KERNELS)} kernels; {wrong} differ by more than {100 * WITHIN:.0f} %")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
