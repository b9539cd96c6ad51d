#!/usr/bin/env python3
"""What a window remembers of the one before, and files that are dropped on it.

    window_session_test.py ORRERY [TestCase.test...]
"""

import json
import os
import re
import subprocess

from window_support import PATIENCE_S, WindowTestCase, main, program, wait_for
from x11_messages import drop_file

SCENE = ("--scene", "plummer", "-n", "500", "--kernel", "cpu-serial")


class WindowSessionTest(WindowTestCase):
    def setUp(self):
        super().setUp()
        self.memory = self.path("config/orrery/window.json")

    def geometry(self):
        said = self.display.xdotool("search", "--name", "^Orrery", "getwindowgeometry", "--shell")
        return tuple(int(re.search(rf"^{name}=(-?\d+)$", said, re.MULTILINE).group(1))
                     for name in ("X", "Y", "WIDTH", "HEIGHT"))

    def test_folds_colours_and_place_come_back(self):
        first = self.start(*SCENE)
        self.assertNotIn("load", first.layout())
        first.click("section.scene")
        wait_for("the section to open", lambda: "load" in first.layout())
        first.point_at_bodies()
        first.type("c")  # the next colour map
        self.display.xdotool("search", "--name", "^Orrery", "windowsize", 1000, 700, "windowmove", 120, 60)
        wait_for("the place", lambda: self.geometry() == (120, 60, 1000, 700))
        self.assertEqual(first.close(), 0, first.said())
        with open(self.memory) as file:
            memory = json.load(file)
        self.assertEqual(memory["sections"], {"scene": True})
        self.assertEqual(memory["appearance"]["map"], 1)

        second = self.start(*SCENE)
        wait_for("the section to be open", lambda: "load" in second.layout())
        wait_for("the place", lambda: self.geometry() == (120, 60, 1000, 700))
        self.assertEqual(second.close(), 0, second.said())
        with open(self.memory) as file:
            self.assertEqual(json.load(file), memory)

        third = self.start(*SCENE, "--size", "900x600")
        wait_for("the given size", lambda: self.geometry()[2:] == (900, 600))
        self.assertEqual(third.close(), 0, third.said())

        fresh = self.start(*SCENE, "--fresh")
        wait_for("the initial size", lambda: self.geometry()[2:] == (1280, 720))
        self.assertNotIn("load", fresh.layout())
        self.assertEqual(fresh.close(), 0, fresh.said())
        with open(self.memory) as file:
            self.assertEqual(json.load(file)["sections"], {"scene": True}, "the next window has them again")

    def test_a_comparison_that_ended_does_not_open_again(self):
        first = self.start(*SCENE)
        first.click("lab.compare")
        wait_for("the tab", lambda: "compare.start" in first.layout())
        self.assertEqual(first.close(), 0, first.said())
        second = self.start(*SCENE)
        wait_for("the table of results", lambda: "result.0" in second.layout())
        self.assertNotIn("compare.start", second.layout())
        self.assertEqual(second.close(), 0, second.said())

    def test_hostile_memory_costs_one_line(self):
        os.makedirs(os.path.dirname(self.memory))
        with open(self.memory, "w") as file:
            file.write('{"program": "orrery", "format": 1, "lab": {"command": "save", "file": "x"}}')
        viewer = self.start(*SCENE)
        self.assertEqual(viewer.close(), 0, viewer.said())
        self.assertEqual(viewer.said().count("\n"), 1, viewer.said())
        self.assertIn("window.json", viewer.said())
        self.assertFalse(os.path.exists(self.path("x")))

    def test_repeatable_runs_have_no_memory(self):
        os.makedirs(os.path.dirname(self.memory))
        with open(self.memory, "w") as file:
            file.write("hostile")
        for place in ([], ["--offscreen"]):
            run = subprocess.run([program(), *SCENE, "--frames", "2", *place], env=self.display.environment,
                                 capture_output=True, text=True, timeout=PATIENCE_S)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
        with open(self.memory) as file:
            self.assertEqual(file.read(), "hostile")

    def test_a_dropped_file_is_loaded(self):
        bodies = self.path("two words.tipsy")
        subprocess.run([program(), "--scene", "plummer", "-n", "700", "--kernel", "cpu-serial", "--offscreen", "--frames", "1",
                        "--save", bodies], env=self.display.environment, check=True, capture_output=True, timeout=PATIENCE_S)
        viewer = self.start(*SCENE)
        window = self.display.window()

        def title():
            return self.display.xdotool("getwindowname", window)

        wait_for("the scene", lambda: "500 bodies" in title())
        drop_file(self.display.environment["DISPLAY"], window, bodies)
        wait_for("the file", lambda: "700 bodies" in title())
        drop_file(self.display.environment["DISPLAY"], window, self.path("nothing.tipsy"))
        wait_for("the refusal", lambda: "nothing.tipsy" in viewer.said())
        self.assertIn("700 bodies", title())
        self.assertEqual(viewer.close(), 0, viewer.said())


if __name__ == "__main__":
    main()
