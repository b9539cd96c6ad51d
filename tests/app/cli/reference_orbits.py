"""Orbits by the Hermite integrators against those by IAS15 of REBOUND, from the same floats.

    reference_orbits.py ORRERY [KERNEL]

Exits with 77 (skipped) if rebound is not installed, or if KERNEL (default: cpu-jerk) cannot run here.
"""
import glob
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import rebound
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

ORRERY = os.path.abspath(sys.argv[1])
KERNEL = sys.argv[2] if len(sys.argv) > 2 else "cpu-jerk"
SOFTENING = 1e-6


def pair(eccentricity):
    """Rows m x y z vx vy vz: two bodies at the largest distance, with semi-major axis 1 and period 2 pi."""
    x, v = (1 + eccentricity) / 2, math.sqrt((1 - eccentricity) / (1 + eccentricity)) / 2
    return [[0.5, x, 0, 0, 0, v, 0], [0.5, -x, 0, 0, 0, -v, 0]]


def figure_eight():
    x, y, vx, vy = 0.97000436, -0.24308753, 0.93240737 / 2, 0.86473146 / 2
    return [[1, x, y, 0, vx, vy, 0], [1, -x, -y, 0, vx, vy, 0], [1, 0, 0, 0, -2 * vx, -2 * vy, 0]]


def by_orrery(rows, dt, steps, options):
    with tempfile.TemporaryDirectory() as folder:
        table, out = os.path.join(folder, "bodies.txt"), os.path.join(folder, "out")
        with open(table, "w", encoding="ascii") as file:
            file.write("# m x y z vx vy vz\n")
            for row in rows:
                file.write(" ".join(repr(float(value)) for value in row) + "\n")
        command = [ORRERY, "run", table, "--kernel", KERNEL, "--softening", repr(SOFTENING), "--dt", repr(dt), "--steps",
                   str(steps), "--snapshots", out, "--every", repr(dt * steps), "--format", "text", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "cannot run" in done.stderr:
            print(f"skipped: {done.stderr.strip()}")
            sys.exit(77)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
        last = sorted(glob.glob(os.path.join(out, "*")))[-1]
        with open(last, encoding="ascii") as file:
            columns = [line[1:].split() for line in file if line.startswith("#")]
        names = next(words for words in reversed(columns) if "x" in words and "vx" in words)
        data = np.loadtxt(last)
        return data[:, [names.index(name) for name in ("x", "y", "z")]]


def by_rebound(rows, time):
    simulation = rebound.Simulation()
    simulation.integrator = "ias15"
    simulation.softening = float(np.float32(SOFTENING))
    for m, x, y, z, vx, vy, vz in rows:
        simulation.add(m=m, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
    simulation.integrate(time)
    return np.array([[p.x, p.y, p.z] for p in simulation.particles])


def compare(name, rows, dt, steps, options, allowed):
    rows = np.array(rows, dtype=np.float32).astype(float)
    dt = float(np.float32(dt))
    found, expected = by_orrery(rows, dt, steps, options), by_rebound(rows, dt * steps)
    assert np.max(np.abs(expected - rows[:, 1:4])) > 0.1, f"{name}: the bodies are where they began"
    error = np.max(np.abs(found - expected))
    print(f"{name}, {' '.join(options)}: off by {error:.1e}, allowed {allowed:.0e}")
    assert error < allowed, name


period = 2 * math.pi
for precision, pair_9, pair_99, eight in (("mixed", 3e-5, 2e-4, 2e-6), ("fp64", 1e-6, 5e-5, 2e-7)):
    fixed = ["--set", f"precision={precision}"]
    blocks = [*fixed, "--integrator", "hermite4-blocks", "--eta", "0.002"]
    compare("eccentricity 0.9", pair(0.9), period / 64, 96, blocks, pair_9)
    compare("eccentricity 0.99", pair(0.99), period / 2048, 3072, blocks, pair_99)
    for options in ([*fixed, "--integrator", "hermite4"], blocks):
        compare("figure eight", figure_eight(), 6.32591398 / 2000, 3000, options, eight)
