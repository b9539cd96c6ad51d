#!/usr/bin/env python3
"""A kernel file that passes its check, and reads outside of its memory once it has run for a while in the shown window.

lost_device.py ORRERY: needs a GPU, NVRTC and a display ($DISPLAY). The first version is correct, the second breaks the
CUDA context after 600 evaluations, or with --hangs does not end. Exits with 1 unless the window then goes on with the first
version on the GPU, from a state of the same run, and takes a third version. Without a display (--headless), the run must end
with one line."""

import csv
import pathlib
import subprocess
import sys
import tempfile
import time

LIMIT_S = 120
BROKEN = """
__device__ int evaluations_until_the_end;
"""
ONCE = "  if (blockIdx.x == 0 && threadIdx.x == 0 && atomicAdd(&evaluations_until_the_end, 1) > 600) "
BREAKS = ONCE + "*(volatile int*)16 = 1;\n"
HANGS = ONCE + "while (*(volatile int*)&evaluations_until_the_end > 0) {}\n"


def broken(text, call):
    """The kernel with a counter. A check makes far fewer evaluations of each value of its settings."""
    begin = text.index("__global__")
    body = text.index("{", begin) + 1
    return text[:begin] + BROKEN.lstrip() + text[begin:body] + "\n" + call + text[body:]


def wait_for(what, log, condition):
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        if condition(log.read_text()):
            return
        time.sleep(0.1)
    sys.exit(f"waited {LIMIT_S} s in vain for {what}; the window has said:\n{log.read_text()}")


def kernels_in(folder):
    kernels = []
    for file in sorted(pathlib.Path(folder).glob("frames*.csv"), key=lambda path: path.stat().st_mtime):
        with open(file, newline="") as text:
            text.readline()
            rows = list(csv.DictReader(text))
        if rows:
            kernels.append((file.name, rows[-1]["kernel"], rows[-1]["backend"], rows[0]["step"], rows[-1]["step"],
                            rows[-1]["interop"]))
    return kernels


def main():
    orrery, headless, hangs = sys.argv[1], "--headless" in sys.argv, "--hangs" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([orrery, "new-kernel", "edited"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        file = pathlib.Path(folder) / "edited.cu"
        log = pathlib.Path(folder) / "log"
        text = file.read_text()
        place = ["--offscreen", "--frames", "10000000"] if headless else []
        with open(log, "w") as out:
            window = subprocess.Popen(["stdbuf", "-oL", orrery, "view", "--fresh", "--scene", "plummer", "-n", "16k",
                                       "--kernel-file", str(file), "--record", "frames.csv", *place], cwd=folder,
                                      stdout=out, stderr=subprocess.STDOUT)
        try:
            wait_for("version 1", log, lambda said: "version 1 of" in said)
            file.write_text(broken(text, HANGS if hangs else BREAKS))
            wait_for("version 2", log, lambda said: "version 2 of" in said)
            wait_for("the loss", log, lambda said: ("has ended within" if hangs else "the device failed") in said)
            if headless:
                status = window.wait(LIMIT_S)
                print(f"exit status {status}; the last line: {log.read_text().splitlines()[-1]}")
                sys.exit(0 if status == 1 else "the run did not end with status 1")
            wait_for("the new window", log, lambda said: "in a new window" in said)
            end = time.monotonic() + LIMIT_S
            while not any(name != "frames.csv" and int(last) > int(first) for name, _, _, first, last, _ in
                          kernels_in(folder)[-1:]) and time.monotonic() < end:
                time.sleep(0.5)
            kernels = kernels_in(folder)
            print(*kernels, sep="\n")
            if kernels[-1][1:3] != ("edited", "CUDA") and kernels[-1][1:3] != ("edited", "cuda"):
                sys.exit("it does not go on with the first version on the GPU")
            if window.poll() is not None:
                sys.exit(f"the window ended with {window.returncode}")
            file.write_text(text + "// the third\n")
            wait_for("version 3", log, lambda said: "version 3 of" in said)
            print(log.read_text())
        finally:
            if window.poll() is None:
                window.terminate()
                window.wait(LIMIT_S)
    print("passed")


if __name__ == "__main__":
    main()
