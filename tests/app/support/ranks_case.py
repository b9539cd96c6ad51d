"""Tests that start the program as the ranks of mpirun."""

import json
import os
import shutil
import subprocess
import sys
import time

from process_case import ProcessCase

NO_TESTS = 77
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               # Containers may forbid it, and then each start prints a warning.
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def facts(orrery):
    """What the program prints about itself and the machine."""
    return json.loads(subprocess.run([orrery, "info", "--json"], capture_output=True, text=True).stdout)


def skip_without_mpirun():
    if not shutil.which("mpirun"):
        print("skipped: mpirun is not installed (Debian: openmpi-bin)")
        sys.exit(NO_TESTS)


def own_lines(err):
    """The lines that are orrery's and not mpirun's."""
    return [line for line in err.splitlines() if "orrery:" in line]


def threads_below(pid):
    """A line for each thread of this process and of its children: what it does, and in which call of the system."""
    lines = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        folder = f"/proc/{pid}/task/{thread}"
        with open(folder + "/stat") as stat, open(folder + "/wchan") as wchan, open(folder + "/children") as children:
            state = stat.read().rpartition(")")[2].split()[0]
            lines.append(f"process {pid}, thread {thread}: {state} {wchan.read()}")
            below = children.read().split()
        for child in below:
            lines += threads_below(int(child))
    return lines


def threads_if_alive(pid):
    try:
        return threads_below(pid)
    except OSError as ended:  # meanwhile
        return [str(ended)]


class RanksCase(ProcessCase):
    def skip_without_hdf5(self):
        if "with HDF5" not in self.run_to_end("--version")[1]:
            self.skipTest("a build without HDF5")

    def start_mpirun(self, *words):
        mpirun = subprocess.Popen(["mpirun", "--oversubscribe", *words], cwd=self.folder, env=ENVIRONMENT,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            mpirun.kill()
            mpirun.communicate()

        self.addCleanup(end)
        return mpirun

    def end_of(self, mpirun):
        """Status, stdout and stderr."""
        try:
            out, err = mpirun.communicate(timeout=self.patience_s)
        except subprocess.TimeoutExpired as late:
            said = b"".join(text for text in (late.output, late.stderr) if text).decode(errors="replace")
            self.fail(f"mpirun has not ended after {self.patience_s} s\n{said}\n" + "\n".join(threads_if_alive(mpirun.pid)))
        return mpirun.returncode, out, err

    def run_ranks(self, ranks, *arguments):
        """Status, stdout and orrery's lines on stderr."""
        status, out, err = self.end_of(self.start_mpirun("-n", str(ranks), self.orrery, *arguments))
        return status, out, own_lines(err)

    def ranks_succeed(self, ranks, *arguments):
        """Returns stdout of a run without a word on stderr."""
        status, out, err = self.run_ranks(ranks, *arguments)
        self.assertEqual((status, err), (0, []), out)
        return out

    def files_in(self, folder):
        """By name, what they hold."""
        found = {}
        for name in sorted(os.listdir(self.path(folder))):
            with open(self.path(f"{folder}/{name}"), "rb") as file:
                found[name] = file.read()
        return found

    def wait_for_file(self, name, mpirun):
        end = time.monotonic() + self.patience_s
        while not os.path.exists(self.path(name)):
            self.assertIsNone(mpirun.poll(), "ended too early")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
