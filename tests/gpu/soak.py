#!/usr/bin/env python3
"""Disturbs one run with random commands for a long time, and checks that it goes on, that its memory stays flat, and
that its state is bit for bit that of an undisturbed run.

    soak.py ORRERY [--minutes M] [--seed S] [--bodies N] [--folder FOLDER]

The commands come from the seed, see soak_commands.py. They come in rounds. A round ends with a fresh start, undisturbed
steps and a replay file. Now and then, and at the end, 'orrery run' computes the same steps as the latest file once more,
and the checksums must agree. At the end, 'orrery replay' computes the latest starts of the last file again, of kernels
that give the same bits each time. Memory is that of the process and, where nvidia-smi counts it, of the GPU.

M minutes are for all of this. SIGTERM or SIGINT ends the disturbances early; all checks follow. The folder has the
script, 'progress' with a line every ten seconds, and 'report'. It holds some megabytes: what grows is removed, and if it
has more than MOST_MB all the same, that is a failure. Exits with 1 if a check failed. It needs no display. Without a GPU
it takes CPU kernels alone. Builds of preset dev read their shaders from the source folder, so leave that alone meanwhile, or
take another build.
"""

import argparse
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time

from soak_commands import COMMANDS_PER_ROUND, OUTPUTS, STEPS, Commands, write_script

SAMPLE_S = 1
SAMPLE_GPU_S = 10  # seldom: nvidia-smi opens the driver anew each time
PROGRESS_S = 10
COMPARE_S = 30  # between two comparisons with an undisturbed run
END_S = 60  # for the view to end, and for each undisturbed run
END_SHARE, LONGEST_END_S = 0.2, 240  # of the time: left for the checks at the end
REPLAYED_STARTS, STARTS_AT_ONCE = 300, 20  # the latest ones, as far as the time allows
WARM_UP = 0.25  # of the time, before memory must be flat
GROWTH, GROWTH_MB = 0.05, 16  # allowed after that
MOST_MB = 256
KEPT_S = 60  # for what the commands write


