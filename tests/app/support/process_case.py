"""Tests that run the program as a process in a folder of its own."""

import os
import shutil
import subprocess
import tempfile
import unittest


def mounts_are_permitted():
    """Whether `unshare -rm` gives this user a place to mount file systems for itself: not in a chroot, for one."""
    try:
        mount = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", tempfile.gettempdir()]
        return subprocess.run(mount, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


needs_mounts = unittest.skipUnless(mounts_are_permitted(), "no file system may be mounted here")


class ProcessCase(unittest.TestCase):
    orrery = None  # the program
    patience_s = 120

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="orrery_process_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def start(self, *arguments, **how):
        process = subprocess.Popen([self.orrery, *arguments], cwd=self.folder, text=True,
                                   **dict({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}, **how))

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def run_to_end(self, *arguments, **how):
        """Returns status, stdout and stderr."""
        process = self.start(*arguments, **how)
        out, err = process.communicate(timeout=self.patience_s)
        return process.returncode, out, err

    def succeed(self, *arguments, **how):
        """Runs to a good end, without a word on stderr. Returns stdout."""
        status, out, err = self.run_to_end(*arguments, **how)
        self.assertEqual((status, err), (0, ""))
        return out

    def assert_refused(self, expected, words, *arguments, **how):
        """Ends with this status and one line that has these words."""
        status, _, err = self.run_to_end(*arguments, **how)
        self.assertEqual(status, expected, err)
        self.assert_one_line(err, *words)

    def assert_one_line(self, err, *words):
        self.assertEqual(err.count("\n"), 1, err)
        for word in words:
            self.assertIn(word, err)
