#!/usr/bin/env python3
"""Summarizes recordings of the viewer: for each kernel the medians of its frames, without its first fifty.

Where forces were compared while the frames ran, also by how much those frames were longer than the others.

usage: frames.py RECORDING.csv..."""
import csv
import statistics
import sys

TIMES = ["frame_ms", "step_ms", "force_ms", "integrate_ms", "map_ms", "unmap_ms", "draw_ms", "gui_ms"]


OF_A_STEP = {"step_ms", "force_ms", "integrate_ms"}


def has_one_more(row):
    """Whether a change made the first of these steps evaluate the forces twice: its times are not those of a step."""
    return bool(row.get("evaluations")) and int(row["evaluations"]) > int(row["steps"])


def medians(rows):
    for name in TIMES:
        values = [float(row[name]) for row in rows
                  if row[name] != "" and not (name in OF_A_STEP and has_one_more(row))]
        yield f"{name} {statistics.median(values):.4f}" if values else f"{name} -"
    for name in ("gui_ms", "step_ms", "frame_ms"):
        # Most frames only draw the last layout of the panels again, and sort no bodies: their median is not that of all.
        values = [float(row[name]) for row in rows if row[name] != ""]
        if values:
            yield f"mean {name} {statistics.fmean(values):.4f}"


def cost_of_comparisons(rows):
    """A comparison runs in the frames before the one that reports it: compares these with all frames farther away."""
    near = 6
    reported = [i for i, row in enumerate(rows) if row.get("error_median")]
    close = {i for at in reported for i in range(at - near, at + 1)}
    times = [float(row["frame_ms"]) for row in rows]
    others = [ms for i, ms in enumerate(times) if i not in close]
    if not reported or not others:
        return "   no comparisons of forces to report"
    extra = statistics.fmean(times) / statistics.fmean(others) - 1
    return f"   {len(reported)} comparisons of forces made the frames {100 * extra:.2f} % longer"


for path in sys.argv[1:]:
    with open(path, newline="") as file:
        file.readline()  # the metadata
        rows = list(csv.DictReader(file))
    seconds = float(rows[-1]["time_s"]) - float(rows[0]["time_s"])
    print(f"{path}: {len(rows)} frames in {seconds:.2f} s, {(len(rows) - 1) / seconds:.0f} frames/s")
    groups = {}
    for row in rows:
        groups.setdefault((row["kernel"], row["block"], row["settings"], row["interop"]), []).append(row)
    for key, group in groups.items():
        print("  ", *key, f"({len(group)} frames):", ", ".join(medians(group[50:] or group)))
    if len(groups) == 1:  # else frames of different kernels would be compared
        print(cost_of_comparisons(rows[50:]))
