#!/usr/bin/env python3
"""Files that lie, and large ones: what `orrery inspect` and `orrery convert` say, how long they take and how much memory.

    files_test.py ORRERY
"""

import array
import os
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from process_case import ProcessCase

MEGABYTE = 1 << 20
MOST_S, MOST_BYTES = 0.1, 50 * MEGABYTE  # of a refusal
NAN = float("nan")
ONES = MEGABYTE * b"1"


def tipsy(nbody=2, ndim=3, gas=0, dark=2, star=0, time=0.0, order="<", body=(1, 0, 0, 0, 0, 0, 0, 0, 0), records=2):
    return struct.pack(order + "d6i", time, nbody, ndim, gas, dark, star, 0) + records * struct.pack(order + "9f", *body)


def fortran(payload, label=None, order="<"):
    mark = struct.pack(order + "I", len(payload))
    name = b"" if label is None else struct.pack(order + "I4sII", 8, label, len(payload) + 8, 8)
    return name + mark + payload + mark


def gadget(count=2, mass=1.0, time=0.0, position=(1, 2, 3), labelled=False, records=2, files=1):
    head = struct.pack("<6I6d2d2i6I2i4d", 0, count, 0, 0, 0, 0, 0, mass, 0, 0, 0, 0, time, 0, 0, 0, 0, count, 0, 0, 0, 0,
                       0, files, 0, 0, 0, 1).ljust(256, b"\0")
    parts = [(b"HEAD", head), (b"POS ", records * struct.pack("<3f", *position)), (b"VEL ", records * bytes(12)),
             (b"ID  ", records * bytes(4))]
    return b"".join(fortran(payload, label if labelled else None) for label, payload in parts)


def ply(count=2, body=(1, 0, 0, 1), head="property float x\nproperty float y\nproperty float z\nproperty float mass\n"):
    text = f"ply\nformat binary_little_endian 1.0\nelement vertex {count}\n{head}end_header\n"
    return text.encode() + 2 * struct.pack("<4f", *body)


