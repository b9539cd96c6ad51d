#!/usr/bin/env python3
"""The table of broken kernels and the message for each, in Markdown, from the results of app_gpu_test:

  ORRERY_TEST_BACKEND=cuda app_gpu_test --gtest_filter=BrokenKernel.* --gtest_output=json:RESULTS.json
  broken_kernels_table.py RESULTS.json
  broken_kernels_table.py --check
"""
import json
import re
import sys


def words(name):
    """ReadsFarOutside: reads far outside"""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower().replace("na n", "NaN")


def table(results):
    lines = ["| the kernel ... | its message |", "| --- | --- |"]
    for suite in results["testsuites"]:
        for test in suite["testsuite"]:
            if "message" in test:
                message = re.sub(r"\S*/(\w+\.cu)", r"\1", test["message"])  # without its temporary folder
                lines.append(f"| {words(test['name'])} | {message.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def check():
    tests = [{"name": "GivesNaN", "message": "/tmp/x/mine.cu(5): |a| is not finite"}, {"name": "IsNotTheOneThatIsCorrect"}]
    assert table({"testsuites": [{"testsuite": tests}]}).splitlines()[2:] == [
        r"| gives NaN | mine.cu(5): \|a\| is not finite |"]


def main(arguments):
    if arguments == ["--check"]:
        check()
        return
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        print(table(json.load(file)), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
