#!/usr/bin/env python3
"""Time from a saved kernel file to its kernel in the running window, over 20 edits, and the frames meanwhile.

workshop_latency.py ORRERY [EDITS] [--window] [-n N]: needs a GPU, and NVRTC. By default without a display, where each
frame waits for its steps; with --window in a window on $DISPLAY. Prints Markdown tables. "Quiet" frames are those of the
10 s before the first edit; a replacement's frames are those around the message that its version runs. Exits with 1 if the
longest frame of a replacement is more than two median quiet frames longer than the longest quiet one."""

import argparse
import csv
import pathlib
import queue
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

LIMIT_S, QUIET_S, SETTLE_S = 60, 10, 2
BEFORE_S, AFTER_S = 0.3, 0.3  # of the message: the frames that count as a replacement's


def lines_of(process):
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put((time.monotonic(), line.strip()))
        lines.put((time.monotonic(), None))

    threading.Thread(target=read, daemon=True).start()
    return lines


def wait_for(lines, words):
    end = time.monotonic() + LIMIT_S
    while True:
        at, line = lines.get(timeout=max(0.1, end - time.monotonic()))
        if line is None:
            sys.exit("the window ended")
        if words in line:
            return at, line
        print("window:", line, file=sys.stderr)


def frames_in(folder):
    """(end in s, length in ms) of each recorded frame, in their order. Another kernel may begin another file."""
    frames = []
    for file in pathlib.Path(folder).glob("frames*.csv"):
        with open(file, newline="") as text:
            text.readline()  # the metadata
            frames += [(float(row["time_s"]), float(row["frame_ms"])) for row in csv.DictReader(text)
                       if row["time_s"] and row["frame_ms"]]
    return sorted(frames)


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
        command = ["stdbuf", "-oL", options.orrery, "view", "--fresh", "--scene", "plummer", "-n", options.n,
                   "--kernel-file", str(file), "--record", str(pathlib.Path(folder) / "frames.csv"), *place]
        window = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            lines = lines_of(window)
            wait_for(lines, "version 1 of")
            time.sleep(SETTLE_S)
            quiet_from = time.monotonic()
            time.sleep(QUIET_S)
            edits_from = time.monotonic()
            compiled, ready, replaced = [], [], []
            for edit in range(2, options.edits + 2):
                begin = time.monotonic()
                file.write_text(f"{text}// edit {edit}\n")
                end, line = wait_for(lines, f"version {edit} of")
                compiled.append(float(re.search(r"compiled in (\d+) ms", line)[1]) / 1000)
                ready.append(end - begin)
                replaced.append(end)
                time.sleep(AFTER_S)
            ended = time.monotonic()
        finally:
            window.terminate()
            window.wait(timeout=LIMIT_S)
        frames = frames_in(folder)
    print(f"| {options.edits} edits | median, s | least, s | greatest, s |\n| --- | --- | --- | --- |")
    for what, times in ("compiled", compiled), ("checked, and running", ready):
        print(f"| {what} | {statistics.median(times):.3f} | {min(times):.3f} | {max(times):.3f} |")
    if not frames:
        sys.exit("nothing was recorded")

    def within(begin, end):
        """The frames between two times of this process: the last frame ended when the window was stopped."""
        shift = frames[-1][0] - ended
        return [ms for at, ms in frames if begin <= at - shift < end]

    quiet = within(quiet_from, edits_from)
    edited = within(edits_from, ended)
    replacing = [ms for at in replaced for ms in within(at - BEFORE_S, at + AFTER_S)]
    place = "in a window" if options.window else "without a display"
    print(f"\n| frames {place}, {options.n} bodies | number | median, ms | longest, ms |\n| --- | --- | --- | --- |")
    for what, times in ("quiet", quiet), ("while edits are compiled and checked", edited), ("of replacements", replacing):
        if not times:
            sys.exit(f"no frames were recorded: {what}")
        print(f"| {what} | {len(times)} | {statistics.median(times):.3f} | {max(times):.3f} |")
    if max(replacing) > max(quiet) + 2 * statistics.median(quiet):
        sys.exit("a replacement made a frame more than two frames longer")


if __name__ == "__main__":
    main()
