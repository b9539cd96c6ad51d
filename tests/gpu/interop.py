#!/usr/bin/env python3
"""Checks how the bodies of CUDA kernels got to the screen in recordings of the viewer.

  interop.py MODE RECORDING.csv...

MODE is `mapped` or `staged`. Prints a line for each recording. Exits 1 if a frame of a CUDA kernel has another mode, or if a
recording has no such frame. Ignores the frames of CPU kernels, which are always `host`."""
import collections
import csv
import sys


def problem(mode, path):
    """What is wrong with a recording, or None."""
    try:
        with open(path, newline="") as file:
            file.readline()  # the metadata
            found = collections.Counter(row["interop"] for row in csv.DictReader(file) if row["backend"] == "cuda")
    except OSError as error:
        return error.strerror
    except KeyError as error:
        return f"no column {error}"
    if not found:
        return "no frame of a CUDA kernel"
    others = [f"{count} {other or 'without'}" for other, count in found.items() if other != mode]
    return f"{' and '.join(others)} of {sum(found.values())} frames of CUDA kernels, instead of {mode}" if others else None


if len(sys.argv) < 3 or sys.argv[1] not in ("mapped", "staged"):
    print("usage: interop.py mapped|staged RECORDING.csv...", file=sys.stderr)
    sys.exit(2)
problems = {path: problem(sys.argv[1], path) for path in sys.argv[2:]}
for path, text in problems.items():
    print(f"{path}: {text or 'all ' + sys.argv[1]}")
sys.exit(1 if any(problems.values()) else 0)
