#!/usr/bin/env python3
"""What a window does after the loss of its device; a kernel on the processor stands for it, see losing_window.cpp.

    lost_device_test.py LOSING_WINDOW [TestCase.test...]
"""

import glob
import os
import pathlib
import re
import signal
import subprocess

from window_support import PATIENCE_S, Viewer, WindowTestCase, main, program, wait_for
from window_test import recorded

START = ("--scene", "plummer", "-n", "100", "--record", "a.csv")
LOSS = "the device failed with {}: an illegal memory access"


class LostDeviceTest(WindowTestCase):
    def setUp(self):
        super().setUp()
        self.display.environment["TMPDIR"] = self.folder

    def kernels(self):
        """Of the rows of each recording, without those that have none yet."""
        files = sorted(glob.glob(self.path("a*.csv")), key=lambda name: (len(name), name))
        return {os.path.basename(file): {row["kernel"] for row in recorded(file)[1]} for file in files}

    def test_goes_on_in_a_new_window_without_the_kernel_that_was_edited(self):
        viewer = self.start(*START, "--kernel", "edited", "--steps-per-frame", "2")
        wait_for("the loss", lambda: LOSS.format("edited") in viewer.said())
        wait_for("the other kernel", lambda: any(kernels and "edited" not in kernels for kernels in self.kernels().values()))
        kernels = self.kernels()
        self.assertIn("edited", kernels.pop("a.csv"))
        self.assertEqual(len(kernels), 1, kernels)
        (name, others), = kernels.items()
        self.assertLessEqual(others, {"cpu-simd", "cuda-tiled"})
        self.assertIn("goes on from step 0 in a new window", viewer.said())
        self.assertEqual({row["steps"] for row in recorded(self.path(name))[1]} - {"0"}, {"2"})
        self.assertIn("error", viewer.layout(), "the panel shows what happened")
        self.assertEqual(glob.glob(self.path("orrery-*")), [], "nothing is left of the handover")
        self.assertEqual(viewer.close(), 0, viewer.said())

    def test_starts_again_once_for_a_kernel_that_was_not_edited(self):
        viewer = self.start(*START, "--kernel", "built-in")
        wait_for("the second loss", lambda: "start the program again to use the device" in viewer.said())
        self.assertIn(LOSS.format("built-in"), viewer.said())
        viewer.wait_for_frames()
        self.assertEqual(viewer.said().count("in a new window"), 1, viewer.said())
        self.assertEqual(viewer.close(), 0, viewer.said())

    def test_a_kernel_that_hangs_is_left(self):
        viewer = self.start(*START, "--kernel", "hanging")
        wait_for("the hang", lambda: "hanging hangs: no step of 100 bodies has ended within 10 s" in viewer.said())
        self.assertIn("goes on from step 0 in a new window", viewer.said())
        wait_for("the other kernel", lambda: any(kernels and "hanging" not in kernels for kernels in self.kernels().values()))
        self.assertEqual(self.kernels()["a.csv"], {"hanging"})
        self.assertEqual(glob.glob(self.path("orrery-*")), [], "nothing is left of the handover")
        self.assertEqual(viewer.close(), 0, viewer.said())

    def test_a_run_without_a_window_ends_if_its_kernel_hangs(self):
        status = subprocess.run([program(), *START, "--kernel", "hanging", "--offscreen", "--size", "64x48", "--frames", "100"],
                                cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(status.returncode, 1, status.stderr)
        self.assertEqual(status.stderr.strip(), "orrery: hanging hangs: no step of 100 bodies has ended within 10 s")
        self.assertEqual(self.kernels(), {"a.csv": {"hanging"}})

    def test_a_stop_before_the_new_window_names_the_run(self):
        viewer = Viewer(self.display, self.folder, *START, "--kernel", "edited")
        self.addCleanup(viewer.kill)
        words = pathlib.Path(f"/proc/{viewer.process.pid}/cmdline")
        while b"take-over-window" not in words.read_bytes():
            self.assertIsNone(viewer.process.poll(), viewer.said())
        viewer.process.send_signal(signal.SIGTERM)
        self.assertEqual(viewer.process.wait(PATIENCE_S), 1, viewer.said())
        said = re.search("stopped as the window was to start again; 'orrery view --resume (.*)' continues", viewer.said())
        self.assertTrue(said, viewer.said())
        self.assertTrue(os.path.exists(said[1]))


if __name__ == "__main__":
    main()
