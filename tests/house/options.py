#!/usr/bin/env python3
"""docs/usage/options.md lists every option of the program with its subcommands and a page: options.py ORRERY ROOT [--fix]

The program's own list is the --help of every subcommand. The page of a row must mention the option. --fix writes the columns
`option` and `of`; the pages of new options are then to be filled in by hand. options.py --self-test checks the parser.
"""

import os
import re
import subprocess
import sys

INDEX = "docs/usage/options.md"
SHORT = re.compile(r"^  (-[a-zA-Z])(?:,(--[a-z][-a-z]*))?(?:[ ,]|$)")
LONG = re.compile(r"^  (--[a-z][-a-z]*)(?:[ ,]|$)")
ROW = re.compile(r"^\| `(--?[a-zA-Z][-a-z]*)` \| (.*?) \| (?:\[[^]]*\]\(([^)#]*)[^)]*\))? *\|$")
HEAD = "| option | of | page |\n| --- | --- | --- |\n"


def options_of(help_text):
    """Those of one subcommand. -h, --help is one of all and left out."""
    found = set()
    for line in help_text.splitlines():
        match = SHORT.match(line) or LONG.match(line)
        if match:
            found.add(match[1])
    return found - {"-h", "--help"}


def subcommands_of(help_text):
    section = help_text[help_text.index("\nSubcommands:"):]
    return re.findall(r"^  ([a-z][-a-z]*)", section, re.M)


def rows_of(index):
    return {match[1]: (match[2], match[3] or "") for match in map(ROW.match, index.splitlines()) if match}


def helped(orrery, *words):
    return subprocess.run([orrery, *words, "--help"], capture_output=True, text=True, check=True).stdout


def main(orrery, root):
    takers = {}
    for subcommand in subcommands_of(helped(orrery)):
        if subcommand in ("help", "version"):
            continue
        for option in options_of(helped(orrery, subcommand)):
            takers.setdefault(option, []).append(subcommand)
    with open(os.path.join(root, INDEX), encoding="utf-8") as file:
        index = file.read()
    rows = rows_of(index)
    if "--fix" in sys.argv:
        table = "".join(f"| `{option}` | {', '.join(of)} | {'[' + rows[option][1] + '](' + rows[option][1] + ')' if option in rows else ''} |\n"
                        for option, of in sorted(takers.items(), key=lambda item: item[0].lstrip("-").lower()))
        head, tail = index[:index.index(HEAD)], re.sub(r"^(\|.*\n)*", "", index[index.index(HEAD):], count=1)
        with open(os.path.join(root, INDEX), "w", encoding="utf-8") as file:
            file.write(head + HEAD + table + tail)
        return 0
    failed = [f"{INDEX} has {option}, which no subcommand takes" for option in rows if option not in takers]
    for option, of in takers.items():
        if option not in rows:
            failed.append(f"{INDEX} lacks {option} of {', '.join(of)}; --fix adds it")
            continue
        listed, page = rows[option]
        path = os.path.join(root, os.path.dirname(INDEX), page)
        if listed.split(", ") != of:
            failed.append(f"{INDEX} gives {option} to {listed}; it belongs to {', '.join(of)}; --fix mends it")
        if not page or not os.path.exists(path):
            failed.append(f"{INDEX} names no page for {option}")
        else:
            with open(path, encoding="utf-8") as file:
                if not re.search(rf"`[^`\n]*(?<![-\w]){option}(?![-\w])", file.read()):
                    failed.append(f"{INDEX} sends {option} to {page}, which does not mention it")
    print("\n".join(failed) or f"{len(takers)} options")
    return 1 if failed or not takers else 0


def self_test():
    text = "Options:\n  -h,--help     Print\n  --units L,M   of --this\n                --no such\n  -n N          bodies\n  --wide        all\n"
    assert options_of(text) == {"--units", "-n", "--wide"}, options_of(text)
    assert subcommands_of("x\n\nSubcommands:\n  view        shows\n              more\n  new-kernel  writes\n") == ["view", "new-kernel"]
    assert rows_of("| `--a-b` | view, run | [x.md](x.md#y) |\n| `-n` | run |  |\n") == {"--a-b": ("view, run", "x.md"), "-n": ("run", "")}


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        sys.exit(0)
    sys.exit(main(os.path.realpath(sys.argv[1]), sys.argv[2]))
