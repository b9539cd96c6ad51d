#!/usr/bin/env python3
"""`orrery` as the ranks of mpirun: the files, messages and statuses of one process.

    ranks_test.py ORRERY
"""

import colorsys
import hashlib
import json
import os
import re
import shutil
import signal
import struct
import sys
import unittest
from collections import Counter
from random import Random

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from png_file import read_png
from process_case import ProcessCase
from ranks_case import RanksCase, facts, skip_without_mpirun

SCENE = ["--scene", "plummer", "-n", "1000"]


class RanksTest(RanksCase):
    def run_with_outputs(self, ranks, name, *arguments):
        words = ["run", *SCENE, *arguments, "--steps", "20", "--snapshots", name, "--diagnostics", name + ".csv",
                 "--every", "0.05"]
        status, out, err = self.run_ranks(ranks, *words) if ranks else self.run_to_end(*words)
        self.assertEqual(status, 0, err)
        self.assertEqual(out.count("steps 0 to 20"), 1, "only one rank prints")
        self.assertEqual(f", {ranks} ranks\n" in out, ranks > 1, out)
        return self.files_in(name), self.read(name + ".csv").splitlines()[2:]  # without metadata

    def test_a_run_has_the_snapshots_and_diagnostics_of_one_process(self):
        for kernel, *more in [("cpu-simd",), ("cpu-tree", "--integrator", "yoshida4"),
                              ("cpu-jerk", "--integrator", "hermite4-blocks")]:
            alone = self.run_with_outputs(0, "alone-" + kernel, "--kernel", kernel, *more)
            for ranks in (1, 2, 3):
                with self.subTest(kernel=kernel, ranks=ranks):
                    self.assertEqual(self.run_with_outputs(ranks, f"{kernel}-{ranks}", "--kernel", kernel, *more),
                                     alone)

    def test_hdf5_snapshots_are_those_of_one_process(self):
        self.skip_without_hdf5()
        random = Random(2)
        for name, species in ("stars.txt", [4]), ("mixed.txt", [0, 1, 4]):  # of these, rank 0 writes the rows
            with open(self.path(name), "w") as file:
                print("# id species m x y z vx vy vz", file=file)
                for body in random.sample(range(2**40), 501):
                    print(body, random.choice(species), random.uniform(1, 3) / 1000,
                          *(random.gauss(0, 1) for _ in range(6)), file=file)
        for name, ranks, kernel, scene in (("tree", 2, "cpu-tree", SCENE), ("direct", 3, "cpu-simd", SCENE),
                                           ("stars", 3, "cpu-tree", ["stars.txt"]), ("mixed", 2, "cpu-tree", ["mixed.txt"]),
                                           ("few", 4, "cpu-tree", ["--scene", "two-body"])):
            run = ["run", *scene, "--kernel", kernel, "--steps", "4", "--dt", "0.01", "--every", "0.02", "--format", "hdf5",
                   "--snapshots"]
            self.assertEqual(self.run_to_end(*run, name)[0], 0)
            files = sorted(os.listdir(self.path(name)))
            self.assertEqual(len(files), 3)
            for way, shell_line in ("together", ""), ("gathered", '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || cd /'):
                with self.subTest(name=name, way=way):  # gathered: the path leads other ranks elsewhere
                    status, _, err = self.end_of(self.start_mpirun(
                        "-n", str(ranks), "sh", "-c", shell_line + '\nexec "$@"', "sh", self.orrery, *run,
                        f"/proc/self/cwd/{name}-{way}"))
                    self.assertEqual(status, 0, err)
                    self.assertEqual(sorted(os.listdir(self.path(f"{name}-{way}"))), files)
                    for file in files:
                        self.assertEqual(self.read(f"{name}-{way}/{file}"), self.read(f"{name}/{file}"), file)

    def identity(self, name):
        """A hash over (id, mass) of all bodies of a text table, whatever their order."""
        with open(self.path(name)) as file:
            lines = [line.split() for line in file]
        header = next(line[1:] for line in lines if line[0] == "#" and "id" in line)
        id_at, mass_at = header.index("id"), header.index("m")
        rows = [line for line in lines if line[0] != "#"]
        pairs = sorted((int(row[id_at]), struct.pack("f", float(row[mass_at]))) for row in rows)
        return hashlib.sha256(repr(pairs).encode()).hexdigest()

    def test_bodies_keep_their_ids(self):
        random = Random(1)
        with open(self.path("first.txt"), "w") as file:
            print("# id m x y z vx vy vz", file=file)
            for body in random.sample(range(2**40), 501):
                print(body, random.uniform(1, 3) / 1000, *(random.gauss(0, 1) for _ in range(6)), file=file)
        for ranks, integrator, kernel in ((2, "leapfrog", "cpu-tree"), (3, "leapfrog-blocks", "cpu-tree"),
                                          (4, "hermite4-blocks", "cpu-jerk")):
            with self.subTest(integrator=integrator):
                self.ranks_succeed(ranks, "run", "first.txt", "--integrator", integrator, "--kernel", kernel, "--dt",
                                   "0.01", "--steps", "10", "--every", "0.02", "--snapshots", integrator, "--format",
                                   "text")
                snapshots = sorted(os.listdir(self.path(integrator)))
                self.assertEqual(len(snapshots), 6)
                for name in snapshots:
                    self.assertEqual(self.identity(f"{integrator}/{name}"), self.identity("first.txt"), name)

    def test_bench_and_verify(self):
        status, _, err = self.run_ranks(2, "bench", "--kernels", "all", "-n", "256", "--repeat", "1", "--json", "b.json")
        self.assertEqual(status, 0, err)
        results = json.loads(self.read("b.json"))
        self.assertEqual(results["metadata"]["ranks"], 2)
        chosen = {row["kernel"]: row["chosen"] for row in results["results"]}
        self.assertIn("ranks 2", chosen["cpu-serial"])
        threads = max(1, len(os.sched_getaffinity(0)) // 2)
        self.assertIn(f"threads {threads}, ranks 2", chosen["cpu-simd"], "the ranks divide the processors")
        self.assertNotIn("cpu-symmetric", chosen)
        out = self.ranks_succeed(3, "verify", "--kernels", "cpu-simd,cpu-tree,cpu-serial", "-n", "2k")
        self.assertEqual(out.count("PASS"), 6, "three kernels and two laws: " + out)
        self.assertNotIn("\x1b", out, "colours are for terminals")

    def test_info_counts_the_ranks_and_gives_the_reason_of_the_machine(self):
        _, out, _ = self.run_ranks(2, "info", "--json")
        info, alone = json.loads(out), facts(self.orrery)
        self.assertEqual((info["ranks"], alone["ranks"]), (2, 1))
        if not alone["cuda"]["available"]:
            self.assertEqual(info["cuda"]["reason"], alone["cuda"]["reason"], "mpirun is not to blame")
        self.assertRegex(self.run_ranks(2, "info", "--wide")[1], r"MPI +\S.*, 2 ranks")

    def hues(self, name):
        """Those of six hues, from red on, that at least one in 100 pixels of a picture has."""
        _, _, rgb = read_png(self.path(name))
        counts = Counter(int(6 * colorsys.rgb_to_hsv(*rgb[at:at + 3])[0]) for at in range(0, len(rgb), 3)
                         if max(rgb[at:at + 3]) - min(rgb[at:at + 3]) > 30)
        return {hue for hue, count in counts.items() if 300 * count > len(rgb)}

    def test_a_picture_shows_the_domains(self):
        if facts(self.orrery)["gl"]["problem"]:
            self.skipTest("no OpenGL")
        with open(self.path("domains.txt"), "w") as script:
            print("0 appearance colour=domain exposure=0.3", file=script)
        draw = ["--offscreen", "--fresh", "--scene", "plummer", "-n", "3000", "--kernel", "cpu-tree", "--size", "160x120",
                "--panel", "off", "--frames", "3", "--script", "domains.txt", "--screenshot"]
        sky_blue, orange, purple = 3, 0, 5
        self.ranks_succeed(3, *draw, "three.png")
        self.assertEqual(self.hues("three.png"), {sky_blue, orange, purple})
        self.assertEqual(self.run_to_end(*draw, "one.png")[0], 0)
        self.assertEqual(self.hues("one.png"), {sky_blue}, "one process")

    def test_mistakes_and_failures_end_all_ranks_with_the_status_of_one(self):
        has_gpu = facts(self.orrery)["cuda"]["available"]
        no_device = (2, "no CUDA device 1000") if has_gpu else (1, "CUDA device 1000 cannot be used")
        for status, words, *arguments in [
                (2, "frobnicate", "run", "--frobnicate"),
                (2, "2 ranks cannot share it", "run", *SCENE, "--steps", "1", "--kernel", "cpu-symmetric"),
                (*no_device, "run", *SCENE, "--steps", "1", "--device", "1000"),
                (1, "nowhere", "run", *SCENE, "--steps", "1", "--diagnostics", "nowhere/d.csv")]:
            with self.subTest(words=words):
                found, out, err = self.run_ranks(2, *arguments)
                self.assertEqual((found, out), (status, ""), err)
                self.assertEqual(len(err), 1, err)
                self.assertIn(words, err[0])

    def test_a_stopped_run_leaves_a_checkpoint_that_any_number_of_ranks_continues(self):
        for kernel in "cpu-serial", "cpu-tree":
            with self.subTest(kernel=kernel):
                file = kernel + ".checkpoint"
                run = ["run", *SCENE, "--kernel", kernel, "--checkpoint", file, "--every-s", "1", "--steps"]
                mpirun = self.start_mpirun("-n", "2", self.orrery, *run, "1000000")
                self.wait_for_file(file, mpirun)
                mpirun.send_signal(signal.SIGINT)
                _, _, err = self.end_of(mpirun)
                stopped = re.search("stopped after step ([0-9,]+) of .*continue with: mpirun -n 2 orrery run --resume "
                                    + file, err)
                self.assertTrue(stopped, err)
                step = int(stopped[1].replace(",", ""))
                shutil.copy(self.path(file), self.path("copy-" + file))
                on = ["--steps", str(step + 20), "--every", "1000", "--snapshots"]
                out = self.ranks_succeed(3, "run", "--resume", file, *on, kernel + "-3")
                self.assertIn(f"steps {step:,} to {step + 20:,}", out)
                self.assertEqual(self.run_to_end("run", "--resume", "copy-" + file, *on, kernel + "-1")[0], 0)
                names = [sorted(os.listdir(self.path(f"{kernel}-{ranks}"))) for ranks in (1, 3)]
                self.assertEqual(names[0], names[1])
                for name in names[0]:
                    self.assertEqual(self.read(f"{kernel}-1/{name}"), self.read(f"{kernel}-3/{name}"), name)


    def test_a_number_of_ranks_that_was_left_in_the_environment_is_ignored(self):
        status, out, err = self.run_to_end("run", *SCENE, "--steps", "1", env={
            **os.environ, "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"})
        self.assertEqual((status, err.count("\n")), (0, 1), err)
        self.assertIn("OMPI_COMM_WORLD_SIZE is 2", err)
        self.assertNotIn("ranks", out)


class WithoutMpi(ProcessCase):
    def test_the_first_of_several_processes_refuses_in_one_line(self):
        for rank, lines in (("0", 1), ("1", 0)):
            status, out, err = self.run_to_end("run", *SCENE, "--steps", "1", env={
                **os.environ, "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": rank})
            self.assertEqual((status, out, err.count("\n")), (1, "", lines), err)
            self.assertIn("has no MPI" if lines else "", err)


if __name__ == "__main__":
    ProcessCase.orrery = os.path.abspath(sys.argv.pop(1))
    if facts(ProcessCase.orrery)["mpi"] is None:
        unittest.main(defaultTest="WithoutMpi")
    skip_without_mpirun()
    unittest.main(defaultTest="RanksTest")
