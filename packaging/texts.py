#!/usr/bin/env python3
"""Writes the man page and the completion of bash from the program's own help.

    packaging/texts.py ORRERY FOLDER     writes FOLDER/orrery.1 and FOLDER/orrery.bash
"""
import pathlib
import re
import subprocess
import sys


def help_of(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True, env={"COLUMNS": "100"}).stdout


def section(text, name):
    """The (entry, description) pairs of a section of the help, such as "Options"."""
    found = re.search(rf"^{name}:\n((?:  .*\n|\n(?=  ))*)", text, re.M)
    entries = []
    for line in found.group(1).splitlines() if found else []:
        entry = re.match(r"  (\S.*?)(?:  +(.*))?$", line)
        if entry:
            entries.append([entry.group(1), entry.group(2) or ""])
        elif entries and line.strip():
            entries[-1][1] = f"{entries[-1][1]} {line.strip()}".strip()
    return entries


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in ".'" else text


def man_page(version, top, verbs):
    lines = [f'.TH ORRERY 1 "" "Orrery {version}" "User Commands"', ".SH NAME",
             "orrery \\- interactive laboratory for gravitational N\\-body computation", ".SH SYNOPSIS",
             ".B orrery\n[\\fIverb\\fR] [\\fIoptions\\fR]", ".SH DESCRIPTION",
             "Without a verb, orrery opens a window (see \\fBview\\fR below).", ".SH OPTIONS"]
    entries = lambda pairs: [part for name, text in pairs for part in (".TP", f".B {roff(name)}", roff(text) or "\\&")]
    lines += entries(section(top, "Options"))
    for verb, (summary, text) in verbs.items():
        lines += [f'.SH "ORRERY {verb.upper()}"', roff(summary[:1].upper() + summary[1:] + "."), *entries(section(text, "Options"))]
    return "\n".join(lines) + "\n"


def completion(top, verbs):
    flags = lambda text: " ".join(sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", "\n".join(e for e, _ in section(text, "Options"))))))
    cases = "\n".join(f"    {verb}) words='{flags(text)}' ;;" for verb, (_, text) in verbs.items())
    return f"""# Completion of bash for orrery, written by packaging/texts.py.
_orrery() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words
  case ${{COMP_WORDS[1]}} in
{cases}
    *) words='{flags(verbs["view"][1])}' ;;
  esac
  if ((COMP_CWORD == 1)) && [[ $current != -* ]]; then words='{" ".join(verbs)} help'; fi
  if ((COMP_CWORD == 2)) && [[ ${{COMP_WORDS[1]}} == help ]]; then words='{" ".join(verbs)} script colours keys'; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _orrery orrery
"""


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    top = help_of(program, "--help")
    version = help_of(program, "--version").split()[1]
    verbs = {}
    for names, summary in section(top, "Subcommands"):
        verb = names.split(",")[0]
        verbs[verb] = (summary, help_of(program, "help", verb))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "orrery.1").write_text(man_page(version, top, verbs))
    (folder / "orrery.bash").write_text(completion(top, verbs))


if __name__ == "__main__":
    main()
