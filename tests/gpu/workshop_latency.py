#!/usr/bin/env python3
"""Time from a saved kernel file to its kernel in the running window, over 20 edits, and the frames meanwhile.

workshop_latency.py ORRERY [EDITS] [--window] [-n N]: needs a GPU, and NVRTC. By default without a display, where each
frame waits for its steps; with --window in a window on $DISPLAY. Prints Markdown tables. "Quiet" frames are those of the
10 s before the first edit; a replacement's frames are those around the message that its version runs. Exits with 1 if the
longest frame of a replacement is more than two median quiet frames longer than the longest quiet one."""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from live_window import LiveWindow

QUIET_S, SETTLE_S = 10, 2
BEFORE_S, AFTER_S = 0.3, 0.3  # of the message: the frames that count as a replacement's


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("orrery")
    parser.add_argument("edits", nargs="?", type=int, default=20)
    parser.add_argument("--window", action="store_true")
    parser.add_argument("-n", default="16k")
    options = parser.parse_args()
    # Without vsync: a frame is then as long as its work.
    place = ["--vsync", "off"] if options.window else ["--offscreen", "--frames", "10000000"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.orrery, "new-kernel", "latency"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        file = pathlib.Path(folder) / "latency.cu"
        text = file.read_text()
        arguments = ["--scene", "plummer", "-n", options.n, "--kernel-file", str(file), *place]
        with LiveWindow(options.orrery, folder, arguments) as window:
            window.wait_for("version 1 of")
            time.sleep(SETTLE_S)
            quiet_from = time.monotonic()
            time.sleep(QUIET_S)
            edits_from = time.monotonic()
            compiled, ready, replaced = [], [], []
            for edit in range(2, options.edits + 2):
                begin = time.monotonic()
                file.write_text(f"{text}// edit {edit}\n")
                end, line = window.wait_for(f"version {edit} of")
                compiled.append(float(re.search(r"compiled in (\d+) ms", line)[1]) / 1000)
                ready.append(end - begin)
                replaced.append(end)
                time.sleep(AFTER_S)
            ended = time.monotonic()
    print(f"| {options.edits} edits | median, s | least, s | greatest, s |\n| --- | --- | --- | --- |")
    for what, times in ("compiled", compiled), ("checked, and running", ready):
        print(f"| {what} | {statistics.median(times):.3f} | {min(times):.3f} | {max(times):.3f} |")
    quiet = window.frames(quiet_from, edits_from)
    edited = window.frames(edits_from, ended)
    replacing = [ms for at in replaced for ms in window.frames(at - BEFORE_S, at + AFTER_S)]
    place = "in a window" if options.window else "without a display"
    print(f"\n| frames {place}, {options.n} bodies | number | median, ms | longest, ms |\n| --- | --- | --- | --- |")
    for what, times in ("quiet", quiet), ("while edits are compiled and checked", edited), ("of replacements", replacing):
        print(f"| {what} | {len(times)} | {statistics.median(times):.3f} | {max(times):.3f} |")
    if max(replacing) > max(quiet) + 2 * statistics.median(quiet):
        sys.exit("a replacement made a frame more than two frames longer")


if __name__ == "__main__":
    main()
