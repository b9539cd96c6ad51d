#!/usr/bin/env python3
"""A kernel file that is saved beside an open window.

    workshop_window_test.py ORRERY [TestCase.test...]

Skipped with 77 if kernel files cannot run here, and WorkshopWithoutGpuTest if they can.
"""

import csv
import glob
import os
import subprocess
import sys

from window_support import WindowTestCase, main, program, wait_for
from window_test import recorded

BODIES = 4096
START = ("--fresh", "--scene", "plummer", "--kernel-file", "edited.cu", "--record", "a.csv")
END = "  if (place < targets.count) epilogue.finish(i, me.w, acceleration);"
HANGS = f"""  if (place == 0 && sources.count == {BODIES} && atomicAdd(&evaluations, 1) > 600) {{
    while (*static_cast<volatile int*>(&evaluations) > 0) {{
    }}
  }}
"""  # a check makes far fewer evaluations of so many bodies with one value of each setting


def can_run():
    with_cuda = subprocess.run([sys.argv[1], "run", "--kernel", "cuda-naive", "--scene", "two-body", "--steps", "1"],
                               capture_output=True)
    return with_cuda.returncode == 0


class KernelFileCase(WindowTestCase):
    def setUp(self):
        super().setUp()
        self.display.environment["TMPDIR"] = self.folder
        subprocess.run([program(), "new-kernel", "edited"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)
        with open(self.path("edited.cu")) as file:
            self.text = file.read()
        self.assertIn(END, self.text)

    def save(self, text):
        with open(self.path("edited.cu"), "w") as file:
            file.write(text)

    def latest_row(self):
        """Of the recording that began last: its kernel, backend and step."""
        files = sorted(glob.glob(self.path("a*.csv")), key=os.path.getmtime)
        rows = recorded(files[-1])[1]
        return (os.path.basename(files[-1]), rows[-1]["kernel"], int(rows[-1]["step"])) if rows else None

    def wait_for_steps(self, kernel, name=None):
        """Until the recording has further steps with it."""
        begin = wait_for("a row", self.latest_row)
        wait_for(f"steps with {kernel}", lambda: (row := self.latest_row()) and row[1] == kernel and
                 (row[0] == name if name else row[2] > begin[2]))


class WorkshopWindowTest(KernelFileCase):
    def versions_of_results(self, viewer):
        viewer.point_at_bodies()
        viewer.type("F9")
        file = wait_for("the results", lambda: glob.glob(self.path("orrery-out/results*.csv")))[-1]
        with open(file, newline="") as text:
            text.readline()  # the metadata
            rows = list(csv.reader(text))
        return {row[-1] for row in rows[1:] if "edited" in row}

    def test_a_saved_file_takes_over_and_a_wrong_one_does_not(self):
        viewer = self.start(*START, "-n", BODIES)
        wait_for("version 1", lambda: "version 1 of edited.cu runs" in viewer.said())
        self.wait_for_steps("edited")
        self.save(self.text + "// the second\n")
        wait_for("version 2", lambda: "version 2 of edited.cu runs" in viewer.said())
        self.wait_for_steps("edited")
        self.save(self.text.replace("epilogue.finish(", "epilogue.finsh("))
        wait_for("the error at its line", lambda: "edited.cu(" in viewer.said() and "finsh" in viewer.said())
        self.wait_for_steps("edited")
        self.save(self.text.replace(END, "  acceleration.x *= 2;\n" + END))
        wait_for("what the check finds", lambda: "the error against the sum in double precision" in viewer.said())
        self.wait_for_steps("edited")
        self.assertEqual(self.versions_of_results(viewer), {"1", "2"})
        self.save(self.text + "// the fifth\n")
        wait_for("version 5", lambda: "version 5 of edited.cu runs" in viewer.said())
        self.wait_for_steps("edited")
        for wrong in (3, 4):
            self.assertNotIn(f"version {wrong} of edited.cu runs", viewer.said())
        self.assertEqual(viewer.close(), 0, viewer.said())

    def test_a_kernel_that_hangs_is_left(self):
        viewer = self.start(*START, "-n", BODIES)
        wait_for("version 1", lambda: "version 1 of edited.cu runs" in viewer.said())
        begin = self.text.index("__global__")
        hangs = self.text[:begin] + "__device__ int evaluations;\n\n" + self.text[begin:].replace(END, HANGS + END)
        self.save(hangs)
        wait_for("version 2", lambda: "version 2 of edited.cu runs" in viewer.said())
        wait_for("the hang", lambda: "version 2 of edited.cu hangs: no step of 4,096 bodies has ended within" in viewer.said())
        self.assertIn("version 1 of edited.cu goes on from step", viewer.said())
        wait_for("the new window's rows", lambda: (row := self.latest_row()) and row[0] != "a.csv")
        self.wait_for_steps("edited")
        self.save(self.text + "// the third\n")
        wait_for("version 3", lambda: "version 3 of edited.cu runs" in viewer.said())
        self.assertEqual(viewer.close(), 0, viewer.said())


class WorkshopWithoutGpuTest(KernelFileCase):
    def test_a_saved_file_is_compiled_and_the_present_kernel_goes_on(self):
        viewer = self.start(*START, "--kernel", "cpu-serial", "-n", "200")
        wait_for("the first text", lambda: "workshop.back.1" in viewer.layout())
        self.save(self.text + "// the second\n")
        wait_for("the second", lambda: "workshop.back.2" in viewer.layout())
        self.save(self.text.replace("epilogue.finish(", "epilogue.finsh("))
        wait_for("a message about it", lambda: "edited.cu" in viewer.said())
        self.wait_for_steps("cpu-serial")
        self.assertNotIn("runs: compiled", viewer.said())
        self.assertEqual(viewer.close(), 0, viewer.said())


if __name__ == "__main__":
    of_gpu = any(word.startswith("WorkshopWindowTest") for word in sys.argv[2:])
    if can_run() != of_gpu:
        print("not run: kernel files " + ("cannot run here" if of_gpu else "run here, which WorkshopWindowTest tests"))
        sys.exit(77)
    main()
