#!/usr/bin/env python3
"""The program among other processes: streams that are closed, full or broken, signals, pipes that nobody reads.

    process_test.py ORRERY [TestCase.test...]
"""

import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from png_file import read_png
from process_case import ProcessCase, needs_mounts
from window_support import terminate
from window_test import PATIENCE_S, Display, recorded, wait_for

VIEW = ["--offscreen", "--scene", "plummer", "-n", "200", "--kernel", "cpu-serial", "--size", "64x48"]
OUTPUTS = ["--record", "a.csv", "--screenshot", "a.png", "--save", "a.tipsy"]
TIPSY_BYTES = 32 + 200 * 36
ENDLESS = """// id: endless
// notes: The compiler makes 2^20 classes of it.

template <int n, int p>
struct F {
  static constexpr int value = F<n - 1, 2 * p>::value + F<n - 1, 2 * p + 1>::value;
};
template <int p>
struct F<0, p> {
  static constexpr int value = p;
};
__global__ void pull(Targets targets, Sources sources, PairLaw law, Epilogue epilogue) {
  if (F<19, 1>::value == 1) return;
}
"""


def children_of(pid):
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                found += file.read().split()
        except OSError:
            pass  # the thread has ended
    return found


class ProcessTest(ProcessCase):
    patience_s = PATIENCE_S

    def assert_outputs_whole(self, frames=None):
        metadata, rows = recorded(self.path("a.csv"))
        self.assertIsNotNone(metadata)
        self.assertTrue(rows and all(row["frame_ms"] for row in rows), rows)
        if frames:
            self.assertEqual([int(row["frame"]) for row in rows], list(range(frames)))
        self.assertEqual(os.path.getsize(self.path("a.tipsy")), TIPSY_BYTES)


class StreamsTest(ProcessTest):
    def test_reader_of_stdout_leaves(self):
        reading, writing = os.pipe()
        os.close(reading)
        status, _, err = self.run_to_end(*VIEW, "--frames", "5", *OUTPUTS, stdout=writing)
        os.close(writing)
        self.assertEqual(status, 1, err)
        self.assert_one_line(err, "stdout", "Broken pipe")
        self.assert_outputs_whole(frames=5)
        self.assertEqual(read_png(self.path("a.png"))[:2], (64, 48))

    def test_closed_descriptors_never_become_files(self):
        for closed in itertools.chain.from_iterable(itertools.combinations((0, 1, 2), k) for k in (1, 2, 3)):
            with self.subTest(closed=closed):
                shutil.rmtree(self.folder)
                os.mkdir(self.folder)
                closing = " ".join(f"{descriptor}>&-" for descriptor in closed)
                shell = subprocess.run(["sh", "-c", f'exec "$@" {closing}', "sh", self.orrery, *VIEW, "--frames", "3", *OUTPUTS],
                                       cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE_S)
                self.assertEqual(shell.returncode, 1 if 1 in closed else 0, shell.stderr)
                if 1 in closed and 2 not in closed:
                    self.assert_one_line(shell.stderr, "stdout", "Bad file descriptor")
                self.assert_outputs_whole(frames=3)
                with open(self.path("a.csv")) as file:
                    self.assertNotIn("wrote", file.read())

    def test_unwritable_stderr_loses_nothing(self):
        with open("/dev/full", "w") as full:
            status, out, _ = self.run_to_end("--frames", "x", stderr=full)
            self.assertEqual((status, out), (2, ""))
            status, _, _ = self.run_to_end("bench", "--kernels", "cpu-serial", "-n", "64", "--progress", "--json",
                                           "a.json", stderr=full)
            self.assertEqual(status, 0)
            self.assertGreater(os.path.getsize(self.path("a.json")), 100)

    def test_full_stdout_is_a_failure_of_every_subcommand(self):
        small = ["--kernels", "cpu-serial", "-n", "64"]
        for arguments in (["--version"], ["bench", "--help"], ["kernels"], ["kernels", "--json"], ["info"],
                          ["bench", *small], ["verify", *small], [*VIEW, "--frames", "3", *OUTPUTS]):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                status, _, err = self.run_to_end(*arguments, stdout=full)
                self.assertEqual(status, 1, err)
                self.assert_one_line(err, "stdout", "No space left")
        self.assert_outputs_whole(frames=3)


