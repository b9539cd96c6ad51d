"""A window that a script watches: its messages, and the frames that it records."""

import csv
import pathlib
import queue
import subprocess
import sys
import threading
import time

LIMIT_S = 60


class LiveWindow:
    """`orrery view` with these arguments, until the end of the block. Then `frames` holds what it has recorded."""

    def __init__(self, orrery, folder, arguments):
        self._folder = pathlib.Path(folder)
        # Line by line, although nobody reads them on a terminal.
        self._command = ["stdbuf", "-oL", orrery, "view", "--fresh", "--record", str(self._folder / "frames.csv"), *arguments]
        self._lines = queue.Queue()
        self._frames = []

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self._read, daemon=True).start()
        return self

    def __exit__(self, *_):
        ended = time.monotonic()
        self._process.terminate()
        self._process.wait(timeout=LIMIT_S)
        frames = []
        for file in self._folder.glob("frames*.csv"):  # another kernel may begin another file
            with open(file, newline="", encoding="utf-8") as text:
                text.readline()  # the metadata
                frames += [(float(row["time_s"]), float(row["frame_ms"])) for row in csv.DictReader(text)
                           if row["time_s"] and row["frame_ms"]]
        frames.sort()
        # The last frame ended when the window was stopped.
        self._frames = [(at - frames[-1][0] + ended, ms) for at, ms in frames]

    def _read(self):
        for line in self._process.stdout:
            self._lines.put((time.monotonic(), line.strip()))
        self._lines.put((time.monotonic(), None))

    def wait_for(self, words):
        """The time at which the next message with these words came, and the message."""
        end = time.monotonic() + LIMIT_S
        while True:
            try:
                at, line = self._lines.get(timeout=max(0.1, end - time.monotonic()))
            except queue.Empty:
                sys.exit(f"the window has not printed '{words}' within {LIMIT_S} s")
            if line is None:
                sys.exit("the window ended")
            if words in line:
                return at, line
            print("window:", line, file=sys.stderr)

    def frames(self, begin, end):
        """The lengths in ms of the frames that ended between two times of time.monotonic(). Exits if there is none."""
        lengths = [ms for at, ms in self._frames if begin <= at < end]
        if not lengths:
            sys.exit("no frames were recorded in a part of the run")
        return lengths