def damaged_files():
    """Name, content and the words of the refusal. Each lies in one place."""
    whole = tipsy()
    for cut in (8, 12, 16, 20, 24, 28, 31, 40, len(whole) - 1):
        yield f"cut{cut}.tipsy", whole[:cut], ["byte " if cut > 31 else "", "truncated"]
    yield "counts.tipsy", tipsy(nbody=3), ["byte 8, nbodies", "3 body records"]
    yield "negative.tipsy", tipsy(nbody=-1, dark=-1), ["byte 104", "truncated", "4,294,967,295 dark"]
    yield "many.tipsy", tipsy(nbody=10**9, dark=10**9).ljust(1024, b"\0"), ["byte 1024", "1,000,000,000 dark", "truncated"]
    yield "none.tipsy", tipsy(nbody=0, dark=0, records=0), ["byte 8, nbodies", "without bodies"]
    yield "time.tipsy", tipsy(time=NAN), ["byte 0, time", "not finite"]
    yield "mass.tipsy", tipsy(body=(NAN, 0, 0, 0, 0, 0, 0, 0, 0), order=">"), ["byte 32, dark record 0", "mass"]
    yield "softening.tipsy", tipsy(body=(1, 0, 0, 0, 0, 0, 0, NAN, 0)), ["byte 32, dark record 0", "softening"]
    for labelled in (False, True):
        ending, first = ("gadget2", 20) if labelled else ("gadget", 4)
        whole = gadget(labelled=labelled)
        for cut in range(24, len(whole), 29):
            yield f"cut{cut}.{ending}", whole[:cut], ["byte ", "truncated"]
        many = gadget(count=10**9, labelled=labelled)
        yield f"many.{ending}", many.ljust(1024, b"\0"), ["byte ", "1,000,000,000 body records"]
        yield f"negative.{ending}", gadget(count=2**32 - 1, labelled=labelled), ["byte ", "4,294,967,295"]
        yield f"none.{ending}", gadget(count=0, records=0, labelled=labelled), [f"byte {first}, ", "no bodies"]
        yield f"mass.{ending}", gadget(mass=NAN, labelled=labelled), [f"byte {first + 32}, header, MassTable", "mass"]
        yield f"minus.{ending}", gadget(mass=-1.0, labelled=labelled), [f"byte {first + 32}, header, MassTable"]
        yield f"time.{ending}", gadget(time=NAN, labelled=labelled), [f"byte {first + 72}, header, Time", "finite"]
        yield f"nan.{ending}", gadget(position=(0, NAN, 0), labelled=labelled), ["byte ", "POS ", "not finite"]
        for at in (first - 4, first + 256, len(whole) - 4):
            wrong = bytearray(whole)
            wrong[at:at + 4] = struct.pack("<I", 77)
            yield f"mark{at}.{ending}", bytes(wrong), ["byte "]
    yield "many.ply", ply(count=10**9), ["byte ", "truncated"]
    yield "minus.ply", ply(count=-1), ["byte ", "line 3", "element"]
    yield "none.ply", ply(count=0), ["byte ", "no vertices"]
    yield "huge.ply", ply(count=2**63), ["byte ", "truncated"]
    yield "nan.ply", ply(body=(NAN, 0, 0, 1)), ["byte ", "vertex 0", "position"]
    yield "mass.ply", ply(body=(0, 0, 0, NAN)), ["byte ", "vertex 0", "mass"]
    yield "columns.ply", ply(head="property float x\n"), ["byte ", "line 5", "no column y"]
    yield "head.ply", ply()[:60], ["byte 53, line 4, PLY header"]
    yield "lines.ply", (b"ply\nformat ascii 1.0\n" + 400 * b"element junk 9000\nproperty int a\n" +
                        b"element vertex 1\nproperty float x\nproperty float y\nproperty float z\nend_header\n1 2 3\n"), ["byte "]
    yield "many.traj", struct.pack("<2i", 10**9, 1).ljust(1024, b"\0"), ["byte 0, P and R"]
    yield "product.traj", struct.pack("<2i", 2**31 - 1, 2**31 - 1).ljust(1024, b"\0"), ["byte 0, P and R"]
    yield "minus.traj", struct.pack("<2i", -1, 1).ljust(1024, b"\0"), ["byte 0, P and R"]
    yield "nan.traj", struct.pack("<2i3f", 1, 1, NAN, 0, 0), ["byte 8, body 0", "position"]
    yield "none.txt", b"# m x y z\n# nothing\n", ["byte ", "without bodies"]
    yield "nan.txt", b"1 2 3 4 5 6 7\nnan 2 3 4 5 6 7\n", ["byte 14", "line 2", "mass"]
    yield "short.txt", b"1 2 3 4 5 6 7\n1 2 3\n", ["byte 14", "line 2", "3 values"]
    yield "line.txt", [b"1 2 3 4 5 6 7\n", *40 * [ONES]], ["byte 14", "line 2", "longer than 65536"]
    yield "first.txt", 40 * [ONES.replace(b"11", b"1 ")], ["byte 0", "line 1", "longer than 65536"]
    magic = b"Orrery run 2026\n"
    yield "many.checkpoint", magic + struct.pack("<2IQqdQf", 1, 0, 10**9, 0, 0, 0, 0).ljust(900, b"\0"), ["byte 24, bodies"]
    yield "cut.checkpoint", magic + bytes(20), ["byte 36", "truncated"]
    yield "none.checkpoint", magic + struct.pack("<2IQqdQf", 1, 0, 0, 0, 0, 0, 0).ljust(52, b"\0"), ["byte 24", "bodies"]
    yield "time.checkpoint", magic + struct.pack("<2IQqdQf", 1, 0, 1, 0, NAN, 0, 0).ljust(80, b"\0"), ["byte 40, time"]
    yield "step.checkpoint", magic + struct.pack("<2IQqdQf", 1, 0, 1, -1, 0, 0, 0).ljust(80, b"\0"), ["byte 32, step"]
    yield "empty.hdf5", b"\x89HDF\r\n\x1a\n" + bytes(1000), ["byte 0, superblock"] if HDF5 else ["libhdf5-dev"]
    yield "empty", b"", ["empty"]