class ShaderCacheTest(ProcessTest):
    @needs_mounts
    def test_a_full_disk_does_not_end_the_program(self):
        cache = self.path("cache")
        os.mkdir(cache)
        mount = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o size=4k none {cache} && exec "$@"', "sh"]
        run = subprocess.run([*mount, self.orrery, *VIEW, "--frames", "3", *OUTPUTS], cwd=self.folder, capture_output=True,
                             text=True, timeout=PATIENCE_S, env=dict(os.environ, XDG_CACHE_HOME=cache))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assert_outputs_whole(frames=3)


class SignalsTest(ProcessTest):
    def stopped_by(self, number, *arguments):
        process = self.start(*VIEW, "--frames", "1000000", "--record", "a.csv", "--save", "a.tipsy", *arguments)
        wait_for("recorded frames", lambda: recorded(self.path("a.csv"))[1])
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, err

    def test_a_stop_writes_everything_and_has_its_own_status(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                shutil.rmtree(self.folder)
                os.mkdir(self.folder)
                self.assertEqual(self.stopped_by(number, "--screenshot", "a.png"), (128 + number, ""))
                self.assert_outputs_whole()
                self.assertEqual(read_png(self.path("a.png"))[:2], (64, 48))

    def test_a_compiler_that_does_not_end_does_not_delay_a_stop(self):
        self.write("script", "0 workshop-open endless.cu\n")
        self.write("endless.cu", ENDLESS.replace("F<19", "F<1"))
        _, _, err = self.run_to_end(*VIEW, "--frames", "5", "--script", "script")
        if "no NVRTC" in err:
            self.skipTest(err)
        self.write("endless.cu", ENDLESS)
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = self.start(*VIEW, "--frames", "5", "--script", "script")
                wait_for("the compiler", lambda: children_of(process.pid))
                compilers = children_of(process.pid)
                process.send_signal(number)
                _, err = process.communicate(timeout=8)  # the compiler may take 10 s
                self.assertEqual((process.returncode, err), (128 + number, ""))
                wait_for("the end of the compilers",
                         lambda: not [pid for pid in compilers if os.path.exists(f"/proc/{pid}")])

    def test_pipes_that_nobody_reads_do_not_delay_a_stop(self):
        os.mkfifo(self.path("pipe"))
        for line, arguments in ("2 record pipe", []), ("", ["--save", "pipe"]), ("", ["--screenshot", "pipe"]):
            with self.subTest(line=line, arguments=arguments):
                self.write("script", f"0 save started.tipsy\n{line}\n")
                process = self.start(*VIEW, "--frames", "5", "--script", "script", *arguments)
                wait_for("the first frame", lambda: os.path.exists(self.path("started.tipsy")))
                os.remove(self.path("started.tipsy"))
                with self.assertRaises(subprocess.TimeoutExpired):
                    process.wait(1)
                process.send_signal(signal.SIGTERM)
                _, err = process.communicate(timeout=20)
                self.assertEqual(process.returncode, 1, err)
                self.assert_one_line(err, "pipe", "nobody reads")

    def test_a_reader_who_leaves_ends_the_recording_alone(self):
        os.mkfifo(self.path("pipe"))
        process = self.start(*VIEW, "--frames", "2000", "--record", "pipe", "--save", "a.tipsy")
        with open(self.path("pipe")) as pipe:
            pipe.readline()
        _, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 1, err)
        self.assert_one_line(err, "pipe", "Broken pipe")
        self.assertEqual(os.path.getsize(self.path("a.tipsy")), TIPSY_BYTES)

    def test_a_removed_recording_is_not_reported_as_written(self):
        process = self.start(*VIEW, "--frames", "1000000", "--record", "a.csv", "--save", "a.tipsy")
        wait_for("recorded frames", lambda: recorded(self.path("a.csv"))[1])
        os.remove(self.path("a.csv"))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 1, err)
        self.assert_one_line(err, "a.csv", "removed")
        self.assertIn("wrote a.tipsy\n", out)
        self.assertNotIn("a.csv", out)

    def test_a_huge_picture_does_not_delay_a_stop(self):
        process = self.start(*VIEW[:-1], "8192x8192", "--frames", "1000000", "--save", "a.tipsy", "--record", "a.csv")
        wait_for("the recording", lambda: os.path.exists(self.path("a.csv")))
        time.sleep(2)
        signalled = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
        print(f"stopped after {time.monotonic() - signalled:.1f} s")
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertEqual(os.path.getsize(self.path("a.tipsy")), TIPSY_BYTES)


