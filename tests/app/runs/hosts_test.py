#!/usr/bin/env python3
"""`orrery` as ranks of mpirun on several hosts: the files of one process, and an end in time if a rank or a host is lost.

    hosts_test.py ORRERY
"""

import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import rank_faults_test as faults
from hosts_case import HostsCase, way_to_name_hosts
from process_case import ProcessCase
from ranks_case import NO_TESTS, facts, own_lines, skip_without_mpirun

SCENE = ["--scene", "plummer", "-n", "3001"]


def kill_if_alive(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class HostsTest(HostsCase):
    assert_continues = faults.RankFaultsTest.assert_continues

    def test_a_run_has_the_snapshots_of_one_process(self):
        formats = ["tipsy", "hdf5"] if "with HDF5" in self.run_to_end("--version")[1] else ["tipsy"]
        for kernel, more in (("cpu-simd", []), ("cpu-tree", ["--integrator", "yoshida4"])):
            for form in formats:
                run = ["run", *SCENE, "--kernel", kernel, *more, "--steps", "6", "--every", "0.01", "--format", form,
                       "--snapshots"]
                self.assertEqual(self.run_to_end(*run, f"{kernel}-{form}")[0], 0)
                for ranks in (1, 1), (2, 1), (1, 2, 1):
                    with self.subTest(kernel=kernel, format=form, ranks=ranks):
                        name = f"{kernel}-{form}-{'-'.join(map(str, ranks))}"
                        status, out, err = self.end_of(self.start_mpirun(*self.on_hosts(*ranks), self.orrery, *run, name))
                        self.assertEqual((status, own_lines(err)), (0, []), err)
                        self.assertIn(f", {sum(ranks)} ranks\n", out)
                        self.assertEqual(self.files_in(name), self.files_in(f"{kernel}-{form}"))

    def begin_run(self, name):
        """A run of two ranks on the first host and one on the second, which has left its first checkpoint."""
        run = faults.RunningRanks(self, name, "1000", hosts=self.on_hosts(2, 1))
        self.wait_for_file(run.checkpoint, run.mpirun)
        return run, self.processes_below(run.mpirun.pid)

    def processes_below(self, pid):
        """All of this program, by rank."""
        found = {}
        for child in faults.children(pid):
            found.update(self.processes_below(child))
            try:
                if os.readlink(f"/proc/{child}/exe") == os.path.realpath(self.orrery):
                    found[faults.rank_of(child)] = child
            except OSError:  # it has ended
                pass
        return found

    def stop(self, pid):
        """Until the test ends, however that is."""
        self.addCleanup(kill_if_alive, pid)
        os.kill(pid, signal.SIGSTOP)

    def test_a_killed_rank(self):
        for rank in 1, 2:
            with self.subTest(rank=rank):
                run, processes = self.begin_run(f"killed-{rank}")
                os.kill(processes[rank], signal.SIGKILL)
                run.assert_all_end(processes, f"rank {rank} ", "exited on signal 9")

    def test_a_stopped_rank(self):
        run, processes = self.begin_run("stopped")
        self.stop(processes[2])
        run.assert_all_end(processes, "rank 2: no heartbeat for ")

    def test_a_lost_host(self):
        """Its daemon and its rank are stopped, so that nobody says that they ended. mpirun waits for the daemon: until its
        connection ends, on a real host."""
        run, processes = self.begin_run("lost")
        with open(f"/proc/{processes[2]}/stat") as file:
            daemon = int(file.read().rpartition(")")[2].split()[1])
        lost = daemon, processes.pop(2)
        for pid in lost:
            self.stop(pid)
        begin = time.monotonic()
        while any(map(faults.is_alive, processes.values())) and time.monotonic() - begin < 2 * faults.TIME_LIMIT_S:
            time.sleep(0.01)
        took_s = time.monotonic() - begin
        for pid in lost:
            kill_if_alive(pid)
        self.assertLess(took_s, faults.TIME_LIMIT_S)
        run.assert_all_end(processes, "rank 2: no heartbeat for ")


if __name__ == "__main__":
    ProcessCase.orrery = os.path.abspath(sys.argv.pop(1))
    if facts(ProcessCase.orrery)["mpi"] is None:
        print("skipped: a build without MPI")
        sys.exit(NO_TESTS)
    skip_without_mpirun()
    if way_to_name_hosts() is None:
        print("skipped: this user may not name hosts (unshare --uts)")
        sys.exit(NO_TESTS)
    unittest.main()
