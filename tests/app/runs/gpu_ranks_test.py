#!/usr/bin/env python3
"""`orrery` as the ranks of mpirun, whose GPUs divide a CUDA kernel. One GPU is enough: ranks share it. What needs NCCL needs
two GPUs, and the faults three.

    gpu_ranks_test.py ORRERY
"""

import itertools
import json
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import rank_faults_test as faults
from hosts_case import HostsCase, way_to_name_hosts
from process_case import ProcessCase
from ranks_case import NO_TESTS, RanksCase, facts, own_lines, skip_without_mpirun

NOT_REPEATABLE = ("orrery: the kernel cuda-tree may add up in another order each time: the run does not continue bit for "
                  "bit\n")
SCENE = ["--scene", "plummer", "-n", "3001"]


def of_one_gpu(ranks):
    return ["--devices", ",".join(["0"] * ranks)]


class GpuRanksTest(RanksCase):
    def assert_continues(self, checkpoint):
        """As with CPU kernels; and a tree does not continue bit for bit."""
        faults.RankFaultsTest.assert_continues(self, checkpoint, NOT_REPEATABLE if "tree" in checkpoint else "")

    def test_a_run_has_the_bits_of_one_process(self):
        for integrator in "leapfrog", "leapfrog-blocks":
            for digits in "float", "compensated":
                words = ["run", *SCENE, "--kernel", "cuda-tiled", "--set", "split=1", "--integrator", integrator,
                         "--digits", digits, "--steps", "20", "--every", "0.05", "--snapshots"]
                alone = f"alone-{integrator}-{digits}"
                status, out, err = self.run_to_end(*words, alone)
                self.assertEqual(status, 0, err)
                for ranks in 2, 3:
                    with self.subTest(integrator=integrator, digits=digits, ranks=ranks):
                        name = f"{ranks}-{integrator}-{digits}"
                        out = self.ranks_succeed(ranks, *words, name, *of_one_gpu(ranks))
                        self.assertRegex(out, rf"kernel cuda-tiled, {ranks} ranks, MPI \(rank .* (has no NCCL|share a GPU)\)\n")
                        self.assertEqual(self.files_in(name), self.files_in(alone))

    def gpus(self):
        return len(facts(self.orrery)["cuda"]["devices"])

    def run_with_and_without_nccl(self, ranks, *words):
        """Runs the words twice, with a GPU for each rank: {way: what it printed}."""
        printed = {}
        for way, wish in ("nccl", "1"), ("mpi", "0"):
            more = [word.replace("WAY", way) for word in words]
            status, out, err = self.end_of(
                self.start_mpirun("-x", f"ORRERY_NCCL={wish}", "-n", str(ranks), self.orrery, *more))
            self.assertEqual((status, own_lines(err)), (0, []), err)
            if "has no NCCL" in out:
                self.skipTest("NCCL is not installed")
            printed[way] = out
        return printed

    def test_nccl_changes_no_bits(self):
        if self.gpus() < 2:
            self.skipTest("one GPU")
        for kernel, setting, integrator, digits in [("cuda-tiled", "split=1", "leapfrog", "float"),
                                                    ("cuda-tiled", "split=1", "leapfrog-blocks", "compensated"),
                                                    ("cuda-symmetric", "deterministic=on", "leapfrog", "float")]:
            words = ["run", *SCENE, "--kernel", kernel, "--set", setting, "--integrator", integrator, "--digits", digits,
                     "--steps", "20", "--every", "0.05", "--snapshots"]
            for ranks in range(2, min(self.gpus(), 4) + 1):
                with self.subTest(kernel=kernel, integrator=integrator, ranks=ranks):
                    name = f"{kernel}-{integrator}-{ranks}"
                    printed = self.run_with_and_without_nccl(ranks, *words, f"{name}-WAY")
                    self.assertRegex(printed["nccl"], rf"kernel {kernel}, {ranks} ranks, NCCL [0-9.]+\n")
                    self.assertIn(f"kernel {kernel}, {ranks} ranks, MPI (ORRERY_NCCL=0)\n", printed["mpi"])
                    found = self.files_in(f"{name}-nccl")
                    self.assertGreater(len(found), 1)
                    self.assertEqual(found, self.files_in(f"{name}-mpi"))

    def test_verify_and_bench(self):
        kernels = "cuda-tiled,cuda-naive,cuda-fp64,cuda-symmetric,cuda-tree"
        out = self.ranks_succeed(2, "verify", "--kernels", kernels, "-n", "20k", *of_one_gpu(2))
        self.assertEqual(out.count("PASS"), 10, "five kernels and two laws: " + out)
        status, out, err = self.run_ranks(2, "bench", "--kernels", kernels, "-n", "16k", "--repeat", "3", "--json",
                                          "b.json", *of_one_gpu(2))
        self.assertEqual(status, 0, err)
        with open(self.path("b.json")) as file:
            results = json.load(file)
        self.assertEqual(results["metadata"]["ranks"], 2)
        self.assertEqual({row["kernel"] for row in results["results"]}, set(kernels.split(",")))
        for row in results["results"]:
            self.assertIn("ranks 2, MPI (rank ", row["chosen"])

    def test_ranks_with_a_gpu_each_need_no_list(self):
        if self.gpus() < 2:
            self.skipTest("one GPU")
        out = self.ranks_succeed(2, "run", *SCENE, "--steps", "5", "--kernel", "cuda-tiled")
        self.assertRegex(out, r"kernel cuda-tiled, 2 ranks, (NCCL [0-9.]+|MPI \(.*\))\n")

    def test_what_is_refused(self):
        run = ["run", *SCENE, "--steps", "1"]
        ranks = self.gpus() + 1
        share = f"ranks 0 and {ranks - 1} would share device 0"
        for status, words, count, *more in [
                (1, share, ranks, "--kernel", "cuda-tiled"),
                (2, share, ranks, "--device", "0"),
                (2, share, ranks, "--devices", "all"),
                (2, "rank 1: --devices names 1", 2, "--devices", "0"),
                (2, "the GPUs of 2 ranks cannot divide cuda-jerk", 2, "--kernel", "cuda-jerk", "--integrator", "hermite4",
                 *of_one_gpu(2))]:
            with self.subTest(words=words, more=more):
                found, out, err = self.run_ranks(count, *run, *more)
                self.assertEqual((found, out, len(err)), (status, "", 1), err)
                self.assertIn(words, err[0])
        status, out, err = self.run_ranks(ranks, *run, "--kernel", "cpu-simd")
        self.assertEqual((status, err), (0, []), "CPU kernels need no GPU")

    def test_a_killed_and_a_stopped_rank(self):
        ways = {"shared": of_one_gpu(3)}
        if self.gpus() >= 3:
            ways["each"] = []  # by NCCL, where it is
        for kernel, (way, devices) in itertools.product(("cuda-tiled", "cuda-tree"), ways.items()):
            for name, number, words in [("killed", signal.SIGKILL, ("rank 1 ", "exited on signal 9")),
                                        ("stopped", signal.SIGSTOP, ("rank 1: no heartbeat for ",))]:
                with self.subTest(name, way=way, kernel=kernel):
                    run = faults.RunningRanks(self, f"{name}-{way}-{kernel}", "64k", kernel, *devices)
                    processes = run.processes()
                    os.kill(processes[1], number)
                    run.assert_all_end(processes, *words)


