#!/usr/bin/env python3
"""Types, clicks, drags, turns the wheel and resizes at random, the same for the same seed: the program must stay alive.

    window_monkey_test.py ORRERY [TestCase.test...]

ORRERY_MONKEY_SEED and ORRERY_MONKEY_SECONDS choose another monkey.
"""

import os
import random
import time

from window_support import WindowTestCase, main

KEYS = [*"kbilcmtfrvzKBT0123456789", "space", "period", "plus", "minus", "bracketleft", "bracketright", "Home", "Tab", "F1",
        "F5", "F8", "F9", "F11", "F12", "Escape", "Return", "BackSpace", "ctrl+a", "ctrl+z", "question"]  # Q would end it
SIZES = [(40, 30), (120, 400), (320, 200), (500, 300), (800, 600), (1280, 800), (1280, 200)]


class MonkeyTest(WindowTestCase):
    def act(self, choice, viewer):
        """Arguments of xdotool for one act. Half of the clicks meet a widget."""
        layout = viewer.layout()
        if layout and choice.random() < 0.5:
            x0, y0, x1, y1 = layout[choice.choice(sorted(layout))]
            x, y = choice.uniform(x0, x1), choice.uniform(y0, y1)
        else:
            x, y = choice.uniform(0, 1280), choice.uniform(0, 800)
        move = ["mousemove", round(x), round(y)]
        kind = choice.choices(["click", "key", "drag", "wheel", "resize"], [8, 6, 2, 2, 1])[0]
        if kind == "click":
            return [*move, "click", choice.choice([1, 1, 1, 1, 2, 3])]
        if kind == "key":
            return [*move, "key", choice.choice(KEYS)]
        if kind == "drag":
            return [*move, "mousedown", 1, "mousemove", choice.randrange(1280), choice.randrange(800), "mouseup", 1]
        if kind == "wheel":
            return [*move, "click", "--repeat", choice.randrange(1, 8), choice.choice([4, 5])]
        return ["search", "--name", "^Orrery", "windowsize", *choice.choice(SIZES)]

    def calm(self, viewer):
        """Leaves what the acts opened. Escape may leave full screen, and the window then takes the size it had before; so
        the size comes last. Keys reach the window below the pointer, which may be as small as the first of SIZES."""
        self.display.xdotool("mousemove", 20, 15, "key", "Escape", "key", "Escape")
        for _ in range(2):  # one frame sees a key, the next one does what it asks for
            viewer.wait_for_frames()
        viewer.resize(1280, 800)

    def test_stays_alive(self):
        choice = random.Random(int(os.environ.get("ORRERY_MONKEY_SEED", "1")))
        viewer = self.start("--scene", "plummer", "-n", "500", "--kernel", "cpu-simd")
        end = time.monotonic() + float(os.environ.get("ORRERY_MONKEY_SECONDS", "20"))
        acts = []
        while time.monotonic() < end:
            acts += [self.act(choice, viewer) for _ in range(6)]  # on what is seen before the first of them
            self.assertIsNone(viewer.process.poll(), f"{viewer.said()}\nafter {acts[-18:-6]}")
            self.display.xdotool(*(word for act in acts[-6:] for word in act))
        print(f"{len(acts)} acts")
        self.calm(viewer)
        self.assertEqual(viewer.close(), 0, viewer.said())
        for failure in ("Sanitizer", "runtime error", "Assertion"):
            self.assertNotIn(failure, viewer.said())


if __name__ == "__main__":
    main()
