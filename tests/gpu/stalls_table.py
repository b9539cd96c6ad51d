#!/usr/bin/env python3
"""Writes the stalls of the steps of source 000 beside the source's own figures, as Markdown.

  stalls_table.py ORRERY OUT_FILE [N]
  stalls_table.py --check

Profiles rows 1 to 5 of the literature with N bodies (20480), as literature.py measures them: with the source's law, its
exact 1/sqrt, and one body per thread. Rows 2 and 3 also have the GPU's approximate 1/sqrt. Exits 1 if a profile failed or
has no counters.
"""

import json
import math
import subprocess
import sys

import literature

# The source's terms and the reasons of newer GPUs that they stand for, as in app/features/profile/kernel_profile.cpp.
EXECUTION, MEMORY = ("wait", "short_scoreboard"), ("long_scoreboard",)
NO_STALLS = ("selected", "not_selected")
# The source's change of all stalls in percent, by the title of the step.
SAID = {"v1: no tile, softened 1/sqrt, kick in the force kernel": -37.85}
HEAD = ("row", "step", "variant", "ms", "source", "stalled warps per issue", "against row 1", "source",
        "execution dependency", "against row 1", "memory dependency", "greatest reasons", "issue")


def steps():
    """The source's steps at the one number of bodies that all of them have."""
    return [step for step in literature.brute_force().steps if step.counts == literature.COUNTS]


def number(value, digits=3):
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def percent(value):
    return f"{value:+.2f} %".replace("-", "\u2212")


def change(before, after):
    if before is None or after is None or not (math.isfinite(before) and math.isfinite(after)) or before == 0:
        return "-"
    return percent(100 * (after - before) / before)


def stalls_of(profile):
    """The reasons that are stalls, with the warps that each keeps at each issued instruction."""
    return {name: warps for name, warps in profile["stalls"].items() if warps is not None and name not in NO_STALLS}


def waiting(profile, reasons=None):
    """The warps that wait for these reasons, or for any. None without all of their counters."""
    stalls = stalls_of(profile)
    names = stalls if reasons is None else reasons
    return sum(stalls[name] for name in names) if stalls and all(name in stalls for name in names) else None


def share(part, whole):
    return "-" if part is None or not whole else f"{number(part)}, {100 * part / whole:.1f} % of the stalls"


def table(profiles):
    lines = ["| " + " | ".join(HEAD) + " |", "|" + " --- |" * len(HEAD)]
    first_stalls, first_execution = waiting(profiles[0]), waiting(profiles[0], EXECUTION)
    for step, profile in zip(steps(), profiles):
        settings = (f"{name}={value}" for name, value in step.variant.settings)
        all_stalls, execution = waiting(profile), waiting(profile, EXECUTION)
        greatest = sorted(stalls_of(profile).items(), key=lambda item: item[1], reverse=True)[:3]
        cells = (step.row, step.what, f"`{' '.join((step.variant.kernel, *settings))}`",
                 number(profile["figures"].get("time_ms")), step.said or "-", number(all_stalls),
                 change(first_stalls, all_stalls) if profile is not profiles[0] else "-",
                 percent(SAID[step.what]) if step.what in SAID else "-", number(execution),
                 change(first_execution, execution) if profile is not profiles[0] else "-", share(waiting(profile, MEMORY), all_stalls),
                 ", ".join(f"{name} {number(warps)}" for name, warps in greatest) or "-",
                 f"{number(profile['figures'].get('issue'))} %")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def profile_of(orrery, variant, count):
    command = [orrery, "profile", "--kernels", variant.kernel, "--scene", "plummer", "-n", str(count), "--law", variant.law,
               "--json", "-"]
    for name, value in variant.settings:
        command += ["--set", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{variant.kernel}: {done.stderr[-1000:]}")
    return json.loads(done.stdout)["profiles"][0]


def check():
    assert all(step.variant.law == "attract-repel" for step in steps()), "all versions of the source have one law"
    assert [step.row for step in steps()] == ["1", "2", "3", "2", "3", "4", "5"]
    assert set(SAID) <= {step.what for step in steps()}
    base = {"stalls": {"wait": 2.0, "short_scoreboard": 1.0, "long_scoreboard": 1.0, "selected": 1.0},
            "figures": {"time_ms": 1.0, "issue": 50.0}}
    halved = {"stalls": {**base["stalls"], "wait": 0.5}, "figures": base["figures"]}
    profiles = [base, halved, {"stalls": {"wait": 1.0, "barrier": None}, "figures": {}}, *[dict(base) for _ in steps()[3:]]]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table(profiles).splitlines()]
    assert all(len(row) == len(HEAD) for row in rows), rows
    assert rows[2][5:11] == ["4", "-", "-", "3", "-", "1, 25.0 % of the stalls"], rows[2]
    assert rows[3][5:11] == ["2.5", "\u221237.50 %", "\u221237.85 %", "1.5", "\u221250.00 %", "1, 40.0 % of the stalls"], rows[3]
    assert rows[4][3:11] == ["-", "14.64 ms", "1", "\u221275.00 %", "-", "-", "-", "-"], rows[4]
    assert change(0, 1) == "-" and change(None, 1) == "-" and change(1, math.nan) == "-"
    assert number(None) == "-" and number(math.nan) == "-"


def main(words):
    if words == ["--check"]:
        check()
        return 0
    if len(words) not in (2, 3):
        raise SystemExit(__doc__)
    count = int(words[2]) if len(words) == 3 else 20480
    profiles = [profile_of(words[0], step.variant, count) for step in steps()]
    device = profiles[0]["device"]
    with open(words[1], "w", encoding="utf-8") as out:
        out.write(f"Stalls of the source's steps, {count} bodies, {device}. A warp that waits is counted at each issued "
                  f"instruction of a scheduler. Execution dependency: {' and '.join(EXECUTION)}; memory dependency: "
                  f"{' and '.join(MEMORY)}. The source measured a GTX 1060 with blocks of 1,024 "
                  f"threads; here, blocks have 256. Its change is that of all stalls.\n\n")
        out.write(table(profiles))
    without = [profile for profile in profiles if profile["problem"] or waiting(profile, EXECUTION) is None]
    for profile in without:
        print(f"{profile['kernel']}: {profile['problem'] or 'the counters of its stalls are missing'}", file=sys.stderr)
    return 1 if without else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
