#!/usr/bin/env python3
"""Runs the example commands of README.md, docs/usage and docs/tutorials: examples.py ORRERY ROOT [--list]

A command is a line of a code block that starts with ./run or orrery, perhaps after variables or "$ ", or with cp docs/. The commands of a page run
in their order in one temporary folder, with at most 256 bodies and a few steps, and must end with status 0. A block without
commands is the content of the file that the line before it names, such as `tour.txt`. --list: prints the commands.
examples.py --self-test checks the parser.
"""

import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

# (page, start of the command without ./run or orrery, reason). A reason that begins with "GPU" must be visible to readers: the
# comment of the command, or the last line before its block, says "GPU".
NOT_RUN = [
    ("docs/tutorials/gpu-programmer.md", "bench -n 16k --kernels cuda", "GPU"),
    ("docs/tutorials/gpu-programmer.md", "profile --kernels cuda", "GPU"),
    ("docs/tutorials/gpu-programmer.md", "verify --kernel-file", "GPU"),
    ("docs/tutorials/gpu-programmer.md", "bench --kernel-file", "GPU"),
    ("docs/tutorials/gpu-programmer.md", "view --kernel-file", "GPU"),
    ("docs/usage/bench.md", "bench -n 16k --kernels cuda-tiled", "GPU"),
    ("docs/usage/compare.md", "compare --a cuda-tiled", "GPU"),
    ("docs/usage/kernels-and-accuracy.md", "--kernel cuda-tiled", "GPU"),
    ("docs/usage/kernels-of-your-own.md", "verify", "GPU"),
    ("docs/usage/kernels-of-your-own.md", "bench", "GPU"),
    ("docs/usage/kernels-of-your-own.md", "view", "GPU"),
    ("docs/usage/profile.md", "profile --kernels cuda", "GPU"),
    ("docs/usage/race.md", "race -n 64k --until 0.5 --kernels cuda", "GPU"),
    ("docs/usage/several-gpus.md", "", "GPU: several"),
    ("docs/usage/verify.md", "verify --kernels cuda-naive", "GPU"),
]

SUBCOMMAND = re.compile(r"[a-z][-a-z]*")  # a file has a dot; documents.sh checks that the subcommand exists
VARIABLE = re.compile(r"^[A-Z][A-Z_0-9]*=\S*$")
FILE_NAME = re.compile(r"`([\w.-]+\.(?:txt|md|cu|csv|py|sh))`")
BODIES, FRAMES, STEPS, SECONDS = 256, 4, 200, 120


class Command:
    def __init__(self, line, number, before):
        words = shlex.split(line.removeprefix("$ "), comments=True)
        self.variables = {}
        while words and VARIABLE.match(words[0]):
            name, _, value = words.pop(0).partition("=")
            self.variables[name] = value
        self.program, self.words = words[0], words[1:]
        self.line, self.number, self.before = line, number, before


def parsed(text):
    """The commands of a page, and the contents of files by their names."""
    commands, files, before, block, start = [], {}, "", None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if not re.match(r" *```", line):
            if block is not None:
                block.append(line)
            elif line.strip():
                before = line
        elif block is None:
            block, start = [], number
        else:
            found = [Command(text, start + i, before) for i, text in enumerate(block, 1) if is_command(text)]
            named = FILE_NAME.findall(before)
            if not found and named:
                files[named[-1]] = "\n".join(block) + "\n"
            commands += found
            block = None
    return commands, files


def is_command(line):
    words = line.removeprefix("$ ").split()
    while words and VARIABLE.match(words[0]):
        words.pop(0)
    return bool(words) and (words[0] in ("./run", "orrery") or line.startswith("cp docs/"))


def bodies(text):
    scale = {"k": 1024, "M": 1024**2, "G": 1024**3}.get(text[-1], 1)
    return int(text.rstrip("kMG")) * scale


