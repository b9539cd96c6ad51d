#!/usr/bin/env python3
"""Time from a saved kernel file to its kernel in the running window, over 20 edits, and what of it is compiling.

workshop_latency.py ORRERY [EDITS]: needs a GPU, but no display. Prints a Markdown table.
"""

import pathlib
import queue
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

LIMIT_S = 60


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


def main():
    orrery = sys.argv[1]
    edits = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([orrery, "new-kernel", "latency"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        file = pathlib.Path(folder) / "latency.cu"
        text = file.read_text()
        command = ["stdbuf", "-oL", orrery, "view", "--fresh", "--scene", "plummer", "-n", "16k", "--kernel-file", str(file),
                   "--offscreen", "--frames", "10000000"]
        window = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            lines = lines_of(window)
            wait_for(lines, "version 1 of")
            compiled, ready = [], []
            for edit in range(2, edits + 2):
                begin = time.monotonic()
                file.write_text(f"{text}// edit {edit}\n")
                end, line = wait_for(lines, f"version {edit} of")
                compiled.append(float(re.search(r"compiled in (\d+) ms", line)[1]) / 1000)
                ready.append(end - begin)
        finally:
            window.terminate()
            window.wait(timeout=LIMIT_S)
    print(f"| {edits} edits | median, s | least, s | greatest, s |\n| --- | --- | --- | --- |")
    for what, times in ("compiled", compiled), ("checked, and running", ready):
        print(f"| {what} | {statistics.median(times):.3f} | {min(times):.3f} | {max(times):.3f} |")


if __name__ == "__main__":
    main()
