#!/usr/bin/env python3
"""Writes the stalls of the steps of source 000 beside the source's own figures, as Markdown.

  stalls_table.py ORRERY OUT_FILE [N]
  stalls_table.py --check

Profiles rows 1 to 5 of the literature (cuda-branchy, then cuda-naive, cuda-tiled, cuda-tiled-count and cuda-hybrid) with
N bodies (20480), the law of the source, and one body per thread where the kernel offers that. Exits 1 if a profile has no
counters.
"""

import json
import math
import subprocess
import sys

# Row of the literature, words, kernel, settings, the source's time in ms and its change of the stalls in percent.
STEPS = (
    (1, "baseline: two branches per pair", "cuda-branchy", (), 95.8, None),
    (2, "v1: no branches, 1/sqrt, no force array", "cuda-naive", (), 16.5, -37.85),
    (3, "v3: tile in shared memory", "cuda-tiled", ("bodies-per-thread=1", "split=1"), 14.64, None),
    (4, "v5: counted tile", "cuda-tiled-count", (), 14.64, None),
    (5, "v5 hybrid: tiled, and naive for the rest", "cuda-hybrid", (), 14.64, None),
)


def number(value, digits=3):
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def change(before, after):
    if before is None or after is None or not (math.isfinite(before) and math.isfinite(after)) or before == 0:
        return "-"
    return f"{100 * (after - before) / before:+.2f} %".replace("-", "\u2212")


def waiting(profile):
    stalls = {name: warps for name, warps in profile["stalls"].items()
              if warps is not None and name not in ("selected", "not_selected")}
    return sum(stalls.values()) if stalls else None


def table(profiles):
    lines = ["| row | step | variant | ms | stalled warps per issue | against row 1 | source | greatest reasons | issue |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    first = waiting(profiles[0])
    for (row, words, kernel, settings, _, said), profile in zip(STEPS, profiles):
        stalls = sorted(((warps, name) for name, warps in profile["stalls"].items()
                         if warps is not None and name not in ("selected", "not_selected")), reverse=True)[:3]
        greatest = ", ".join(f"{name} {number(warps)}" for warps, name in stalls) or "-"
        source = "-" if said is None else f"{said:+.2f} %".replace("-", "\u2212")
        lines.append(f"| {row} | {words} | `{' '.join((kernel, *settings))}` | {number(profile['figures'].get('time_ms'))} "
                     f"| {number(waiting(profile))} | {change(first, waiting(profile)) if row > 1 else '-'} | {source} "
                     f"| {greatest} | {number(profile['figures'].get('issue'))} % |")
    return "\n".join(lines) + "\n"


def profile_of(orrery, kernel, settings, count):
    command = [orrery, "profile", "--kernels", kernel, "--scene", "plummer", "-n", str(count), "--law", "attract-repel",
               "--json", "-"]  # the law of the source's kernels
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{kernel}: {done.stderr[-1000:]}")
    return json.loads(done.stdout)["profiles"][0]


def check():
    profiles = [{"stalls": {"wait": 2.0, "selected": 1.0}, "figures": {"time_ms": 1.0, "issue": 50.0}}] * len(STEPS)
    profiles[1] = {"stalls": {"wait": 1.0, "barrier": None}, "figures": {}}
    text = table(profiles)
    assert "\u221250.00 %" in text and "\u221237.85 %" in text, text
    assert change(0, 1) == "-" and change(None, 1) == "-" and change(1, math.nan) == "-"
    assert number(None) == "-" and number(math.nan) == "-"


def main(words):
    if words == ["--check"]:
        check()
        return 0
    if len(words) not in (2, 3):
        raise SystemExit(__doc__)
    count = int(words[2]) if len(words) == 3 else 20480
    profiles = [profile_of(words[0], kernel, settings, count) for _, _, kernel, settings, _, _ in STEPS]
    device = profiles[0]["device"]
    with open(words[1], "w", encoding="utf-8") as out:
        out.write(f"Stalls of the source's steps, {count} bodies, {device}. A warp that waits is counted at each issued "
                  "instruction of a scheduler. The source measured a GTX 1060.\n\n")
        out.write(table(profiles))
    problems = [f"{profile['kernel']}: {profile['problem']}" for profile in profiles if profile["problem"]]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