class Soak:
    def __init__(self, orrery, folder, minutes):
        self.orrery, self.folder = orrery, folder
        self.begin = time.monotonic()
        self.end_s = minutes * 60
        self.stopped = False
        self.samples = []  # seconds, MB of the process, MB of the GPU or None
        self.compared = {}  # by round: whether the states agree
        self.failures = []
        self.report = open(self.path("report"), "w", buffering=1)
        self.progress = open(self.path("progress"), "w", buffering=1)
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, self.stop)

    def stop(self, *_):
        self.stopped = True

    def path(self, name):
        return os.path.join(self.folder, name)

    def now_s(self):
        return time.monotonic() - self.begin

    def say(self, text):
        print(text, flush=True)
        self.report.write(text + "\n")

    def fail(self, text):
        self.failures.append(text)
        self.say("FAILED: " + text)

    def command(self, *arguments, limit_s=END_S):
        """The program once more, in a session of its own: a signal for this one does not end it."""
        return subprocess.run([self.orrery, *arguments], capture_output=True, text=True, cwd=self.folder,
                              timeout=limit_s, start_new_session=True)

    def kernels(self):
        """Those that can run here, with the values of their tunables."""
        result = self.command("kernels", "--json")
        result.check_returncode()
        return [kernel for kernel in json.loads(result.stdout) if kernel["available"]]

    def kernel_file(self):
        """A kernel of its own, as an entry of the list, if such files can run here; else None."""
        name = "soak-kernel"
        self.command("new-kernel", name)
        if self.command("verify", "--kernel-file", f"{name}.cu", limit_s=120).returncode != 0:
            return None
        tunables = []
        with open(self.path(f"{name}.cu")) as file:
            for tunable, values in re.findall(r"^// tunable ([\w-]+) = ([^:]*):", file.read(), re.MULTILINE):
                initial = re.search(r"\[(.*?)\]", values)[1]
                tunables.append({"name": tunable, "initial": initial, "values": re.sub(r"[\[\]]", "", values).split()})
        return {"id": name, "file": f"{name}.cu", "tunables": tunables, "repeatable": True, "takes_targets": True,
                "gives_jerks": False}

    def can_profile(self, kernel):
        return self.command("profile", "--kernels", kernel, "-n", "1000", limit_s=120).returncode == 0

    def rounds_written(self):
        return sorted(int(name.split(".")[0]) for name in os.listdir(self.folder) if re.fullmatch(r"\d+\.replay", name))

    def tidy(self):
        """Removes what would grow, and returns the size of the rest in MB."""
        for old in self.rounds_written()[:-2]:
            os.remove(self.path(f"{old}.replay"))
        for name in os.listdir(self.path(OUTPUTS)):
            output = self.path(os.path.join(OUTPUTS, name))
            if time.time() - os.path.getmtime(output) > KEPT_S:
                os.remove(output)
        size = 0
        for folder, _, names in os.walk(self.folder):
            for name in names:
                try:
                    size += os.path.getsize(os.path.join(folder, name))
                except OSError:
                    pass  # the program has just renamed it
        return size / 1e6

    def compare(self, number, options):
        """Whether the state at the end of a round is that of an undisturbed run."""
        if number in self.compared:
            return
        step, state = last_state(self.path(f"{number}.replay"))
        table = self.path("undisturbed.csv")
        try:
            run = self.command("run", *options, "--diagnostics", table, "--force")
        except subprocess.TimeoutExpired:
            return self.fail(f"round {number}: the undisturbed run did not end in {END_S} s")
        if run.returncode != 0:
            return self.fail(f"round {number}: the undisturbed run: {run.stderr.strip()}")
        with open(table) as rows:
            undisturbed = rows.read().split("\n")[-2].split(",")[-1]
        self.compared[number] = state == undisturbed and step == str(STEPS)
        self.say(f"round {number}: state {state} after {step} steps, undisturbed {undisturbed}")
        if not self.compared[number]:
            self.fail(f"round {number}: the states differ; the undisturbed one: orrery run {' '.join(options)}")

    def disturb(self, script, options, kernel_file):
        """Runs the view beside samples and comparisons. Returns its status and stderr."""
        # A script may name the kernel of a file that the program was started with.
        kernel = ["--kernel-file", kernel_file] if kernel_file else ["--kernel", "cpu-serial"]
        view = [self.orrery, "view", "--offscreen", "--size", "320x200", *kernel, "--scene", "two-body",
                "--panel", "on", "--force", "--script", script]
        ends_s = self.end_s - min(END_SHARE * self.end_s, LONGEST_END_S)
        next_gpu_s = next_progress_s = 0
        next_compare_s = COMPARE_S
        with open(self.path("stdout"), "w") as out, open(self.path("stderr"), "w") as err:
            process = subprocess.Popen(view, stdout=out, stderr=err, cwd=self.folder, start_new_session=True)
            while process.poll() is None and self.now_s() < ends_s and not self.stopped:
                time.sleep(SAMPLE_S)
                now_s = self.now_s()
                asks_gpu = now_s >= next_gpu_s
                next_gpu_s = now_s + SAMPLE_GPU_S if asks_gpu else next_gpu_s
                try:
                    self.samples.append((now_s, resident_mb(process.pid), gpu_mb(process.pid) if asks_gpu else None))
                except (OSError, StopIteration):
                    break  # it has ended
                rounds = self.rounds_written()
                size_mb = self.tidy()
                if size_mb > MOST_MB:
                    self.fail(f"{self.folder} has {size_mb:.0f} MB")
                    break
                if now_s >= next_progress_s:
                    next_progress_s = now_s + PROGRESS_S
                    self.progress.write(f"{now_s:.0f} s, round {rounds[-1] if rounds else '-'}, {self.samples[-1][1]:.0f} MB, "
                                        f"{len(self.compared)} rounds compared, files {size_mb:.1f} MB\n")
                if now_s >= next_compare_s and rounds:
                    next_compare_s = now_s + COMPARE_S
                    self.compare(rounds[-1], options[rounds[-1]])
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            try:
                status = process.wait(timeout=END_S)
            except subprocess.TimeoutExpired:
                self.fail(f"the view did not end in {END_S} s after SIGINT")
                process.kill()
                status = process.wait()
        with open(self.path("stderr")) as err:
            return status, err.read().strip()

    def replay(self, number, repeatable, kernel_file):
        """Computes the latest starts again, as many as the time allows. Returns a phrase about it."""
        head, starts = parts_of_replay(self.path(f"{number}.replay"), repeatable)
        with_file = ["--kernel-file", kernel_file] if kernel_file else []
        done = 0
        while starts and done < REPLAYED_STARTS:
            with open(self.path("last.replay"), "w") as file:
                file.write(head + "".join(starts[-STARTS_AT_ONCE:]) + "end\n")
            try:
                replay = self.command("replay", "last.replay", *with_file, limit_s=max(self.end_s - self.now_s(), 10))
            except subprocess.TimeoutExpired:
                break
            if replay.returncode != 0:
                self.fail("orrery replay: " + (replay.stdout + replay.stderr).strip())
                break
            done += len(starts[-STARTS_AT_ONCE:])
            del starts[-STARTS_AT_ONCE:]
        return f"the last {done} starts replayed" + (f", {len(starts)} before them not" if starts else "")

    def flat(self, column, what):
        """Checks the memory after the warm-up. Returns a phrase about it."""
        values = [sample[column] for sample in self.samples if sample[column] is not None]
        if not values:
            return f"{what} not counted"
        rest = values[int(len(values) * WARM_UP):]
        half = len(rest) // 2
        before, after = max(rest[:half] or rest), max(rest[half:])
        if after > before * (1 + GROWTH) + GROWTH_MB:
            self.fail(f"memory of {what} grows: at most {before:.0f} MB until the middle, {after:.0f} MB after it")
        return f"{what} {values[0]:.0f}, {before:.0f}, {after:.0f} MB"


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


