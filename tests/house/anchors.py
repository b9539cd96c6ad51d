#!/usr/bin/env python3
"""Every link of a Markdown document to a heading has such a heading: anchors.py ROOT

Anchors are those that GitHub makes. tests/house/documents.sh checks that the files of links exist.
"""

import os
import re
import sys

FENCE = re.compile(r"^ *```")
HEADING = re.compile(r"^#{1,6} +(.*?)#* *$")
LINK = re.compile(r"\]\(([^()\s]*)#([^()\s]+)\)")


def text_lines(path):
    """The lines outside code blocks."""
    code = False
    with open(path, encoding="utf-8") as file:
        for line in file:
            if FENCE.match(line):
                code = not code
            elif not code:
                yield line.rstrip("\n")


def anchors(path):
    found, seen = set(), {}
    for line in text_lines(path):
        heading = HEADING.match(line)
        if not heading:
            continue
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
        anchor = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
        number = seen.get(anchor, 0)
        seen[anchor] = number + 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


def documents(root):
    for folder, below, files in os.walk(root):
        below[:] = [name for name in below if not name.startswith(".") and name != "build"]
        yield from (os.path.join(folder, name) for name in files if name.endswith(".md"))


def main(root):
    paths = sorted(documents(root))
    missing = []
    for path in paths:
        # A link may go on in the next line.
        for target, anchor in LINK.findall("\n".join(text_lines(path))):
            if "://" in target:
                continue
            goal = os.path.join(os.path.dirname(path), target) if target else path
            if not os.path.exists(goal) or anchor not in anchors(goal):
                missing.append(f"{os.path.relpath(path, root)} links to {target}#{anchor}: no such heading")
    print("\n".join(missing))
    return 1 if missing or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
