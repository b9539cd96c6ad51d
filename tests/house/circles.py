#!/usr/bin/env python3
"""Fails if two folders of the sources include each other, directly or around a circle.

circles.py FOLDER [--edges]: FOLDER holds app/, compute/ and render/. --edges prints which folder includes which.
"""
import pathlib
import re
import sys
from graphlib import CycleError, TopologicalSorter

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"((?:app|compute|render)/[^"]+)"', re.MULTILINE)


def edges(top):
    """The folders that each folder includes, with one file of each arrow."""
    graph = {}
    for file in sorted(path for room in ("app", "compute", "render") for path in (top / room).rglob("*")):
        if file.suffix not in (".h", ".inl", ".cpp", ".cu"):
            continue
        folder = file.parent.relative_to(top).as_posix()
        for included in INCLUDE.findall(file.read_text()):
            other = included.rpartition("/")[0]
            if other != folder:
                graph.setdefault(folder, {}).setdefault(other, f"{file.relative_to(top)} includes {included}")
    return graph


def main():
    graph = edges(pathlib.Path(sys.argv[1]))
    if not graph:
        sys.exit(f"circles.py: no sources in {sys.argv[1]}")
    if "--edges" in sys.argv:
        for folder, others in sorted(graph.items()):
            print(folder, "->", *sorted(others))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
        arrows = [graph[a][b] for a, b in zip(circle, circle[1:])]
        sys.exit("circles.py: folders include each other in a circle:\n  " + "\n  ".join(arrows))


main()