def last_state(replay):
    with open(replay) as file:
        states = re.findall(r"^(\d+) state ([0-9a-f]{8})$", file.read(), re.MULTILINE)
    return states[-1]


def parts_of_replay(replay, repeatable):
    """The head of the file, and its starts whose kernels give the same bits each time."""
    with open(replay) as file:
        head, *starts = re.split(r"^(?=0 return-to )", file.read().removesuffix("end\n"), flags=re.MULTILINE)
    return head, [start for start in starts
                  if set(re.findall(r"^\d+ (?:return-to|kernel) ([\w-]+)", start, re.MULTILINE)) <= repeatable]


def machine(replay):
    with open(replay) as file:
        return ", ".join(re.findall(r"^(?:processor|gpu) (.+)$", file.read(), re.MULTILINE))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("orrery")
    parser.add_argument("--minutes", type=float, default=30, help="for the disturbances and all checks")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bodies", type=int, default=2000, help="the largest number")
    parser.add_argument("--folder", help="for the script and what is written; default: a new one in /tmp")
    asked = parser.parse_args()
    folder = os.path.abspath(asked.folder or tempfile.mkdtemp(prefix="orrery_soak_"))
    os.makedirs(os.path.join(folder, OUTPUTS), exist_ok=True)
    soak = Soak(os.path.abspath(asked.orrery), folder, asked.minutes)
    for old in soak.rounds_written():
        os.remove(soak.path(f"{old}.replay"))

    kernels = soak.kernels()
    own = soak.kernel_file()
    kernels += [own] if own else []
    own_file = own["file"] if own else None
    profiles = soak.can_profile(kernels[-1]["id"] if not own else kernels[-2]["id"])
    script = soak.path("script")
    commands = Commands(kernels, asked.seed, asked.bodies, own_file, profiles)
    options = write_script(script, commands, asked.minutes, folder)
    soak.say(f"{platform.node()}, {platform.machine()}, {time.strftime('%Y-%m-%d')}, seed {asked.seed}, files in {folder}")
    soak.say(f"{len(kernels)} kernels: {', '.join(kernel['id'] for kernel in kernels)}")
    soak.say(f"kernel files {'run' if own else 'cannot run here'}; profiles {'are taken' if profiles else 'cannot be taken here'}")

    before_s = soak.now_s()
    status, err = soak.disturb(script, options, own_file)
    minutes = (soak.now_s() - before_s) / 60
    rounds = soak.rounds_written()
    if status not in (0, 128 + signal.SIGINT):
        soak.fail(f"exit status {status}")
    if err:
        soak.fail(err)
    for number in rounds[-2:]:
        soak.compare(number, options[number])
    memory = "; ".join([soak.flat(1, "process"), soak.flat(2, "GPU")])
    if rounds:
        repeatable = {kernel["id"] for kernel in kernels if kernel["repeatable"]}
        replayed = soak.replay(rounds[-1], repeatable, own_file)
        row = [f"{machine(soak.path(f'{rounds[-1]}.replay'))}; {time.strftime('%Y-%m-%d')}; seed {asked.seed}",
               f"{minutes:.1f} minutes", f"{rounds[-1] + 1}", memory,
               f"{sum(soak.compared.values())} of {len(soak.compared)} compared rounds equal; {replayed}; "
               + ("FAILED" if soak.failures else "passed")]
        soak.say(f"a round has {COMMANDS_PER_ROUND} disturbances")
        soak.say("| " + " | ".join(row) + " |")
    else:
        soak.fail("no round was ended")
    soak.say("FAILED" if soak.failures else "passed")
    return 1 if soak.failures else 0


if __name__ == "__main__":
    sys.exit(main())
