"""Tests that start the program on several hosts: names that this machine takes. mpirun starts a daemon of its own on each,
and data between them go by TCP; MPI and NCCL take them for machines that share nothing but the file system."""

import os
import subprocess

from ranks_case import RanksCase

# mpirun calls it in place of ssh: HOST COMMAND...
AGENT = """#!/bin/bash
case $1 in
{gpus}
esac
exec {unshare} bash -c 'hostname "$1"; shift; exec bash -c "$*"' host "$@"
"""


def way_to_name_hosts():
    """The words that start a command which may give this machine another name, for itself alone; None: this user may not."""
    for words in ["unshare", "--uts"], ["unshare", "--user", "--map-root-user", "--uts"]:
        try:
            if subprocess.run([*words, "hostname", "another"], capture_output=True).returncode == 0:
                return words
        except FileNotFoundError:
            pass
    return None


class HostsCase(RanksCase):
    def on_hosts(self, *ranks, gpus=()):
        """What mpirun needs to start so many ranks on each of as many hosts. `gpus`: those that each host has, as numbers of
        this machine; by default, each has all."""
        agent = self.path("agent")
        with open(agent, "w") as file:
            file.write(AGENT.format(unshare=" ".join(way_to_name_hosts()), gpus="\n".join(
                f"host-{number}) export CUDA_VISIBLE_DEVICES={ordinals};;" for number, ordinals in enumerate(gpus))))
        os.chmod(agent, 0o755)
        hosts = ",".join(f"host-{number}:{count}" for number, count in enumerate(ranks))
        return ["--mca", "plm", "rsh", "--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_include", "lo",
                "--mca", "btl_tcp_if_include", "lo", "-x", "NCCL_SOCKET_IFNAME=lo", "--host", hosts, "-n", str(sum(ranks))]
