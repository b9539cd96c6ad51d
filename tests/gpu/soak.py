#!/usr/bin/env python3
"""Disturbs one run with random commands for a long time, and checks that it goes on, that its memory stays flat, and
that its state is bit for bit that of an undisturbed run.

    soak.py ORRERY [--minutes M] [--seed S] [--bodies N] [--folder FOLDER]

The commands come from the seed: the same seed gives the same script, which is kept in the folder with everything that
was written. They come in rounds. A round ends with a fresh start, STEPS undisturbed steps and a replay file; 'orrery run'
computes the same steps once more, and the checksums must agree. 'orrery replay' then computes all of the last file again,
if its kernels give the same bits each time. Memory is that of the process and, where nvidia-smi counts it, of the GPU.
Exits with 1 if a check failed. It needs no display. Without a GPU it takes CPU kernels alone.
"""

import argparse
import json
import os
import platform
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

FRAMES_PER_COMMAND = 5
COMMANDS_PER_ROUND = 60
STEPS = 40  # at the end of a round
MOST_FRAMES_PER_S = 400  # the script is long enough for this
SAMPLE_S = 1
SAMPLE_GPU_S = 10  # seldom: nvidia-smi opens the driver anew each time
WARM_UP = 0.25  # of the time, before memory must be flat
GROWTH, GROWTH_MB = 0.05, 16  # allowed after that
SCENES = ["plummer", "two-body", "collision"]
CAMERA = ["orbit 0.1 0.05", "zoom 2", "zoom -2", "pan 0.1 0", "fly 0 0 0.2", "look-from 0.5 0.3", "frame-all",
          "reset-camera", "follow mass", "follow off", "pick-body 1", "unpick"]
LOOKS = ["appearance colour=speed", "appearance colour=acceleration map=3", "appearance look=density",
         "appearance colour=local-density", "appearance colour=mass drawing=splats", "theme light", "theme dark",
         "trails on", "trails off", "vectors velocity", "vectors off", "cells on", "cells off", "axes on", "axes off"]


def available_kernels(orrery):
    """Those that can run here, with the values of their tunables."""
    kernels = json.loads(subprocess.run([orrery, "kernels", "--json"], check=True, capture_output=True, text=True).stdout)
    kernels = kernels["kernels"] if isinstance(kernels, dict) else kernels
    return [kernel for kernel in kernels if kernel["available"]]


class Commands:
    """Random commands in the order of a seed. None of them fails, so a refusal is a finding."""

    def __init__(self, kernels, seed, most_bodies):
        self.kernels, self.random, self.most_bodies = kernels, random.Random(seed), most_bodies
        processors = len(os.sched_getaffinity(0))
        for kernel in kernels:
            for tunable in kernel["tunables"]:
                if tunable["name"] == "threads":
                    tunable["values"] = [value for value in tunable["values"]
                                         if not value.isdigit() or int(value) <= processors]

    def kernel(self, kernel):
        """All settings have their initial values but one: not every combination can run."""
        values = {tunable["name"]: tunable["initial"] for tunable in kernel["tunables"]}
        if values:
            changed = self.random.choice(kernel["tunables"])
            values[changed["name"]] = self.random.choice(changed["values"])
        settings = ",".join(f"{name}={value}" for name, value in values.items())
        return f"kernel {kernel['id']}" + (f" settings={settings}" if settings else "")

    def scene(self):
        name = self.random.choice(SCENES)
        return "scene two-body" if name == "two-body" else (
            f"scene {name} n={self.random.randint(64, self.most_bodies)} seed={self.random.randint(1, 999)}")

    def some(self):
        """One or two commands that belong together."""
        choose = self.random.choice
        return choose([
            lambda: [self.kernel(choose(self.kernels))], lambda: [self.kernel(choose(self.kernels))],
            lambda: [self.scene()], lambda: [f"dt {choose([0.0001, 0.0005, 0.001, 0.002])}"],
            lambda: ["reset"], lambda: ["restart"], lambda: ["pause", "step"], lambda: ["resume"], lambda: ["resume"],
            lambda: [f"steps-per-frame {choose([1, 2, 5])}"], lambda: [f"integrator {choose(['leapfrog', 'euler'])}"],
            lambda: [f"softening {choose([0.01, 0.05, 0.2])}"], lambda: ["keep-checkpoint", "restore-checkpoint"],
            lambda: [choose(CAMERA)], lambda: [choose(LOOKS)], lambda: ["measure-conserved"],
        ])()

    def end_of_round(self):
        """What starts the undisturbed steps, and the options with which 'orrery run' makes them."""
        kernel = self.random.choice([kernel for kernel in self.kernels if kernel["repeatable"]])
        text = self.kernel(kernel)
        settings = text.partition("settings=")[2]
        n, seed = str(self.random.randint(64, self.most_bodies)), str(self.random.randint(1, 999))
        dt = self.random.choice(["0.0005", "0.001"])
        commands = ["clear-results", text, f"scene plummer n={n} seed={seed}", "reset", f"dt {dt}", "steps-per-frame 1",
                    "resume"]
        options = ["--scene", "plummer", "-n", n, "--seed", seed, "--kernel", kernel["id"], "--dt", dt, "--steps", str(STEPS)]
        for setting in filter(None, settings.split(",")):
            options += ["--set", setting]
        return commands, options


