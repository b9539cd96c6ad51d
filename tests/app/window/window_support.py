"""What the tests of the window have in common: the program on a display of its own (Xvfb), with a real pointer and real
keys (xdotool)."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from process_case import ProcessCase
from x11_messages import press_close_button

PATIENCE_S = 120  # for one thing to happen; generous, since nothing here is a measurement
CACHE = tempfile.TemporaryDirectory(prefix="orrery-cache-")  # what a run keeps for the next: never the user's own
CONFIGURATION = tempfile.TemporaryDirectory(prefix="orrery-config-")
os.environ["XDG_CACHE_HOME"] = CACHE.name
os.environ["XDG_CONFIG_HOME"] = CONFIGURATION.name


def program():
    """The path of the program under test."""
    return program.path


def wait_for(what, condition, patience_s=PATIENCE_S):
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.1)
    raise AssertionError(f"waited {patience_s} s in vain for {what}")


def terminate(pid, times):
    """Sends so many SIGTERM at once, as timeout sends two: to a process and to its group."""
    subprocess.run(["sh", "-c", 'kill -TERM "$@"', "sh", *times * [str(pid)]], check=True)


class Display:
    """An X server without a screen, on a number that nobody uses."""

    def __init__(self):
        reading, writing = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24", "-nolisten", "tcp",
             "-noreset"],
            pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise AssertionError("Xvfb does not start")
        self.environment = dict(os.environ, DISPLAY=f":{number}", LIBGL_ALWAYS_SOFTWARE="1")
        self.environment.pop("WAYLAND_DISPLAY", None)

    def set_scale(self, scale):
        """As desktops do: the display has `scale` times 96 dots per inch."""
        subprocess.run(["xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER",
                        f"Xft.dpi:\t{96 * scale}\n"], env=self.environment, check=True, timeout=60)

    def xdotool(self, *arguments):
        return subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, check=True, timeout=60,
                              capture_output=True, text=True).stdout

    def window(self):
        """The number of the program's window."""
        return int(self.xdotool("search", "--name", "^Orrery").split()[0])

    def close(self):
        self.server.terminate()
        self.server.wait(30)


class Viewer:
    """The program in a window, in a folder of its own."""

    def __init__(self, display, folder, *arguments):
        self.display, self.folder = display, folder
        self.layout_file = os.path.join(folder, "layout")
        if os.path.exists(self.layout_file):  # of a window before
            os.remove(self.layout_file)
        environment = dict(display.environment, ORRERY_UI_LAYOUT=self.layout_file)
        self.output = open(os.path.join(folder, "output"), "w+")
        self.process = subprocess.Popen([program(), *map(str, arguments)], cwd=folder, env=environment, stdout=self.output,
                                        stderr=self.output)

    def said(self):
        with open(self.output.name) as file:
            return file.read()

    def layout(self):
        """Marked widgets: name -> (x0, y0, x1, y1) in pixels of the screen; the window lies at its corner."""
        if self.process.poll():
            raise AssertionError(f"the program ended with {self.process.returncode}: {self.said()}")
        try:
            with open(self.layout_file) as file:
                lines = [line.rsplit(maxsplit=4) for line in file]  # names may hold blanks
        except FileNotFoundError:
            return {}
        return {line[0]: tuple(map(float, line[1:])) for line in lines}

    def wait_for_frames(self):
        """Until at least one whole frame has been drawn."""
        for _ in range(2):
            before = os.stat(self.layout_file).st_mtime_ns
            wait_for("another frame", lambda: self.layout() is not None and os.stat(self.layout_file).st_mtime_ns != before)

    def resize(self, width, height):
        """Beyond what the window asks for, as a tiling window manager may."""
        self.display.xdotool("search", "--name", "^Orrery", "windowsize", width, height)
        self.wait_for_frames()

    def click(self, name):
        def steady():
            """Its place, if it has not moved for two frames or more: panels that open move what is below them, and the
            first frames of a window find out how large each panel is."""
            place = self.layout().get(name)
            if place:
                self.wait_for_frames()
            return place if place and place == self.layout().get(name) else None

        x0, y0, x1, y1 = wait_for(f"the widget {name}", steady)
        self.click_at(round((x0 + x1) / 2), round((y0 + y1) / 2))

    def click_at(self, x, y):
        self.display.xdotool("mousemove", x, y)
        self.wait_for_frames()  # between pointing and pressing, and between pressing and letting go
        self.display.xdotool("mousedown", 1)
        self.wait_for_frames()
        self.display.xdotool("mouseup", 1)

    def point_at_bodies(self):
        self.display.xdotool("mousemove", 800, 300)

    def type(self, key):
        self.display.xdotool("key", key)

    def press_close_button(self):
        """That of the window manager."""
        press_close_button(self.display.environment["DISPLAY"], self.display.window())

    def close(self):
        """Presses the key that ends the program, and Enter where it asks first; returns its exit status."""
        self.point_at_bodies()
        self.type("q")
        wait_for("the end or a question", lambda: self.process.poll() is not None or "quit.quit" in self.layout())
        if self.process.poll() is None:
            self.type("Return")
        return self.process.wait(PATIENCE_S)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.output.close()


class WindowTestCase(ProcessCase):
    def setUp(self):
        super().setUp()
        self.display = Display()
        self.addCleanup(self.display.close)
        self.display.environment["XDG_CONFIG_HOME"] = self.path("config")  # each test begins without a memory

    def start(self, *arguments):
        viewer = Viewer(self.display, self.folder, *arguments)
        self.addCleanup(viewer.kill)
        wait_for("the panel", lambda: "rate" in viewer.layout())
        return viewer


def main():
    """Runs the tests of the script that calls this: SCRIPT ORRERY [TestCase.test...]. Exit status 77: not run, because
    Xvfb, xdotool or xprop is missing."""
    for needed in ("Xvfb", "xdotool", "xprop"):
        if not shutil.which(needed):
            print(f"not run: {needed} is missing (Debian: xvfb, xdotool, x11-utils)")
            sys.exit(77)
    program.path = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
