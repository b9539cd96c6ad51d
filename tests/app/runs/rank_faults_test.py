#!/usr/bin/env python3
"""Ranks of mpirun that die, hang, run out of memory or do not fit together: every process ends in time, one line names
the rank and the cause, and the run continues from its last checkpoint.

    rank_faults_test.py ORRERY
"""

import ctypes
import filecmp
import os
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from process_case import ProcessCase
from ranks_case import NO_TESTS, RanksCase, facts, own_lines, skip_without_mpirun

TIME_LIMIT_S = 15
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
WALL = 0x40000000  # waitpid: for threads, too


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def rank_of(pid):
    with open(f"/proc/{pid}/environ") as file:
        words = dict(word.partition("=")[::2] for word in file.read().split("\0"))
    return int(words["OMPI_COMM_WORLD_RANK"])


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def open_files(pid):
    files = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            files.append(os.readlink(f"/proc/{pid}/fd/{number}"))
        except FileNotFoundError:  # closed meanwhile
            pass
    return files


def attach(thread):
    """Stops this thread alone: the others of its process go on."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(PTRACE_ATTACH, thread, None, None) != 0:
        raise unittest.SkipTest("no thread can be stopped here: " + os.strerror(ctypes.get_errno()))
    os.waitpid(thread, WALL)
    return libc


def is_in_program(pid, thread):
    """Whether a stopped thread was in the program's own code: neither in a library, such as MPI, nor in the system."""
    with open(f"/proc/{pid}/task/{thread}/syscall") as file:
        words = file.read().split()
    if words[0] != "-1":
        return False
    place = int(words[-1], 16)
    program = os.readlink(f"/proc/{pid}/exe")
    with open(f"/proc/{pid}/maps") as file:
        parts = [line.split()[0].split("-") for line in file if line.rstrip().endswith(program)]
    return any(int(begin, 16) <= place < int(end, 16) for begin, end in parts)


