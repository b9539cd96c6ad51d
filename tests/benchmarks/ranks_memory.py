#!/usr/bin/env python3
"""What each of two ranks needs at most, in bytes per body of all: without files, and with snapshots and checkpoints.

    tests/benchmarks/ranks_memory.py ORRERY [BODIES]
"""

import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "app", "support"))
from ranks_case import ENVIRONMENT, skip_without_mpirun

RANKS, INTERVAL_S = 2, 0.01


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:  # the process has ended
        return ""


def peaks(orrery, bodies, folder, shell_line, *files):
    """By rank, in bytes. Each rank runs the line of the shell before it starts."""
    command = ["mpirun", "--oversubscribe", "-n", str(RANKS), "sh", "-c", shell_line + '\nexec "$@"', "sh", orrery, "run", "--scene", "plummer", "-n", str(bodies),
               "--kernel", "cpu-tree", "--set", "theta=1", "--dt", "0.002", "--steps", "3", *files]
    highest = {}
    with subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.DEVNULL) as mpirun:
        while mpirun.poll() is None:
            for pid in read(f"/proc/{mpirun.pid}/task/{mpirun.pid}/children").split():
                rank = re.search("OMPI_COMM_WORLD_RANK=([0-9]+)", read(f"/proc/{pid}/environ"))
                peak = re.search(r"VmHWM:\s*([0-9]+) kB", read(f"/proc/{pid}/status"))
                if rank and peak:
                    highest[int(rank[1])] = 1024 * int(peak[1])
            time.sleep(INTERVAL_S)
    if mpirun.returncode != 0:
        sys.exit(f"mpirun ended with status {mpirun.returncode}")
    return [highest[rank] for rank in range(RANKS)]


def main():
    orrery, bodies = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4_000_000
    skip_without_mpirun()
    print("| files | " + " | ".join(f"rank {rank}" for rank in range(RANKS)) + " |")
    print("| --- |" + " --- |" * RANKS)
    snapshots = ["--every", "0.002", "--snapshots", "snapshots"]
    hdf5 = ["--every", "0.002", "--snapshots", "/proc/self/cwd/snapshots", "--format", "hdf5"]
    for name, shell_line, files in (
            ("none", "", []),
            ("snapshots and checkpoints", "", [*snapshots, "--checkpoint", "a.checkpoint", "--every-s", "1"]),
            ("HDF5 snapshots by all ranks", "", hdf5),
            ("HDF5 snapshots by rank 0", '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || cd /', hdf5)):  # others see no file
        with tempfile.TemporaryDirectory() as folder:
            found = peaks(orrery, bodies, folder, shell_line, *files)
        print(f"| {name} | " + " | ".join(f"{peak / bodies:.0f}" for peak in found) + " |", flush=True)


if __name__ == "__main__":
    main()