def smaller(words):
    """The arguments of the same command with less work."""
    words = list(words)
    subcommand = words[0] if words and SUBCOMMAND.fullmatch(words[0]) else "view"

    def change(option, new):
        for i, word in enumerate(words[:-1]):
            if word == option:
                words[i + 1] = new(words[i + 1])

    change("-n", lambda text: ",".join(dict.fromkeys(str(min(bodies(n), BODIES)) for n in text.split(","))))
    change("--frames", lambda text: str(min(int(text), FRAMES)))
    change("--steps", lambda text: str(min(max(int(text) // 100, 1), STEPS)))  # keeps the order of several
    if subcommand in ("run", "race"):
        change("--until", lambda text: f"{float(text) / 10:g}")  # keeps the order of several, and the number of snapshots
        change("--every", lambda text: f"{float(text) / 10:g}")
    if "--size" in words:
        change("--size", lambda _: "320x200")
    elif subcommand in ("view", "render"):
        words += ["--size", "320x200"]
    takes_scene = subcommand in ("view", "render", "bench", "report", "compare", "race", "run", "profile")
    has_file = any("." in word and not word.startswith("-") and not words[i - 1].startswith("-")
                   for i, word in enumerate(words) if i or subcommand == "view")
    if takes_scene and "-n" not in words and "two-body" not in words and "--resume" not in words and not has_file:
        words += ["-n", str(BODIES)]
    if subcommand == "view":
        words += [word for word in ["--offscreen"] if word not in words]
        if "--frames" not in words and "--script" not in words:
            words += ["--frames", str(FRAMES)]
    if subcommand == "verify" and "-n" not in words:
        words += ["-n", "33"]
    if subcommand == "bench" and "--repeat" not in words:
        words += ["--repeat", "2"]
    if subcommand == "report":
        change("--budget", lambda _: "1")
        words += [] if "--budget" in words else ["--budget", "1"]
    if subcommand == "lesson" and "--no-wait" not in words and len(words) > 1:
        words += ["--no-wait"]
    return words


def statuses(words):
    """Those that are no failure: a machine may be degraded, and the times of a small case differ by chance."""
    return {0, 3} if words[:1] == ["info"] else {0, 1} if "--baseline" in words else {0}


def reason_not_to_run(page, command):
    text = shlex.join(command.words)
    for i, (of_page, start, reason) in enumerate(NOT_RUN):
        if page == of_page and text.startswith(start):
            return i, reason
    return None, None


def run_page(orrery, root, page, commands, files):
    """What failed, the numbers of the reasons that were used, and the commands that were run."""
    failed, used, done = [], set(), 0
    with tempfile.TemporaryDirectory(prefix="orrery-examples.") as folder:
        home = {name: os.path.join(folder, "home") for name in
                ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")}
        environment = {**os.environ, **home, "CUDA_VISIBLE_DEVICES": ""}
        environment.pop("DISPLAY", None)
        for name, content in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        for command in commands:
            place = f"{page}:{command.number}"
            if command.program == "cp":
                shutil.copy(os.path.join(root, command.words[0]), os.path.join(folder, command.words[1]))
                continue
            index, reason = reason_not_to_run(page, command)
            if reason is not None:
                used.add(index)
                if reason.startswith("GPU") and "GPU" not in command.line + command.before:
                    failed.append(f"{place} needs a GPU, and does not say so to its reader: {command.line}")
                continue
            words, start = smaller(command.words), time.monotonic()
            try:
                ended = subprocess.run([orrery, *words], cwd=folder, env={**environment, **command.variables}, text=True,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
                status, output = ended.returncode, ended.stdout
            except subprocess.TimeoutExpired as error:
                status, output = f"none within {SECONDS} s", (error.stdout or b"").decode(errors="replace")
            done += 1
            if "-v" in sys.argv:
                print(f"{time.monotonic() - start:5.1f} s  {place}  orrery {shlex.join(words)}", flush=True)
            if status not in statuses(words):
                failed.append(f"{place}: {command.line}\n  run as: orrery {shlex.join(words)}\n  status {status}: {output[-600:].strip()}")
    return failed, used, done


def pages(root):
    yield "README.md"
    for folder in "docs/usage", "docs/tutorials":
        if os.path.isdir(os.path.join(root, folder)):
            yield from (f"{folder}/{name}" for name in sorted(os.listdir(os.path.join(root, folder))) if name.endswith(".md"))


def main(orrery, root):
    orrery = os.path.realpath(orrery)
    found = {}
    for page in pages(root):
        with open(os.path.join(root, page), encoding="utf-8") as file:
            found[page] = parsed(file.read())
    if "--list" in sys.argv:
        for page, (commands, files) in found.items():
            print(page, *files)
            for command in commands:
                print("   ", reason_not_to_run(page, command)[1] or "runs", "|", shlex.join(smaller(command.words)))
        return 0
    failed, used, done = [], set(), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        longest_first = sorted(found.items(), key=lambda item: -len(item[1][0]))
        for some_failed, some_used, some_done in pool.map(lambda item: run_page(orrery, root, item[0], *item[1]), longest_first):
            failed, used, done = failed + some_failed, used | some_used, done + some_done
    failed += [f"no command begins so: {NOT_RUN[i][:2]}" for i in range(len(NOT_RUN)) if i not in used]
    print("\n".join(failed) or f"{done} commands")
    return 1 if failed or done < 40 else 0


def self_test():
    commands, files = parsed("""
This is `tour.txt`, a script:

```
0 quit
```

On a GPU:

```
$ ./run view --script tour.txt   # a comment
A=b orrery bench -n 4k,16k,100 --frames 600
mpirun -n 2 orrery run
ls
```

`./run` in a text is none.
""")
    assert files == {"tour.txt": "0 quit\n"}, files
    assert [command.words for command in commands] == [
        ["view", "--script", "tour.txt"], ["bench", "-n", "4k,16k,100", "--frames", "600"]], commands
    assert [command.number for command in commands] == [11, 12] and commands[0].before == "On a GPU:"
    assert commands[1].variables == {"A": "b"} and commands[1].program == "orrery"
    assert smaller(commands[1].words) == ["bench", "-n", "256,100", "--frames", "4", "--repeat", "2"]
    assert smaller(["--scene", "two-body"]) == ["--scene", "two-body", "--size", "320x200", "--offscreen", "--frames", "4"]
    assert smaller(["galaxy.bin"])[:3] == ["galaxy.bin", "--size", "320x200"]
    assert smaller(["run", "--until", "20", "--every", "0.5", "-n", "64k"]) == ["run", "--until", "2", "--every", "0.05", "-n", "256"]
    assert smaller(["lesson", "3"]) == ["lesson", "3", "--no-wait"] and smaller(["lesson"]) == ["lesson"]
    assert statuses(["info"]) == {0, 3} and statuses(["run"]) == {0}


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        sys.exit(0)
    sys.exit(main(sys.argv[1], sys.argv[2]))