def stop_kernel(pid):
    """Stops the thread that evaluates forces, within the kernel. In MPI it would keep the others from greeting."""
    def processor_time(thread):
        with open(f"/proc/{pid}/task/{thread}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[11])

    busiest = max((int(name) for name in os.listdir(f"/proc/{pid}/task")), key=processor_time)
    while True:
        libc = attach(busiest)
        if is_in_program(pid, busiest):
            # Whoever traces a thread has to take note of its end, or mpirun never sees that of the process.
            threading.Thread(target=os.waitpid, args=(busiest, WALL), daemon=True).start()
            return
        libc.ptrace(PTRACE_DETACH, busiest, None, None)
        time.sleep(0.001)


class RunningRanks:
    """A run of three ranks that has left its first checkpoint."""

    def __init__(self, case, name, bodies, kernel="cpu-serial", *more, hosts=("-n", "3")):
        self.case, self.checkpoint = case, name + ".checkpoint"
        self.mpirun = case.start_mpirun(
            *hosts, case.orrery, "run", "--scene", "plummer", "-n", bodies, "--kernel", kernel, "--steps",
            "1000000", "--checkpoint", self.checkpoint, "--every-s", "1", *more)

    def processes(self):
        """By rank."""
        self.case.wait_for_file(self.checkpoint, self.mpirun)
        return {rank_of(pid): pid for pid in children(self.mpirun.pid)}

    def assert_all_end(self, processes, *words, limit_s=TIME_LIMIT_S):
        """In time, with one line that has these words, and with a checkpoint that any number of ranks continues."""
        self.assert_end_in_time(processes, *words, limit_s=limit_s)
        self.case.assert_continues(self.checkpoint)

    def assert_end_in_time(self, processes, *words, limit_s=TIME_LIMIT_S):
        begin = time.monotonic()
        status, out, err = self.case.end_of(self.mpirun)
        while any(map(is_alive, processes.values())) and time.monotonic() - begin < limit_s:
            time.sleep(0.01)  # mpirun need not wait for those that it kills
        self.case.assertLess(time.monotonic() - begin, limit_s, err)
        self.case.assertNotEqual(status, 0)
        self.case.assertEqual(out, "")
        lines = [line for line in err.splitlines() if words[0] in line]
        self.case.assertEqual(len(lines), 1, err)
        for word in words:
            self.case.assertIn(word, lines[0])
        self.case.assertEqual([line for line in own_lines(err) if "rank " in line and line not in lines], [], err)


class RankFaultsTest(RanksCase):
    def assert_continues(self, checkpoint, note=""):
        _, _, err = self.run_to_end("run", "--resume", checkpoint, "--steps", "1")
        step = int(re.search("has reached step ([0-9]+)", err)[1])
        status, out, err = self.run_to_end("run", "--resume", checkpoint, "--steps", str(step + 1))
        self.assertEqual((status, err), (0, note))
        self.assertIn(f"steps {step:,} to {step + 1:,}", out)

    def test_a_killed_rank(self):
        for rank, kernel in (0, "cpu-serial"), (1, "cpu-serial"), (1, "cpu-tree"):
            with self.subTest(rank=rank, kernel=kernel):
                run = RunningRanks(self, f"killed-{rank}-{kernel}", "1000", kernel)
                processes = run.processes()
                os.kill(processes[rank], signal.SIGKILL)
                run.assert_all_end(processes, f"rank {rank} ", "exited on signal 9")

    def test_a_stopped_rank(self):
        runs = [RunningRanks(self, f"stopped-{rank}", "1000", kernel)
                for rank, kernel in enumerate(("cpu-serial", "cpu-tree"))]
        of_run = [run.processes() for run in runs]
        suspended = RunningRanks(self, "suspended", "1000")
        job = suspended.processes().values()
        for pid in job:
            os.kill(pid, signal.SIGSTOP)
        for rank, processes in enumerate(of_run):
            os.kill(processes[rank], signal.SIGSTOP)
        for rank, (run, processes) in enumerate(zip(runs, of_run)):
            run.assert_all_end(processes, f"rank {rank}: no heartbeat for ")
        for pid in job:
            os.kill(pid, signal.SIGCONT)
        time.sleep(2)
        self.assertIsNone(suspended.mpirun.poll(), "a job that was suspended as a whole goes on")
        suspended.mpirun.send_signal(signal.SIGINT)
        _, _, err = self.end_of(suspended.mpirun)
        self.assertIn("stopped after step ", err)

    def test_a_rank_that_is_lost_while_a_snapshot_is_written(self):
        if "-fsanitize" in facts(self.orrery)["build_flags"]:
            self.skipTest("steps of so many bodies would take minutes")
        folder = self.path("half")  # of bodies in two pieces, of which the second comes when the first is written
        run = RunningRanks(self, "half", "1100000", "cpu-tree", "--set", "theta=1", "--dt", "0.001", "--every", "0.001",
                           "--snapshots", folder, "--format", "text")
        processes = run.processes()
        while not any(file.startswith(os.path.realpath(folder) + "/") for file in open_files(processes[0])):
            self.assertIsNone(run.mpirun.poll())
            time.sleep(0.001)
        written = sorted(os.listdir(folder))
        os.kill(processes[1], signal.SIGSTOP)
        run.assert_end_in_time(processes, "rank 1: no heartbeat for ",
                               "continue with: mpirun -n 3 orrery run --resume half.checkpoint")
        left = sorted(os.listdir(folder))
        self.assertEqual(left[:len(written)], written)
        self.assertLessEqual(len(left), len(written) + 1)  # that was just complete
        self.assertEqual(left, [f"snapshot_{number:05}.txt" for number in range(len(left))],
                         "nothing is left of half a file")
        self.assert_continues(run.checkpoint)
        self.assertGreater(len(os.listdir(folder)), len(written))
        with open(os.path.join(folder, left[-1])) as file:
            self.assertEqual(sum(not line.startswith("#") for line in file), 1100000)

    def test_a_rank_that_is_lost_while_all_write_an_hdf5_file(self):
        self.skip_without_hdf5()
        if "-fsanitize" in facts(self.orrery)["build_flags"]:
            self.skipTest("steps of so many bodies would take minutes")
        for lost, fault, words in ((1, signal.SIGSTOP, ["rank 1: no heartbeat for "]),
                                   (0, signal.SIGSTOP, ["rank 0: no heartbeat for "]),
                                   (1, signal.SIGKILL, ["rank 1 ", "exited on signal 9"])):
            with self.subTest(lost=lost, fault=fault):
                name = f"joint-{lost}-{fault.name}"
                folder = self.path(name)
                run = RunningRanks(self, name, "1100000", "cpu-tree", "--set", "theta=1", "--dt", "0.001", "--every",
                                   "0.001", "--snapshots", folder, "--format", "hdf5")
                processes = run.processes()
                while not any(os.path.realpath(folder) + "/.snapshot" in file for file in open_files(processes[1])):
                    self.assertIsNone(run.mpirun.poll())
                    time.sleep(0.001)
                written = [file for file in sorted(os.listdir(folder)) if not file.startswith(".")]
                os.kill(processes[lost], fault)
                run.assert_all_end(processes, *words)
                visible = [file for file in sorted(os.listdir(folder)) if not file.startswith(".")]
                self.assertEqual(visible[:len(written)], written)
                self.assertLessEqual(len(visible), len(written) + 2)  # by resuming, and one that was just complete
                sizes = {os.path.getsize(os.path.join(folder, file)) for file in visible}
                self.assertEqual(len(sizes), 1, "no file is cut off")

    def test_a_rank_whose_disk_is_full(self):
        self.skip_without_hdf5()
        # The rows of the last rank are beyond its limit.
        self.write("full.sh", '[ "$OMPI_COMM_WORLD_RANK" = 2 ] && trap "" XFSZ && ulimit -f 4000\nexec "$@"\n')
        status, out, err = self.end_of(self.start_mpirun(
            "-n", "3", "sh", "full.sh", self.orrery, "run", "--scene", "plummer", "-n", "200000", "--kernel",
            "cpu-tree", "--set", "theta=1", "--dt", "0.001", "--steps", "2", "--every", "0.001", "--snapshots", "full",
            "--format", "hdf5", "--checkpoint", "full.checkpoint"))
        self.assertEqual((status, own_lines(err)), (0, []), "rank 0 writes in its place")
        self.assertEqual(self.run_to_end("run", "--scene", "plummer", "-n", "200000", "--kernel", "cpu-tree", "--set",
                                         "theta=1", "--dt", "0.001", "--steps", "2", "--every", "0.001", "--snapshots",
                                         "alone", "--format", "hdf5")[0], 0)
        for name in "snapshot_00000.hdf5", "snapshot_00001.hdf5", "snapshot_00002.hdf5":
            with open(self.path("full/" + name), "rb") as full, open(self.path("alone/" + name), "rb") as alone:
                self.assertTrue(full.read() == alone.read(), name)

    def test_a_kernel_that_does_not_end(self):
        for kernel, bodies in ("cpu-serial", "6k"), ("cpu-tree", "60k"):  # the ranks of a tree wait for each other
            with self.subTest(kernel=kernel):
                run = RunningRanks(self, "endless-" + kernel, bodies, kernel)
                processes = run.processes()
                stop_kernel(processes[1])
                # A rank has 6 s more than ten times what the others took: some seconds on a busy machine, under a sanitizer.
                run.assert_all_end(processes, "rank 1: no result after ",
                                   f"continue with: mpirun -n 3 orrery run --resume endless-{kernel}.checkpoint",
                                   limit_s=2 * TIME_LIMIT_S)

    def test_a_rank_without_memory(self):
        if "-fsanitize" in facts(self.orrery)["build_flags"]:
            self.skipTest("a sanitizer needs more memory than can be allowed")
        with open(self.path("limited.sh"), "w") as file:
            file.write('[ "$OMPI_COMM_WORLD_RANK" = "$1" ] && ulimit -v 300000\nshift\nexec "$@"\n')  # kB
        # Of a rank that cannot take the message of an exchange, the others know no cause.
        for rank, cause in (0, "not enough memory"), (1, "rank 1: (not enough|failed while the others waited for it, perhaps for lack of) memory"):
            with self.subTest(rank=rank):
                status, out, err = self.end_of(self.start_mpirun(
                    "-n", "2", "sh", "limited.sh", str(rank), self.orrery, "run", "--scene", "cold-collapse", "-n",
                    "1M", "--kernel", "cpu-tree", "--steps", "1"))
                self.assertNotEqual(status, 0)
                self.assertEqual(out, "")
                self.assertEqual(len(own_lines(err)), 1, err)
                self.assertRegex(own_lines(err)[0], cause)

    def test_a_body_that_becomes_non_finite(self):
        # This drag reverses a velocity in each step, and makes it larger: not a number after some 1,800 steps.
        for kernel in "cpu-serial", "cpu-tree":
            with self.subTest(kernel=kernel):
                file = f"wild-{kernel}.checkpoint"
                self.ranks_succeed(3, "run", "--scene", "plummer", "-n", "300", "--law", "attract-repel", "--drag",
                                   "1.35", "--dt", "0.01", "--kernel", kernel, "--steps", "100", "--checkpoint", file)
                status, out, err = self.run_ranks(3, "run", "--resume", file, "--steps", "100000")
                self.assertEqual((status, out, len(err)), (1, "", 1), err)
                self.assertIn(" is not finite after step ", err[0])
                self.assertIn("rank 0: body ", err[0])
                self.assert_continues(file)

    def test_ranks_of_different_builds(self):
        notes = subprocess.run(["readelf", "-n", self.orrery], capture_output=True, text=True).stdout
        build = re.search("Build ID: ([0-9a-f]+)", notes)[1]
        other = build[::-1]
        with open(self.orrery, "rb") as file:
            program = file.read()
        self.assertEqual(program.count(bytes.fromhex(build)), 1)
        with open(self.path("other"), "wb") as file:
            file.write(program.replace(bytes.fromhex(build), bytes.fromhex(other)))
        os.chmod(self.path("other"), 0o755)
        run = ["run", "--scene", "two-body", "--steps", "1"]
        status, out, err = self.end_of(self.start_mpirun("-n", "2", self.orrery, *run, ":", "-n", "1",
                                                         self.path("other"), *run))
        self.assertEqual((status, out, len(own_lines(err))), (1, "", 1), err)
        self.assertRegex(err, f"rank 2 runs orrery .*{other}.*, and rank 0 orrery .*{build}")

    def test_ranks_with_different_command_lines(self):
        status, out, err = self.end_of(self.start_mpirun("-n", "1", self.orrery, "run", "--scene", "two-body", "--steps",
                                                         "1", ":", "-n", "1", self.orrery, "kernels"))
        self.assertEqual((status, out, len(own_lines(err))), (1, "", 1), err)
        self.assertIn("rank 1 was started with other arguments than rank 0", err)

    def test_more_ranks_than_bodies(self):
        run = ["run", "--scene", "two-body", "--steps", "20", "--kernel", "cpu-tree", "--every", "0.05", "--snapshots"]
        self.assertEqual(self.run_to_end(*run, "alone")[0], 0)
        self.ranks_succeed(4, *run, "shared")
        names = sorted(os.listdir(self.path("alone")))
        self.assertEqual(sorted(os.listdir(self.path("shared"))), names)
        for name in names:
            self.assertTrue(filecmp.cmp(self.path("alone/" + name), self.path("shared/" + name), shallow=False), name)


if __name__ == "__main__":
    ProcessCase.orrery = os.path.abspath(sys.argv.pop(1))
    if facts(ProcessCase.orrery)["mpi"] is None:
        sys.exit(NO_TESTS)
    skip_without_mpirun()
    unittest.main()