class FilesTest(ProcessCase):
    def measured(self, *arguments):
        """Status, stderr, seconds of CPU time and peak bytes."""
        process = subprocess.Popen([self.orrery, *arguments], cwd=self.folder, text=True, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        err = process.stderr.read()
        process.stderr.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, err, used.ru_utime + used.ru_stime, 1024 * used.ru_maxrss

    def write(self, name, content):
        """In parts: a process is measured with the memory of the one that starts it, which must stay small."""
        with open(self.path(name), "wb") as file:
            for part in [content] if isinstance(content, bytes) else content:
                file.write(part)

    def assert_refused(self, name, words):
        runs = [self.measured("inspect", name)]
        status, err, seconds, memory = runs[0]
        self.assertEqual(status, 1, err)
        self.assert_one_line(err, name, *words)
        for _ in range(2):  # a busy machine takes longer now and then
            if seconds > MOST_S:
                seconds = min(seconds, self.measured("inspect", name)[2])
        self.assertLess(seconds, MOST_S, err)
        self.assertLess(memory, MOST_BYTES, err)

    def test_damage_is_refused_at_once_in_one_line_with_its_place(self):
        for name, content, words in damaged_files():
            with self.subTest(name=name):
                self.write(name, content)
                self.assert_refused(name, words)
                os.remove(self.path(name))

    def test_what_is_no_file_is_refused(self):
        os.mkdir(self.path("folder"))
        self.assert_refused("folder", ["a folder"])
        os.mkfifo(self.path("pipe"))
        self.assert_refused("pipe", ["not a regular file"])
        self.assert_refused("nothing", ["no such file"])
        if os.geteuid() != 0:
            self.write("secret", tipsy())
            os.chmod(self.path("secret"), 0)
            self.assert_refused("secret", ["Permission denied"])

    def test_large_files_need_the_memory_of_their_bodies(self):
        # Places and velocities, the softening of TIPSY; then also the ids that GADGET's formats always have.
        count, of_body, with_ids, room = 2_000_000, 36, 44, 6 * MEGABYTE
        block = array.array("f")
        for i in range(1000):
            block.extend((1 + i % 7, i, -i, 0.5 * i, 0.1, 0, 0, 0, 0))
        self.write("few.tipsy", struct.pack("<d6i", 0, 1000, 3, 0, 1000, 0, 0) + block.tobytes())
        self.write("a.tipsy", [struct.pack("<d6i", 0, count, 3, 0, count, 0, 0), *count // 1000 * [block.tobytes()]])
        for ending in ["gadget", "gadget2", "ply", "traj", "checkpoint", "tipsy", *(["hdf5"] if HDF5 else [])]:
            for source, target in (("{}.tipsy", "{}-made." + ending), ("{}-made." + ending, "{}-back.checkpoint")):
                few, many = ([source.format(name), target.format(name)] for name in ("few", "a"))
                with self.subTest(many=many):
                    least, most = self.measured("convert", *few), self.measured("convert", *many)
                    self.assertEqual((least[0], most[0]), (0, 0), most[1])
                    print(f"{' to '.join(many)}: {most[3] / MEGABYTE:.0f} MiB; of 1000 bodies {least[3] / MEGABYTE:.0f} MiB")
                    has_ids = ending in ("gadget", "gadget2", "hdf5") and "made" in source
                    self.assertLess(most[3] - least[3], count * (with_ids if has_ids else of_body) + room)
            for name in ("few", "a"):
                os.remove(self.path(f"{name}-made.{ending}"))
                os.remove(self.path(f"{name}-back.checkpoint"))


if __name__ == "__main__":
    ProcessCase.orrery = os.path.abspath(sys.argv.pop(1))
    HDF5 = "without HDF5" not in subprocess.run([ProcessCase.orrery, "--version"], capture_output=True, text=True).stdout
    unittest.main()
