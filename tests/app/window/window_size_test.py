#!/usr/bin/env python3
"""Windows of unusual sizes, on displays of one, two and four times the usual number of dots per inch.

    window_size_test.py ORRERY [TestCase.test...]
"""

import subprocess

from window_support import PATIENCE_S, WindowTestCase, main, program


class WindowSizeTest(WindowTestCase):
    def test_takes_any_size_that_it_is_given(self):
        for scale in (1, 2, 4):
            self.display.set_scale(scale)
            viewer = self.start("--scene", "plummer", "-n", "500", "--kernel", "cpu-serial", "--size", "1280x800")
            for width, height in ((40, 30), (75, 300), (150, 600), (1, 1), (320, 200), (3840, 80), (1280, 800)):
                viewer.resize(width, height)
            self.assertEqual(viewer.close(), 0, viewer.said())
            self.assertEqual(viewer.said(), "")

    def test_has_exactly_the_size_that_it_is_given(self):
        self.display.set_scale(2)
        for given, pixels in (([], (2560, 1440)), (["--size", "1280x720"], (1280, 720))):
            viewer = self.start("-n", "500", "--kernel", "cpu-serial", "--fresh", *given)
            lines = self.display.xdotool("getwindowgeometry", "--shell", self.display.window()).split()
            values = dict(line.split("=") for line in lines)
            self.assertEqual((int(values["WIDTH"]), int(values["HEIGHT"])), pixels)
            self.assertEqual(viewer.close(), 0, viewer.said())

    def test_refuses_a_size_that_has_no_room(self):
        for scale, refused, taken in ((1, "300x200", "320x200"), (2, "639x400", "640x400")):
            self.display.set_scale(scale)
            for size, status in ((refused, 2), (taken, 0)):
                run = subprocess.run([program(), "-n", "500", "--kernel", "cpu-serial", "--frames", "1", "--size", size],
                                     env=self.display.environment, capture_output=True, text=True, timeout=PATIENCE_S)
                self.assertEqual((run.returncode, run.stderr.count("\n")), (status, 1 if status else 0), run.stderr)
                if status:
                    self.assertIn(taken, run.stderr)


if __name__ == "__main__":
    main()
