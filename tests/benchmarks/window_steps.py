#!/usr/bin/env python3
"""How much slower steps of CPU kernels are while a window is drawn than without one.

For each kernel a line: the median step of `orrery bench`, run before, between and after the others; mean and 90th percentile of the steps in a window under Xvfb,
how many times the median the mean is, and steps and frames per second; then the same of `--frames 120`, where each
frame waits for its steps. Mesa's llvmpipe draws, on the same cores. Run it on a quiet machine.

usage: window_steps.py ORRERY [--kernels A,B] [--seconds S] [-n N]"""
import argparse
import csv
import json
import os
import platform
import signal
import statistics
import subprocess
import tempfile
import time

CPU_KERNELS = "auto,cpu-serial,cpu-openmp,cpu-simd,cpu-symmetric,cpu-tree"


def start_display():
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
        pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    with os.fdopen(reading) as told:
        os.environ["DISPLAY"] = ":" + told.readline().strip()
    return server


def bench_median_ms(options, kernel, folder):
    file = os.path.join(folder, f"bench-{kernel}.json")
    subprocess.run([options.orrery, "bench", "-n", str(options.n), "--kernels", kernel, "--json", file, "--force"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(file) as text:
        return json.load(text)["results"][0]["step_ms"]["median"]


def recorded(options, kernel, name, folder, *more):
    """The rows of a run in the window, which ends after its frames or is ended after so many seconds."""
    file = os.path.join(folder, f"{name}-{kernel}.csv")
    run = subprocess.Popen([options.orrery, "-n", str(options.n), "--kernel", kernel, "--record", file, *more],
                           stdout=subprocess.DEVNULL)
    try:
        if "--frames" not in more:
            time.sleep(options.seconds)
            run.send_signal(signal.SIGTERM)
        if run.wait(timeout=600) not in (0, 143):
            raise SystemExit(f"orrery ended with status {run.returncode}")
    finally:
        run.kill()
    with open(file, newline="") as text:
        text.readline()  # the metadata
        return list(csv.DictReader(text))


def summary(rows, bench_ms):
    """The first second goes to opening the window and building shaders."""
    start = float(rows[0]["time_s"]) + 1
    rows = [row for row in rows if float(row["time_s"]) > start]
    steps = [float(row["step_ms"]) for row in rows if row["step_ms"]]
    seconds = float(rows[-1]["time_s"]) - float(rows[0]["time_s"])
    steps_per_s = (int(rows[-1]["step"]) - int(rows[0]["step"])) / seconds
    mean = statistics.fmean(steps)
    tenth = statistics.quantiles(steps, n=10)[-1]
    return (f"{mean:.1f} | {tenth:.1f} | {mean / bench_ms:.2f} | {steps_per_s:.1f} | "
            f"{(len(rows) - 1) / seconds:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("--kernels", default=CPU_KERNELS)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("-n", type=int, default=16384)
    options = parser.parse_args()
    server = start_display()
    try:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{platform.node()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
                  f"{time.strftime('%Y-%m-%d')}, {options.n} bodies, ms per step", flush=True)
            print("| kernel | bench median | window: mean | p90 | mean / bench | steps/s | frames/s "
                  "| --frames: mean | p90 | mean / bench | steps/s | frames/s |")
            print("|" + " --- |" * 12)
            for kernel in options.kernels.split(","):
                bench = [bench_median_ms(options, kernel, folder)]
                window = recorded(options, kernel, "window", folder)
                bench.append(bench_median_ms(options, kernel, folder))
                lockstep = recorded(options, kernel, "frames", folder, "--frames", "120")
                bench.append(bench_median_ms(options, kernel, folder))
                bench_ms = statistics.median(bench)
                print(f"| `{kernel}` | {bench_ms:.2f} ({min(bench):.2f} to {max(bench):.2f}) | "
                      f"{summary(window, bench_ms)} | {summary(lockstep, bench_ms)} |", flush=True)
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
