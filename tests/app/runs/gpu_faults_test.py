#!/usr/bin/env python3
"""A GPU that is lost in the middle of a run: a kernel file writes outside of its arrays after thousands of evaluations.

    gpu_faults_test.py ORRERY

Skipped with 77 if kernel files cannot run here.
"""

import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from process_case import ProcessCase

FILE = "fails-late.cu"
KERNEL = """// id: fails-late
// notes: Writes outside of its arrays, but not at once. The check evaluates other numbers of bodies, or fewer times.

__device__ int evaluations;

__global__ void accelerate(Targets targets, Sources sources, PairLaw law, Epilogue epilogue) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  if (place == 0 && sources.count == BODIES && atomicAdd(&evaluations, 1) == EVALUATIONS) {
    *reinterpret_cast<volatile int*>(8) = 1;
  }
  if (place >= targets.count) return;
  const int i = targets.body(place);
  const Vec4 me = sources.bodies[i];
  Vec3 sum;
  for (int j = 0; j < sources.count; ++j) add_pull(sum, law, me.x, me.y, me.z, sources.bodies[j]);
  epilogue.finish(i, me.w, sum);
}
"""

# Of two devices that divide an evaluation, only the second begins with another body than the first one.
ON_THE_SECOND = KERNEL.replace("place == 0", "place == 0 && targets.body(0) > 0")


def devices(orrery):
    info = subprocess.run([orrery, "info", "--json"], capture_output=True, text=True)
    return len(json.loads(info.stdout)["cuda"]["devices"])


def can_run(orrery):
    return subprocess.run([orrery, "run", "--kernel", "cuda-naive", "--scene", "two-body", "--steps", "1"],
                          capture_output=True).returncode == 0


class GpuFaultsTest(ProcessCase):
    def scene(self, bodies, evaluations, kernel=KERNEL):
        """The options for a run that loses its device after so many evaluations."""
        with open(self.path(FILE), "w") as file:
            file.write(kernel.replace("BODIES", str(bodies)).replace("EVALUATIONS", str(evaluations)))
        return ["--scene", "plummer", "-n", str(bodies), "--kernel-file", FILE]

    def assert_one_loss(self, err):
        self.assert_one_line(err, "the device failed", "illegal")

    def test_a_run_leaves_its_checkpoint_and_its_rows(self):
        # Some seconds, so that a checkpoint was written.
        status, _, err = self.run_to_end("run", *self.scene(16384, 8000), "--steps", "1000000", "--checkpoint",
                                         "a.checkpoint", "--every-s", "1", "--diagnostics", "d.csv", "--every", "0.2")
        self.assertEqual(status, 1, err)
        self.assert_one_loss(err)
        self.assertIn("--resume a.checkpoint", err)
        with open(self.path("d.csv")) as file:
            rows = [line for line in file.read().splitlines() if not line.startswith("#")]
        self.assertGreater(len(rows), 1)
        self.assertEqual({row.count(",") for row in rows}, {rows[0].count(",")}, "the last row is whole")
        self.succeed("inspect", "a.checkpoint")

    def test_a_run_names_the_second_device_that_fails_in_the_last_evaluation(self):
        if devices(self.orrery) < 2:
            self.skipTest("one device is here")
        steps = 40  # and as many evaluations, after one at the start
        status, _, err = self.run_to_end("run", *self.scene(2048, steps, ON_THE_SECOND), "--steps", str(steps), "--devices",
                                         "0,1")
        self.assertEqual(status, 1, err)
        self.assert_one_line(err, "device 1: ")
        status, _, err = self.run_to_end("run", *self.scene(2048, steps + 1, ON_THE_SECOND), "--steps", str(steps),
                                         "--devices", "0,1")
        self.assertEqual(status, 0, err)

    def test_a_run_of_the_window_keeps_its_recording(self):
        status, _, err = self.run_to_end("view", "--offscreen", "--size", "64x48", *self.scene(2048, 2000), "--frames",
                                         "1000000", "--record", "a.csv")
        self.assertEqual(status, 1, err)
        self.assert_one_loss(err)
        with open(self.path("a.csv")) as file:
            names, *rows = [line.split(",") for line in file.read().splitlines() if not line.startswith("#")]
        frames = [int(row[names.index("frame")]) for row in rows]
        self.assertEqual(frames, list(range(len(frames))))
        self.assertGreater(len(frames), 500)
        self.assertEqual({len(row) for row in rows}, {len(names)}, "the last row is whole")


if __name__ == "__main__":
    ProcessCase.orrery = os.path.abspath(sys.argv.pop(1))
    if not can_run(ProcessCase.orrery):
        sys.exit(77)
    unittest.main(verbosity=2)
