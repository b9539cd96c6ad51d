#!/usr/bin/env python3
"""`orrery run` as people use it: stopped, killed, on a full disk, continued.

    run_test.py ORRERY
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from process_case import ProcessCase, needs_mounts

SCENE = ["--scene", "plummer", "-n", "3000", "--kernel", "cpu-serial", "--dt", "0.001"]
OUTPUTS = ["--steps", "120", "--every", "0.02", "--snapshots", "out", "--diagnostics", "d.csv", "--checkpoint",
           "a.checkpoint", "--every-s", "1"]


class RunTest(ProcessCase):
    def start(self, *arguments, **how):
        return super().start("run", *arguments, **how)

    def start_and_wait_for(self, name, *arguments, **how):
        process = self.start(*arguments, **how)
        end = time.monotonic() + self.patience_s
        while not os.path.exists(self.path(name)):
            self.assertIsNone(process.poll(), "ended before " + name)
            self.assertLess(time.monotonic(), end, name)
            time.sleep(0.01)
        return process

    def assert_as_undisturbed(self):
        self.succeed(*SCENE, "--steps", "120", "--every", "0.02", "--snapshots", "whole", "--diagnostics", "whole.csv")
        self.assertEqual(self.read("d.csv").splitlines()[2:], self.read("whole.csv").splitlines()[2:])
        self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(os.listdir(self.path("whole"))))
        for name in os.listdir(self.path("out")):
            self.assertEqual(self.read("out/" + name), self.read("whole/" + name), name)

    def test_what_floats_do_not_hold_continues_bit_for_bit(self):
        jerk = [word if word != "cpu-serial" else "cpu-jerk" for word in SCENE]
        for integrator, bytes_per_body, options in (("yoshida4", (7 + 6) * 4, [*SCENE, "--digits", "compensated"]),
                                                    ("hermite4-blocks", 7 * 4 + (6 + 7) * 8, jerk)):
            with self.subTest(integrator=integrator):
                for name, steps in (("whole", "12"), ("half", "5")):
                    self.succeed(*options, "--integrator", integrator, "--steps", steps, "--checkpoint",
                                 name + ".checkpoint", "--force")
                self.succeed("--resume", "half.checkpoint", "--steps", "12")
                bodies = slice(-3000 * bytes_per_body - 4, -4)  # behind the setup, before the checksum
                self.assertEqual(self.read("half.checkpoint")[bodies], self.read("whole.checkpoint")[bodies])

    def test_a_stopped_run_says_how_to_continue_and_does_so_bit_for_bit(self):
        process = self.start_and_wait_for("out/snapshot_00001.tipsy", *SCENE, *OUTPUTS)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=self.patience_s)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assert_one_line(err, "of 120", "orrery run --resume a.checkpoint")
        self.assertRegex(out, r"^wrote \d+ snapshots to out\nwrote d.csv\n$")
        out = self.succeed("--resume", "a.checkpoint")
        self.assertIn("to 120", out)
        self.assertRegex(out, r"\nrelative change of the energy since step 0: -?\d\.\d\de-\d+\n")
        self.assertRegex(out, r" to out\nwrote d.csv\nwrote a.checkpoint\n$", "names from the working folder")
        self.assert_as_undisturbed()
        self.assert_refused(2, ["step 120", "--steps K"], "--resume", "a.checkpoint")
        out = self.succeed("--resume", "a.checkpoint", "--steps", "125")
        self.assertIn("steps 120 to 125", out)

    def test_a_killed_run_continues_from_its_last_checkpoint(self):
        process = self.start_and_wait_for("a.checkpoint", *SCENE, *OUTPUTS)
        process.kill()
        process.communicate()
        self.succeed("--resume", "a.checkpoint")
        self.assert_as_undisturbed()

    def test_a_stopped_run_without_a_checkpoint_gets_one(self):
        process = self.start_and_wait_for("out/snapshot_00000.tipsy", *SCENE, "--steps", "100000", "--snapshots", "out",
                                          "--every", "1")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=self.patience_s)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assert_one_line(err, "orrery run --resume plummer.checkpoint")
        self.assertGreater(len(self.read("plummer.checkpoint")), 3000 * 28)

    def test_a_damaged_checkpoint_leaves_the_one_before(self):
        for steps in ("5", "8"):
            more = [*SCENE, "--checkpoint", "a.checkpoint"] if steps == "5" else ["--resume", "a.checkpoint"]
            self.assertEqual(self.run_to_end(*more, "--steps", steps)[0], 0)
        with open(self.path("a.checkpoint"), "r+b") as file:
            file.seek(1000)
            byte = file.read(1)[0]
            file.seek(1000)
            file.write(bytes([byte ^ 0xFF]))
        status, out, err = self.run_to_end("--resume", "a.checkpoint", "--steps", "9")
        self.assertEqual(status, 0, err)
        self.assert_one_line(err, "a.checkpoint", "a.previous.checkpoint")
        self.assertTrue(os.path.exists(self.path("a.checkpoint.damaged")), "set aside, not the previous one now")
        self.assertIn("steps 5 to 9", out)

    def test_a_full_disk_keeps_the_last_checkpoint(self):
        self.assertEqual(self.run_to_end(*SCENE, "--steps", "5", "--checkpoint", "a.checkpoint")[0], 0)
        before = self.read("a.checkpoint")
        self.assert_refused(1, ["a.checkpoint", "too large", "continue with: orrery run --resume a.checkpoint"],
                            "--resume", "a.checkpoint", "--steps", "20",
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)))
        self.assertEqual(self.read("a.checkpoint"), before)

    def on_a_small_disk(self, name, *arguments):
        """Runs with a file system of 100 kB in the folder `name`, whose files are copied before it goes."""
        os.mkdir(self.path(name))
        os.mkdir(self.path("kept"))
        mounted = f'mount -t tmpfs -o size=100k none {name} && {{ "$@"; s=$?; cp -r {name}/. kept; exit $s; }}'
        mount = ["unshare", "-rm", "sh", "-c", mounted, "sh"]
        run = subprocess.run([*mount, self.orrery, "run", *arguments], cwd=self.folder, capture_output=True, text=True,
                             timeout=self.patience_s)
        os.rmdir(self.path(name))
        os.rename(self.path("kept"), self.path(name))
        return run.returncode, run.stderr

    @needs_mounts
    def test_a_full_disk_of_an_output_leaves_a_checkpoint(self):
        small = [word if word != "3000" else "800" for word in SCENE]  # three snapshots fill the disk
        more = ["--steps", "120", "--every", "0.02", "--snapshots", "out"]
        for diagnostics, name in (("d.csv", []), ("out/d.csv", ["--checkpoint", "a.checkpoint"])):
            with self.subTest(diagnostics=diagnostics):
                arguments = [*small, *more, "--diagnostics", diagnostics]
                status, err = self.on_a_small_disk("out", *arguments, *name)
                self.assertEqual(status, 1)
                kept = "a.checkpoint" if name else "plummer.checkpoint"
                self.assert_one_line(err, "No space left", f"continue with: orrery run --resume {kept}")
                out = self.succeed("--resume", kept)
                self.assertIn("steps 60 to 120", out)
                whole = [word.replace("out", "whole") for word in arguments]
                os.mkdir(self.path("whole"))
                self.assertEqual(self.run_to_end(*whole)[0], 0)
                self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(os.listdir(self.path("whole"))))
                for file in os.listdir(self.path("whole")):
                    rows = [self.read(f"{folder}/{file}").split(b"\n", 2)[-1] for folder in ("out", "whole")]
                    self.assertEqual(*rows, file)
                shutil.rmtree(self.path("out"))
                shutil.rmtree(self.path("whole"))
                for rest in ("d.csv", kept):
                    if os.path.exists(self.path(rest)):
                        os.remove(self.path(rest))

    @needs_mounts
    def test_a_stopped_run_in_a_read_only_folder_leaves_its_checkpoint_with_the_user(self):
        os.mkdir(self.path("state"))
        os.mkdir(self.path("ro"))
        readonly = ["unshare", "-rm", "sh", "-c", 'mount --bind ro ro && mount -o remount,bind,ro ro && cd ro && exec "$@"',
                    "sh"]
        for state, line in (("state", []), ("ro", ["no checkpoint", "plummer.checkpoint", "--checkpoint"])):
            with self.subTest(state=state):
                process = subprocess.Popen(
                    [*readonly, self.orrery, "run", *SCENE, "--steps", "100000", "--progress"], cwd=self.folder,
                    stderr=subprocess.PIPE, text=True, env=dict(os.environ, XDG_STATE_HOME=self.path(state)))
                first = process.stderr.readline()
                for word in line:
                    self.assertIn(word, first)
                while " step " not in first:  # steps have begun
                    first = process.stderr.readline()
                    self.assertTrue(first, "it ended by itself")
                process.send_signal(signal.SIGTERM)
                _, err = process.communicate(timeout=self.patience_s)
                last = err.rstrip().splitlines()[-1]
                if line:
                    self.assertEqual(process.returncode, 1)
                    self.assertIn("plummer.checkpoint", last)
                    self.assertNotIn(".next", last)
                else:
                    kept = self.path("state/orrery/plummer.checkpoint")
                    self.assertIn(f"orrery run --resume {kept}", last)
                    self.assertTrue(os.path.exists(kept))

    def start_in(self, folder, seen, *arguments):
        """A run in a folder of its own, once it has written the file `seen` there, with the state folder `state`."""
        os.mkdir(self.path(folder))
        process = subprocess.Popen([self.orrery, "run", *SCENE, "--steps", "1000000", *arguments], cwd=self.path(folder),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env=dict(os.environ, XDG_STATE_HOME=self.path("state")))
        for clean_up in process.stderr.close, process.wait, process.kill:  # called in the other order
            self.addCleanup(clean_up)
        end = time.monotonic() + self.patience_s
        while not os.path.exists(self.path(f"{folder}/{seen}")):
            self.assertIsNone(process.poll(), "ended before " + seen)
            self.assertLess(time.monotonic(), end, seen)
            time.sleep(0.01)
        return process

    def stop(self, process, *words):
        """Returns the step that the run has reached."""
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=self.patience_s)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        self.assert_one_line(err, "stopped after step", *words)
        return int(re.search("stopped after step ([0-9,]+)", err)[1].replace(",", ""))

    def assert_goes_on(self, checkpoint, step, *more):
        out = self.succeed("--resume", checkpoint, "--steps", str(step + 1), *more)
        self.assertIn(f"steps {step:,} to {step + 1:,}", out)

    def test_a_run_whose_folder_has_vanished_leaves_its_checkpoint_with_the_user(self):
        kept = self.path("state/orrery/plummer.checkpoint")
        for name, seen, more in (("named", "a.checkpoint", ["--checkpoint", "a.checkpoint", "--every-s", "1"]),
                                 ("unnamed", "s/snapshot_00000.tipsy", ["--snapshots", "s", "--every", "1"])):
            with self.subTest(name):
                process = self.start_in(name, seen, *more)
                os.rename(self.path(name), self.path(name + "-gone"))
                for _ in range(2):  # the run may just write there
                    shutil.rmtree(self.path(name + "-gone"), ignore_errors=True)
                words = [f"continue with: orrery run --resume {kept}", *(["a.checkpoint"] if name == "named" else [])]
                step = self.stop(process, *words)
                if name == "unnamed":  # its snapshots are not in the folder of the checkpoint
                    self.assert_refused(2, [self.path("unnamed/s"), os.path.dirname(kept), "--snapshots"], "--resume",
                                        kept, "--steps", str(step + 1))
                    self.assertFalse(os.path.exists(self.path("unnamed")))
                    self.assert_goes_on(kept, step, "--snapshots", "other")
                else:
                    self.assert_goes_on(kept, step)
                os.remove(kept)

    def test_a_run_whose_folder_was_renamed_goes_on_there(self):
        process = self.start_in("before", "a.checkpoint", "--checkpoint", "a.checkpoint", "--every-s", "1", "--snapshots",
                                "s", "--every", "0.01")
        os.rename(self.path("before"), self.path("after"))
        step = self.stop(process, "continue with: orrery run --resume a.checkpoint")
        self.assert_goes_on(self.path("after/a.checkpoint"), step)
        self.assertFalse(os.path.exists(self.path("before")))

    def test_a_checkpoint_whose_folder_has_vanished_is_kept_elsewhere(self):
        for ends in False, True:
            with self.subTest(ends=ends):
                there, elsewhere = f"there{ends}", f"elsewhere{ends}"
                os.mkdir(self.path(there))
                process = self.start_and_wait_for(
                    f"{there}/a.checkpoint", *SCENE, "--steps", "400" if ends else "1000000", "--checkpoint",
                    f"{there}/a.checkpoint", "--every-s", "1")
                os.rename(self.path(there), self.path(elsewhere))
                name = "plummer.checkpoint" if not ends else "plummer-1.checkpoint"
                use = f"the last state is kept as '{name}'" if ends else f"continue with: orrery run --resume {name}"
                words = [f"{there}/a.checkpoint", use]
                if ends:
                    _, err = process.communicate(timeout=self.patience_s)
                    self.assertEqual(process.returncode, 1, err)
                    self.assert_one_line(err, *words)
                else:
                    self.stop(process, *words)
                self.assertTrue(os.path.exists(self.path(name)))
                self.assertTrue(os.path.exists(self.path(f"{elsewhere}/a.checkpoint")), "the last one before")

    def test_what_exists_is_kept(self):
        self.assertEqual(self.run_to_end(*SCENE, "--steps", "2", "--checkpoint", "a.checkpoint")[0], 0)
        before = self.read("a.checkpoint")
        self.assert_refused(2, ["a.checkpoint", "--resume", "--force"], *SCENE, "--steps", "3", "--checkpoint",
                            "a.checkpoint")
        self.assertEqual(self.read("a.checkpoint"), before)
        snapshots = ["--snapshots", "out", "--every", "1"]
        self.assertEqual(self.run_to_end(*SCENE, "--steps", "2", *snapshots)[0], 0)
        self.assert_refused(2, ["out", "another folder", "--force"], *SCENE, "--steps", "2", *snapshots)
        self.assertEqual(self.run_to_end(*SCENE, "--steps", "2", *snapshots, "--force")[0], 0)

    def test_standard_output_keeps_no_checkpoint(self):
        self.assert_refused(2, ["--checkpoint", "-", "file"], *SCENE, "--steps", "2", "--checkpoint", "-")
        status, out, err = self.run_to_end(*SCENE, "--steps", "4", "--diagnostics", "-", "--checkpoint", "a.checkpoint")
        self.assertEqual(status, 0, err)
        self.assertIn("step,sim_time,", out)
        self.assertEqual(self.run_to_end("--resume", "a.checkpoint", "--steps", "6")[0], 0)

    def test_the_window_continues_a_run_and_a_run_that_of_the_window(self):
        if '"the viewer was not built"' in subprocess.run([self.orrery, "info", "--json"], capture_output=True, text=True).stdout:
            self.skipTest("no viewer")
        self.assertEqual(self.run_to_end(*SCENE, "--steps", "5", "--checkpoint", "a.checkpoint")[0], 0)
        view = subprocess.run([self.orrery, "view", "--offscreen", "--size", "64x48", "--frames", "3", "--resume",
                               "a.checkpoint", "--save", "b.checkpoint"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((view.returncode, view.stderr), (0, ""))
        status, out, err = self.run_to_end("--resume", "b.checkpoint", "--steps", "12", "--diagnostics", "b.csv")
        self.assertEqual(status, 0, err)
        self.assertIn("steps 8 to 12", out)
        self.assertEqual(self.run_to_end(*SCENE, "--steps", "12", "--diagnostics", "whole.csv")[0], 0)
        state = [self.read(name).splitlines()[-1].split(b",")[-1] for name in ("b.csv", "whole.csv")]
        self.assertEqual(state[0], state[1])

    def test_a_foreign_previous_checkpoint_is_kept(self):
        self.write("a.previous.checkpoint", "precious")
        self.assert_refused(2, ["a.previous.checkpoint", "--force"], *SCENE, "--steps", "3", "--checkpoint",
                            "a.checkpoint")
        self.assertEqual(self.read("a.previous.checkpoint"), b"precious")

    def test_no_snapshot_of_an_earlier_run_stays(self):
        snapshots = ["--every", "0.001", "--snapshots", "out"]
        self.assertEqual(self.run_to_end(*SCENE, "--steps", "9", *snapshots, "--checkpoint", "a.checkpoint")[0], 0)
        self.write("out/notes.txt", "mine")
        self.assertEqual(len(os.listdir(self.path("out"))), 10 + 1)
        self.assertEqual(self.run_to_end(*SCENE, "--steps", "4", *snapshots, "--force")[0], 0)
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["notes.txt"] + [f"snapshot_{number:05}.tipsy" for number in range(5)])

        self.assertEqual(self.run_to_end(*SCENE, "--steps", "3", *snapshots, "--checkpoint", "b.checkpoint",
                                         "--force")[0], 0)
        for number in (4, 5, 6):  # that a killed run wrote after its checkpoint
            for ending in (".tipsy", ".tipsy.iord"):
                self.write(f"out/snapshot_{number:05}{ending}", "later")
        foreign = ["snapshot_00006.png", "snapshot_7.tipsy", "snapshot_00006.tipsy.txt", "snapshot_00009.hdf5"]
        for name in foreign:
            self.write("out/" + name, "mine")
        foreign.append("snapshot_00008.tipsy")
        os.mkdir(self.path("out/snapshot_00008.tipsy"))
        self.assertEqual(self.run_to_end("--resume", "b.checkpoint", "--steps", "5")[0], 0)
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         sorted(["notes.txt", *foreign, *(f"snapshot_{number:05}.tipsy" for number in range(6))]))

    def test_a_run_continues_its_files_from_any_folder(self):
        self.assertEqual(self.run_to_end(*SCENE, "--steps", "3", "--every", "0.001", "--snapshots", "out",
                                         "--diagnostics", "d.csv", "--checkpoint", "a.checkpoint")[0], 0)
        elsewhere = self.path("elsewhere")
        os.mkdir(elsewhere)
        run = subprocess.run([self.orrery, "run", "--resume", "../a.checkpoint", "--steps", "5"], cwd=elsewhere,
                             capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(os.listdir(elsewhere), [])
        self.assertEqual(len(os.listdir(self.path("out"))), 6)
        self.assertEqual(len(self.read("d.csv").splitlines()), 2 + 6)

    def files_in(self, folder):
        found = {}
        for place, _, names in os.walk(self.path(folder)):
            for name in names:
                found[os.path.join(place, name)] = self.read(os.path.join(place, name))
        return found

    def test_a_copied_or_moved_run_leaves_the_original_alone(self):
        small = [word if word != "3000" else "64" for word in SCENE]
        os.mkdir(self.path("proj"))
        arguments = [*small, "--steps", "50", "--every", "0.012", "--snapshots", "proj/s", "--diagnostics", "proj/d.csv",
                     "--checkpoint", "proj/c.checkpoint"]
        self.assertEqual(self.run_to_end(*arguments)[0], 0)
        shutil.copy(self.path("proj/c.checkpoint"), self.path("proj/backup.checkpoint"))
        self.assertEqual(self.run_to_end("--resume", "proj/c.checkpoint", "--steps", "200")[0], 0)
        before = self.files_in("proj")
        shutil.copytree(self.path("proj"), self.path("exp"))
        out = self.succeed("--resume", "exp/backup.checkpoint", "--steps", "55")
        self.assertIn("wrote exp/backup.checkpoint\n", out)
        self.assertEqual(self.files_in("proj"), before)
        self.assertEqual(self.read("exp/c.checkpoint"), before[self.path("proj/c.checkpoint")])
        os.rename(self.path("exp"), self.path("moved"))
        self.assertEqual(self.run_to_end("--resume", "moved/backup.checkpoint", "--steps", "58")[0], 0)
        self.assertFalse(os.path.exists(self.path("exp")))
        os.mkdir(self.path("alone"))
        shutil.copy(self.path("proj/c.checkpoint"), self.path("alone/c.checkpoint"))
        self.assertEqual(self.run_to_end("--resume", "alone/c.checkpoint", "--steps", "210")[0], 1)
        self.assertEqual(os.listdir(self.path("alone")), ["c.checkpoint"])
        self.assertEqual(self.files_in("proj"), before)

    def test_snapshots_of_another_run_are_not_removed(self):
        small = [word if word != "3000" else "64" for word in SCENE]
        for seed, steps in (("1", "5"), ("2", "9")):
            self.assertEqual(self.run_to_end(*small, "--seed", seed, "--steps", steps, "--every", "0.002", "--snapshots", "s",
                                             "--checkpoint", seed + ".checkpoint", "--force")[0], 0)
        before = self.files_in("s")
        self.assert_refused(2, ["s", "--force"], "--resume", "1.checkpoint", "--steps", "20")
        self.assertEqual(self.files_in("s"), before)

    def test_outputs_that_meet_are_refused_before_the_run(self):
        small = [word if word != "3000" else "8" for word in SCENE]
        self.assertEqual(self.run_to_end(*small, "--steps", "1", "--every", "1", "--snapshots", "in")[0], 0)
        before = sorted(os.listdir(self.folder))
        os.symlink("x.previous.checkpoint", self.path("link"))
        for arguments in (["--checkpoint", "x.checkpoint", "--diagnostics", "x.previous.checkpoint"],
                          ["--checkpoint", "x.checkpoint", "--diagnostics", "link"],
                          ["--checkpoint", "x.checkpoint", "--diagnostics", "./x.checkpoint"],
                          ["--snapshots", ".", "--diagnostics", "snapshot_00000.tipsy"],
                          ["--snapshots", ".", "--diagnostics", "./snapshot_00003.tipsy.iord"],
                          ["--snapshots", "in", "--format", "checkpoint", "--checkpoint", "in/snapshot_00001.checkpoint"],
                          ["--snapshots", "x.previous.checkpoint", "--checkpoint", "x.checkpoint"]):
            with self.subTest(arguments=arguments):
                status, out, err = self.run_to_end(*small, "--steps", "3", "--every", "0.001", *arguments)
                self.assertEqual((status, out), (2, ""))
                self.assert_one_line(err, "name another")
        status, _, err = self.run_to_end("in/snapshot_00000.tipsy", "--steps", "3", "--dt", "0.001", "--every", "0.001",
                                         "--kernel", "cpu-serial", "--snapshots", "in", "--force")
        self.assertEqual(status, 2)
        refusal = "".join(line for line in err.splitlines(True) if not line.startswith("note: "))  # of the file's dt
        self.assert_one_line(refusal, "FILE", "in/snapshot_00000.tipsy")
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*before, "link"]))

    def test_names_that_are_too_long_get_one_plain_line(self):
        small = [word if word != "3000" else "8" for word in SCENE]
        for length in (244, 250, 255, 300):
            status, _, err = self.run_to_end(*small, "--steps", "1", "--checkpoint", "x" * (length - 11) + ".checkpoint")
            self.assertIn(status, (1, 2) if length > 246 else (0,), err)
            self.assertNotIn("filesystem error", err)

    def test_a_stale_parent_is_named(self):
        run = subprocess.run([self.orrery, "--version"], env=dict(os.environ, ORRERY_PARENT="1"), capture_output=True,
                             text=True)
        self.assertEqual(run.returncode, 1)
        self.assert_one_line(run.stderr, "ORRERY_PARENT", "unset")

    def test_two_outputs_have_two_places(self):
        self.assert_refused(2, ["--diagnostics", "--snapshots", "x.csv"], *SCENE, "--steps", "3", "--every", "0.001",
                            "--snapshots", "x.csv", "--diagnostics", "./x.csv")
        self.assertFalse(os.path.exists(self.path("x.csv")))

    def test_a_name_with_a_blank_can_be_pasted(self):
        process = self.start_and_wait_for("two words.checkpoint", *SCENE, "--steps", "100000", "--checkpoint",
                                          "two words.checkpoint", "--every-s", "1")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=self.patience_s)
        self.assert_one_line(err, "orrery run --resume 'two words.checkpoint'")

    def test_bad_input_gets_one_line(self):
        self.write("text", "no folder")
        for arguments, words in ((["-n", "8"], ["--steps K", "--until T"]),
                                 (["--steps", "5", "--until", "1"], ["leave out"]),
                                 (["--steps", "-1"], ["--steps"]),
                                 (["--until", "nan"], ["--until"]),
                                 (["--steps", "5", "--snapshots", "out"], ["--every"]),
                                 (["--steps", "5", "--every", "1"], ["--snapshots", "--diagnostics"]),
                                 (["--steps", "5", "--every-s", "9"], ["--checkpoint"]),
                                 (["--steps", "5", "--format", "tipsy"], ["--snapshots"]),
                                 (["--steps", "5", "--snapshots", "o", "--every", "1", "--format", "x"], ["tipsy"]),
                                 (["--steps", "5", "--snapshots", "text", "--every", "1"], ["text", "folder"]),
                                 (["--resume", "missing"], ["missing", "no such file"]),
                                 (["--resume", "text"], ["text", "not a checkpoint"]),
                                 (["--resume", "text", "-n", "8"], ["-n", "--resume"]),
                                 (["--resume", "text", "--kernel", "cpu-serial"], ["--kernel", "--resume"])):
            with self.subTest(arguments=arguments):
                status, out, err = self.run_to_end(*arguments)
                self.assertIn(status, (1, 2))
                self.assertEqual(out, "")
                self.assert_one_line(err, *words)


if __name__ == "__main__":
    ProcessCase.orrery = sys.argv.pop(1)
    unittest.main()