class GpuHostsTest(HostsCase):
    """A GPU of each host. Data between them go by network, of NCCL or of MPI."""

    def setUp(self):
        super().setUp()
        if way_to_name_hosts() is None:
            self.skipTest("this user may not name hosts (unshare --uts)")
        if len(facts(self.orrery)["cuda"]["devices"]) < 2:
            self.skipTest("one GPU")

    def test_bits_are_those_of_one_process(self):
        run = ["run", *SCENE, "--kernel", "cuda-tiled", "--set", "split=1", "--steps", "20", "--every", "0.05",
               "--snapshots"]
        self.assertEqual(self.run_to_end(*run, "alone")[0], 0)
        for way, wish in ("NCCL", "1"), ("MPI", "0"):
            with self.subTest(way=way):
                out = self.run_on_two_hosts(wish, *run, way)
                self.assertIn(f", 2 ranks, {way} ", out)
                self.assertEqual(self.files_in(way), self.files_in("alone"))

    def bodies(self, folder):
        """Of the last snapshot, in their order: mass and place."""
        with open(self.path(f"{folder}/{sorted(os.listdir(self.path(folder)))[-1]}")) as file:
            return [[float(word) for word in line.split()[:4]] for line in file if not line.startswith("#")]

    def test_trees_move_bodies_as_one_gpu_does(self):
        """The GPUs hold the bodies, of which some go from host to host."""
        run = ["run", "--scene", "plummer", "-n", "20k", "--kernel", "cuda-tree", "--steps", "60", "--every", "0.1",
               "--format", "text", "--snapshots"]
        self.assertEqual(self.run_to_end(*run, "alone")[0], 0)
        alone = self.bodies("alone")
        for wish in "1", "0":
            with self.subTest(ORRERY_NCCL=wish):
                self.run_on_two_hosts(wish, *run, f"two-{wish}")
                two = self.bodies(f"two-{wish}")
                self.assertEqual([body[0] for body in two], [body[0] for body in alone])
                apart = sorted(max(abs(a - b) for a, b in zip(one[1:], other[1:])) for one, other in zip(alone, two))
                self.assertLess(apart[len(apart) // 2], 1e-4)
                self.assertLess(apart[len(apart) * 99 // 100], 1e-2)
                self.run_on_two_hosts(wish, "verify", "--kernels", "cuda-tree")

    def run_on_two_hosts(self, wish, *words):
        """What it printed."""
        status, out, err = self.end_of(self.start_mpirun(*self.on_hosts(1, 1, gpus=["0", "1"]), "-x", f"ORRERY_NCCL={wish}",
                                                         self.orrery, *words))
        self.assertEqual((status, own_lines(err)), (0, []), err)
        return out


if __name__ == "__main__":
    ProcessCase.orrery = os.path.abspath(sys.argv.pop(1))
    if facts(ProcessCase.orrery)["mpi"] is None:
        sys.exit(NO_TESTS)
    skip_without_mpirun()
    cuda = facts(ProcessCase.orrery)["cuda"]
    if not cuda["available"]:
        print("skipped: " + cuda["reason"])
        sys.exit(NO_TESTS)
    unittest.main()
