"""What the scripts that make tables of `bench` and `verify` files share: reading them, refusing what is not whole, Markdown."""
import json
import math
import os
import sys


class Refused(Exception):
    """What was measured is not whole."""


def positive(value, what):
    if not isinstance(value, (int, float)) or not math.isfinite(value) or not value > 0:
        raise Refused(f"{what} is {value}")
    return value


def at_least_zero(value, what):
    """An error may be exactly zero."""
    return value if value == 0 else positive(value, what)


class Run:
    """One file that `bench` or `verify` wrote."""

    def __init__(self, folder, name):
        self.name = name
        with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
            whole = json.load(file)
        self.metadata, self.results = whole["metadata"], whole["results"]
        if whole["skipped"] or whole.get("stopped"):
            raise Refused(f"{name}: stopped early, or not measured: {whole['skipped']}")
        if not self.results:
            raise Refused(f"{name} has no results")

    def kernels(self):
        return sorted({result["kernel"] for result in self.results}, reverse=True)

    def by(self, tunable):
        """{value of the tunable: {n: result}}, the same n for every value."""
        return self.grouped(lambda result: result["settings"][tunable])

    def by_kernel(self):
        return self.grouped(lambda result: result["kernel"])

    def grouped(self, key):
        groups = {}
        for result in self.results:
            same = groups.setdefault(key(result), {})
            if result["n"] in same:
                raise Refused(f"{self.name} has {key(result)} with {result['n']} bodies twice")
            same[result["n"]] = result
        for value, results in groups.items():
            absent = set(self.metadata["n"]) - set(results)
            if absent:
                raise Refused(f"{self.name} lacks {value} with {sorted(absent)} bodies")
        return groups

    def ms(self, result):
        self.errors(result)  # no time counts without them
        return positive(result["step_ms"]["median"], f"{self.name}: time of {result['kernel']}, {result['n']} bodies")

    def clock(self, result):
        """As text; a run too short to look at the machine has none."""
        clock = ((result["machine"] or {}).get("during") or {}).get("clock_mhz")
        return "-" if clock is None else f"{positive(clock, 'a clock')} MHz"

    def errors(self, result):
        what = f"error of {result['kernel']}, {result['n']} bodies"
        return [at_least_zero(result["error"][part], f"{self.name}: {part} {what}") for part in ("median", "p99", "max")]


def number(value, digits=4):
    """`value` with `digits` significant digits, without a power of ten if it is readable without."""
    if value == 0 or not 1e-4 <= value < 1e5:
        return f"{value:.{digits}g}"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(value)))}f}"


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def write_page(page, name):
    """The main function of a script that makes OUT_FOLDER/NAME from the files in OUT_FOLDER: writes and prints
    page(OUT_FOLDER), or ends with status 1 and one line with the reason."""
    script = os.path.basename(sys.argv[0])
    if len(sys.argv) != 2:
        sys.exit(f"usage: {script} OUT_FOLDER")
    try:
        text = page(sys.argv[1])
    except (Refused, OSError, KeyError, TypeError, ValueError) as error:
        sys.exit(f"{script}: {type(error).__name__}: {error}")
    with open(os.path.join(sys.argv[1], name), "w", encoding="utf-8") as file:
        file.write(text)
    print(text, end="")
