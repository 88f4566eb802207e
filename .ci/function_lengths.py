"""Lengths of functions and files under the given folders.

Prints the median, the 90th percentile and the largest number of lines of a
function, its signature counted and its docstring not; fails over 60, or for a
file over 500.
"""

import ast
import statistics
import sys
from pathlib import Path

LONGEST_FUNCTION = 60
LONGEST_FILE = 500


def lines_of(function):
    """Lines from `def` to the last statement, less those of the docstring."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        said = function.body[0]
        lines -= said.end_lineno - said.lineno + 1
    return lines


def main(folders):
    lengths, long_files = [], []
    for path in sorted(file for folder in folders for file in Path(folder).rglob("*.py")):
        text = path.read_text("utf-8")
        if (lines := text.count("\n")) > LONGEST_FILE:
            long_files.append(f"{path}: {lines} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lengths.append((lines_of(node), f"{path}:{node.lineno} {node.name}"))
    sizes = [size for size, _ in lengths]
    tenth = statistics.quantiles(sizes, n=10)[-1]
    print(
        f"{len(sizes)} functions: median {statistics.median(sizes):.0f}, p90 {tenth:.0f},"
        f" longest {max(sizes)} lines"
    )
    long_functions = [
        f"{where}: {size} lines" for size, where in lengths if size > LONGEST_FUNCTION
    ]
    for complaint in (*long_functions, *long_files):
        print(complaint, file=sys.stderr)
    return 1 if long_functions or long_files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
