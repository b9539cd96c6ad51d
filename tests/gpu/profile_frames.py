#!/usr/bin/env python3
"""Frames of a window while it profiles its kernel, beside those of a quiet window, and the time that each profile takes.

profile_frames.py ORRERY [PROFILES] [--kernel ID] [-n N]: needs a window on $DISPLAY, without a window manager, and
xdotool, which presses the button Profile: a script would make each frame wait for the profile. Takes 15 s and 4 s per
profile. Prints Markdown tables. "Quiet" frames are those of the 10 s before the tab is opened. A profile's frames are
those from the press of the button to its result. Before the first profile, and after each, a process prepares itself for
the next. A frame of more than 50 ms is seen: its time is that in which the picture stands still. Exits with 1 if the
median profile takes 1 s or longer."""

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time

from live_window import LiveWindow

SETTLE_S, QUIET_S, PAUSE_S, LIMIT_S = 4, 10, 2, 1
SEEN_MS = 50
SIZE = "1280x720"
TAB, BUTTON = (630, 688), (416, 474)  # the tab Profile and its button in a window of this size at the scale 1


def click(at):
    subprocess.run(["xdotool", "mousemove", *map(str, at), "sleep", "0.2", "click", "1"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("orrery")
    parser.add_argument("profiles", nargs="?", type=int, default=5)
    parser.add_argument("--kernel", default="cuda-tiled")
    parser.add_argument("-n", default="16k")
    options = parser.parse_args()
    # Without vsync: a frame is then as long as its work.
    arguments = ["--scene", "plummer", "-n", options.n, "--kernel", options.kernel, "--size", SIZE, "--vsync", "off"]
    taken, spans, preparing = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        with LiveWindow(options.orrery, folder, arguments) as window:
            time.sleep(SETTLE_S)
            quiet_from = time.monotonic()
            time.sleep(QUIET_S)
            quiet_to = time.monotonic()
            click(TAB)
            time.sleep(PAUSE_S)
            preparing.append((quiet_to, time.monotonic()))
            for _ in range(options.profiles):
                click(BUTTON)
                at, line = window.wait_for("profile of")
                taken.append(float(re.search(r"taken in ([0-9.]+) s", line)[1]))
                spans.append((at - taken[-1], at))
                time.sleep(PAUSE_S)
                preparing.append((at, time.monotonic()))
    print(f"| {options.profiles} profiles of {options.kernel} | median, s | least, s | greatest, s |\n| --- | --- | --- | --- |")
    print(f"| from the request to the result | {statistics.median(taken):.2f} | {min(taken):.2f} | {max(taken):.2f} |")
    print(f"\n| frames, {options.n} bodies | number | median, ms | longest, ms | still, ms per span |\n| --- | --- | --- | --- | --- |")
    spans_of = {"quiet": [(quiet_from, quiet_to)], "while a profile is taken": spans,
                "while a process prepares itself": preparing}
    for what, times in spans_of.items():
        frames = [ms for span in times for ms in window.frames(*span)]
        still = sum(ms for ms in frames if ms > SEEN_MS) / len(times)
        print(f"| {what} | {len(frames)} | {statistics.median(frames):.2f} | {max(frames):.2f} | {still:.0f} |")
    if statistics.median(taken) >= LIMIT_S:
        sys.exit(f"a profile takes {LIMIT_S} s or longer")


if __name__ == "__main__":
    main()
