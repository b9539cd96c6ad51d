#!/usr/bin/env python3
"""How far 50 bodies are from the orbits that REBOUND's IAS15 integrates, at time 2 (needs rebound from PyPI).

    rebound_test.py ORRERY [READS_ALL ROUNDS]

READS_ALL is a kernel that reads low words (cpu-fp64), ROUNDS one that reads rounded positions (cpu-simd).
"""

import math
import os
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from process_case import ProcessCase

try:
    import rebound
except ImportError:
    print("skipped: rebound is not installed")
    sys.exit(77)

SCENE = ["--scene", "plummer", "-n", "50", "--softening", "0.0625"]
HEADER_BYTES, BODY_BYTES, LOW_BYTES, LOW_WORDS, CHECKSUM_BYTES = 64, 28, 24, 128, 4


def read_checkpoint(path):
    """Time, masses, positions and velocities; docs/usage/runs.md has the layout."""
    with open(path, "rb") as file:
        data = file.read()
    holds, count, _, time, setup_bytes = struct.unpack_from("<IQqdQ", data, 20)
    bodies = list(struct.iter_unpack("<7f", data[HEADER_BYTES + setup_bytes:][:count * BODY_BYTES]))
    low = [(0,) * 6] * count
    if holds & LOW_WORDS:
        low = list(struct.iter_unpack("<6f", data[-count * LOW_BYTES - CHECKSUM_BYTES:-CHECKSUM_BYTES]))
    positions = [[body[k] + words[k] for k in range(3)] for body, words in zip(bodies, low)]
    velocities = [[body[4 + k] + words[3 + k] for k in range(3)] for body, words in zip(bodies, low)]
    return time, [body[3] for body in bodies], positions, velocities


class ReboundTest(ProcessCase):
    reads_all, rounds = "cpu-fp64", "cpu-simd"

    def state_after(self, steps, *arguments):
        self.succeed("run", *SCENE, "--steps", str(steps), "--checkpoint", "state.checkpoint", "--force", *arguments)
        return read_checkpoint(self.path("state.checkpoint"))

    def exact(self, until):
        """The positions by IAS15, from what the program starts with."""
        _, masses, positions, velocities = self.state_after(1, "--kernel", self.rounds, "--dt", "1e-30")
        simulation = rebound.Simulation()
        simulation.integrator, simulation.softening = "ias15", 0.0625
        for mass, (x, y, z), (vx, vy, vz) in zip(masses, positions, velocities):
            simulation.add(m=mass, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
        simulation.integrate(until)
        return [(body.x, body.y, body.z) for body in simulation.particles]

    def median_distance(self, kernel, digits, exact):
        # dt is a power of two, so that the end is exactly at 2
        time, _, positions, _ = self.state_after(16384, "--dt", repr(2.0 ** -13), "--integrator", "yoshida4", "--kernel",
                                                 kernel, "--digits", digits)
        self.assertEqual(time, 2)
        distances = sorted(math.dist(a, b) for a, b in zip(positions, exact))
        print(f"{kernel}, digits {digits}: median {distances[25]:.1e}, largest {distances[-1]:.1e}", file=sys.stderr)
        return distances[25]

    def test_bodies_stay_near_their_orbits(self):
        exact = self.exact(2)
        self.assertGreater(self.median_distance(self.reads_all, "float", exact), 1e-6)
        self.assertLess(self.median_distance(self.rounds, "compensated", exact), 1e-7)
        self.assertLess(self.median_distance(self.reads_all, "compensated", exact), 1e-9)


if __name__ == "__main__":
    ReboundTest.orrery = os.path.abspath(sys.argv[1])
    if len(sys.argv) == 4:
        ReboundTest.reads_all, ReboundTest.rounds = sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