@unittest.skipUnless(shutil.which("Xvfb") and shutil.which("xdotool"), "Xvfb or xdotool is missing")
class DisplayTest(ProcessTest):
    def setUp(self):
        super().setUp()
        self.display = Display()
        self.addCleanup(self.close_display)

    def close_display(self):
        self.display.server.send_signal(signal.SIGCONT)
        self.display.server.terminate()
        self.display.server.wait(30)

    def start_window(self, *arguments):
        process = self.start("--scene", "plummer", "-n", "200", "--kernel", "cpu-serial", "--record", "a.csv", "--save",
                             "a.tipsy", *arguments, env=self.display.environment)
        wait_for("recorded frames", lambda: len(recorded(self.path("a.csv"))[1]) > 2)
        return process

    def assert_rescued(self, process, status, *words):
        _, err = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, status, err)
        self.assert_one_line(err, *words)
        self.assert_outputs_whole()

    def test_server_dies(self):
        process = self.start_window()
        self.display.server.kill()
        self.assert_rescued(process, 1, "display")

    def test_server_dies_and_the_picture_is_missed(self):
        process = self.start_window("--screenshot", "a.png")
        self.display.server.kill()
        self.assert_rescued(process, 1, "display", "a.png")
        self.assertFalse(os.path.exists(self.path("a.png")))

    def test_client_is_killed(self):
        process = self.start_window()
        window = self.display.xdotool("search", "--pid", process.pid).split()[-1]
        self.display.xdotool("windowkill", window)
        self.assert_rescued(process, 1, "display")

    def test_stop_while_the_server_is_frozen(self):
        for signals in (1, 2):  # timeout sends two, which are one request
            with self.subTest(signals=signals):
                for name in ("a.csv", "a.tipsy"):
                    if os.path.exists(self.path(name)):
                        os.remove(self.path(name))
                process = self.start_window()
                self.display.server.send_signal(signal.SIGSTOP)
                time.sleep(1)
                terminate(process.pid, times=signals)
                _, err = process.communicate(timeout=PATIENCE_S)
                self.display.server.send_signal(signal.SIGCONT)
                self.assertEqual(process.returncode, 128 + signal.SIGTERM, err)
                self.assert_outputs_whole()


class OpenGlResetTest(ProcessTest):
    """A library stands for a driver that reports a reset in the tenth frame."""

    def setUp(self):
        super().setUp()
        self.faults = {"LD_PRELOAD": os.environ["ORRERY_GL_FAULTS"], "ORRERY_GL_RESET": "10"}

    def assert_reset(self, status, err):
        self.assertEqual(status, 1, err)
        self.assert_one_line(err, "the driver has reset OpenGL")
        self.assert_outputs_whole()
        _, rows = recorded(self.path("a.csv"))
        self.assertGreaterEqual(len(rows), 8)

    def test_without_a_window(self):
        status, _, err = self.run_to_end(*VIEW, "--frames", "1000", "--record", "a.csv", "--save", "a.tipsy",
                                         env=dict(os.environ, **self.faults))
        self.assert_reset(status, err)
        self.assertLessEqual(len(recorded(self.path("a.csv"))[1]), 10)

    @unittest.skipUnless(shutil.which("Xvfb") and shutil.which("xdotool"), "Xvfb or xdotool is missing")
    def test_in_a_window(self):
        display = Display()
        self.addCleanup(display.server.wait, 30)
        self.addCleanup(display.server.terminate)
        status, _, err = self.run_to_end("--scene", "plummer", "-n", "200", "--kernel", "cpu-serial", "--record", "a.csv",
                                         "--save", "a.tipsy", env=dict(display.environment, **self.faults))
        self.assert_reset(status, err)


if __name__ == "__main__":
    ProcessCase.orrery = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
