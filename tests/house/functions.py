"""No function of C++ or CUDA has more than 80 lines, from its opening brace to its closing one.

    functions.py TOP_FOLDER

functions_too_long.txt beside this file lists those that are longer today: lines, file, name. That list may only shrink: a
listed function must not grow, and one that is gone or short enough leaves the list.
"""

import pathlib
import re
import sys

MOST = 80
FOLDERS = ("app", "compute", "render", "tests")
ENDINGS = {".h", ".cuh", ".inl", ".cpp", ".cu"}
# Comments, raw strings, strings and characters (not the ' of 1'000'000), and the lines of directives.
BLANKED = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
    r'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$")


def functions(text):
    """Yields the name and the number of lines of every function that is not inside of another."""
    text = BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    scopes = []  # of every open brace: its line and the name of the function that begins there, or None
    within = 0  # functions around
    round_ones, head_begin, line = 0, 0, 1
    for place, sign in enumerate(text):
        if sign == "\n":
            line += 1
        elif sign in "()":
            round_ones += 1 if sign == "(" else -1
        elif sign == "{":
            head = text[head_begin:place]
            name = None
            if not within and not round_ones and "(" in head and not SCOPE.search(head):
                called = re.search(r"([\w:~]+|operator\s*\S+)\s*\(", head)
                name = " ".join(called[1].split()) if called else head.split()[0]
                if name.isupper() or name.startswith("TEST"):  # a macro's arguments tell its tests apart
                    name = "".join(head[called.start():].split()).split("){")[0]
            scopes.append((line, name))
            within += name is not None
            if not round_ones:
                head_begin = place + 1
        elif sign == "}" and scopes:
            first, name = scopes.pop()
            if name is not None:
                within -= 1
                yield name, line - first + 1
            if not round_ones:
                head_begin = place + 1
        elif sign == ";" and not round_ones:
            head_begin = place + 1


def main():
    top = pathlib.Path(sys.argv[1])
    list_file = top / "tests/house/functions_too_long.txt"
    allowed = {}
    if list_file.exists():
        for entry in list_file.read_text().splitlines():
            lines, file, name = entry.split(" ", 2)
            allowed[file, name] = int(lines)
    found, seen = {}, 0
    for folder in FOLDERS:
        for path in sorted((top / folder).rglob("*")):
            if path.suffix in ENDINGS:
                for name, lines in functions(path.read_text()):
                    seen += 1
                    if lines > MOST:
                        key = str(path.relative_to(top)), name
                        found[key] = max(lines, found.get(key, 0))
    failed = seen == 0
    for key, lines in found.items():
        if lines > allowed.get(key, MOST):
            failed = True
            print(f"{key[0]}: {key[1]} has {lines} lines; {allowed.get(key, MOST)} is the most")
    for file, name in allowed.keys() - found.keys():
        failed = True
        print(f"{list_file.name} lists {name} in {file}, which has no more than {MOST} lines or is gone: remove the line")
    sys.exit(failed)


if __name__ == "__main__":
    main()
