"""No two types of the same name and namespace are defined in two files.

    type_names.py TOP_FOLDER

Such types break the one-definition rule: the linker keeps one of two functions, such as those of std::vector, that were
compiled for different types. Types of unnamed namespaces, types inside of other types and empty stand-ins
do not count.
"""

import collections
import pathlib
import re
import sys

FOLDERS = ("app", "compute", "render", "tests")
ENDINGS = {".h", ".cuh", ".inl", ".cpp", ".cu"}
NAMESPACE = re.compile(r"(?:inline )?namespace\s*([\w:]*)\s*\{")
TYPE = re.compile(r"(?:struct|class|enum class|enum|union)\s+(?:alignas\(.*?\)\s*)?(\w+)\s*(?:final\s*)?(?::[^:;(].*)?\{(?!};)")


def types(text):
    """Yields the qualified name of every type that the text defines outside of unnamed namespaces."""
    namespaces = []
    for line in text.splitlines():
        if match := NAMESPACE.match(line):
            namespaces.append(match[1])
        elif namespaces and re.match(r"\}\s*// namespace", line):
            namespaces.pop()
        elif (match := TYPE.match(line)) and "" not in namespaces:
            yield "::".join([*namespaces, match[1]])


def main():
    top = pathlib.Path(sys.argv[1])
    files = collections.defaultdict(set)
    for folder in FOLDERS:
        for path in (top / folder).rglob("*"):
            if path.suffix in ENDINGS:
                for name in types(path.read_text()):
                    files[name].add(str(path.relative_to(top)))
    twice = {name: sorted(where) for name, where in sorted(files.items()) if len(where) > 1}
    for name, where in twice.items():
        print(f"{name} is defined in {' and in '.join(where)}")
    sys.exit(bool(twice) or not files)


if __name__ == "__main__":
    main()