def write_script(path, commands, minutes, folder):
    """Returns the options of 'orrery run' for each round."""
    options, frame = [], 0
    with open(path, "w") as script:
        while frame < minutes * 60 * MOST_FRAMES_PER_S:
            for _ in range(COMMANDS_PER_ROUND):
                for command in commands.some():
                    script.write(f"{frame} {command}\n")
                frame += FRAMES_PER_COMMAND
            last, of_run = commands.end_of_round()
            script.writelines(f"{frame} {command}\n" for command in last)
            frame += STEPS
            script.write(f"{frame} save-replay {folder}/{len(options)}.replay\n")
            options.append(of_run)
        script.write(f"{frame} quit\n")
    return options


def resident_mb(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def gpu_mb(pid):
    """None if nvidia-smi does not count the process."""
    try:
        rows = subprocess.run(["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"],
                              capture_output=True, text=True, timeout=20).stdout.splitlines()
    except (OSError, subprocess.TimeoutExpired):
        return None
    used = [row.split(",")[1].strip() for row in rows if row.split(",")[0].strip() == str(pid)]
    return float(used[0]) if used and used[0].replace(".", "").isdigit() else None


def rounds_written(folder):
    return sorted(int(name.split(".")[0]) for name in os.listdir(folder) if re.fullmatch(r"\d+\.replay", name))


def soak(orrery, script, folder, minutes):
    """Returns the samples of memory and the process's status and stderr."""
    view = [orrery, "view", "--offscreen", "--size", "320x200", "--kernel", "cpu-serial", "--scene", "two-body",
            "--panel", "on", "--force", "--script", script]
    with open(os.path.join(folder, "stdout"), "w") as out, open(os.path.join(folder, "stderr"), "w") as err:
        process = subprocess.Popen(view, stdout=out, stderr=err)
        samples, begin, next_gpu_s = [], time.monotonic(), 0
        while process.poll() is None and time.monotonic() - begin < minutes * 60:
            time.sleep(SAMPLE_S)
            try:
                now_s = time.monotonic() - begin
                asks_gpu = now_s >= next_gpu_s
                next_gpu_s = now_s + SAMPLE_GPU_S if asks_gpu else next_gpu_s
                samples.append((now_s, resident_mb(process.pid), gpu_mb(process.pid) if asks_gpu else None))
            except (OSError, StopIteration):
                break  # it has ended
            for old in rounds_written(folder)[:-2]:
                os.rename(f"{folder}/{old}.replay", f"{folder}/old")
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        status = process.wait(timeout=120)
    with open(os.path.join(folder, "stderr")) as err:
        return samples, status, err.read()


def flat(samples, column, what):
    """Prints the memory of the time after the warm-up, and returns whether it grew no more than allowed."""
    values = [sample[column] for sample in samples if sample[column] is not None]
    if not values:
        print(f"{what}: not counted here")
        return True
    rest = values[int(len(values) * WARM_UP):]
    half = len(rest) // 2
    before, after = max(rest[:half] or rest), max(rest[half:])
    grew = after > before * (1 + GROWTH) + GROWTH_MB
    print(f"{what}: {values[0]:.0f} MB at first, at most {before:.0f} MB until the middle and {after:.0f} MB after it: "
          + ("IT GROWS" if grew else "flat"))
    return not grew


def state_of_run(orrery, options, folder):
    """The checksum in the last row of the diagnostics."""
    table = f"{folder}/undisturbed.csv"
    subprocess.run([orrery, "run", *options, "--diagnostics", table, "--force"], check=True, capture_output=True, text=True)
    with open(table) as rows:
        return rows.read().split("\n")[-2].split(",")[-1]


def last_state(replay):
    with open(replay) as file:
        states = re.findall(r"^(\d+) state ([0-9a-f]{8})$", file.read(), re.MULTILINE)
    return states[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bodies", type=int, default=2000, help="the largest number")
    parser.add_argument("--folder", help="for the script and what is written; default: a new one in /tmp")
    asked = parser.parse_args()
    folder = os.path.abspath(asked.folder or tempfile.mkdtemp(prefix="orrery_soak_"))
    os.makedirs(folder, exist_ok=True)
    orrery = os.path.abspath(asked.orrery)

    kernels = available_kernels(orrery)
    script = f"{folder}/script"
    options = write_script(script, Commands(kernels, asked.seed, asked.bodies), asked.minutes, folder)
    begin = time.monotonic()
    samples, status, err = soak(orrery, script, folder, asked.minutes)
    minutes = (time.monotonic() - begin) / 60
    rounds = rounds_written(folder)
    print(f"{platform.node()}, {platform.machine()}, {time.strftime('%Y-%m-%d')}, seed {asked.seed}, files in {folder}")
    print(f"{len(kernels)} kernels: {', '.join(kernel['id'] for kernel in kernels)}")
    done = rounds[-1] + 1 if rounds else 0
    print(f"{minutes:.1f} minutes, {done} rounds of {COMMANDS_PER_ROUND} disturbances, exit status {status}")
    good = status in (0, 128 + signal.SIGINT) and not err and done > 0
    if not good:
        print("FAILED: " + (err.strip() or "no round was ended"))
    good &= flat(samples, 1, "memory of the process")
    good &= flat(samples, 2, "memory of the GPU")
    for number in rounds:
        step, state = last_state(f"{folder}/{number}.replay")
        undisturbed = state_of_run(orrery, options[number], folder)
        equal = state == undisturbed and step == str(STEPS)
        print(f"round {number}: state {state} after {step} steps, undisturbed {undisturbed}: "
              + ("equal" if equal else "DIFFERENT"))
        good &= equal
    if rounds and all(kernel["repeatable"] for kernel in kernels):
        replay = subprocess.run([orrery, "replay", f"{folder}/{rounds[-1]}.replay"], capture_output=True, text=True)
        print((replay.stdout + replay.stderr).strip())
        good &= replay.returncode == 0
    print("passed" if good else "FAILED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
