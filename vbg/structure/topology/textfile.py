"""Reading and writing topologies as text, in the form of the paper's User_Data.m.

::

    ProblemType = 6;
    M = {'-' 'R' '-' 'P';
         'R' '-' 'S' '-';
         '-' 'S' '-' 'C';
         'P' '-' 'C' '-'};
    KnownInputs = [0 1 0 0; 1 0 0 0; 0 0 0 0; 0 0 0 0];

``%`` begins a comment, ``...`` continues a line, other statements (``global``,
``N = length(M)``) are passed over.  The text is read, never executed.
"""

from __future__ import annotations

import re
from pathlib import Path

from vbg.errors import ModelError, Problem
from vbg.structure.topology.pairs import NOT_CONNECTED
from vbg.structure.topology.topology import Topology, from_adjacency

_NAMES = ("ProblemType", "M", "KnownInputs", "N")
_MEANING = {
    "ProblemType": "Write 3 for the plane, 6 for space.",
    "KnownInputs": "Write a row for each body: how many freedoms of its pair with every body are "
    "driven, 0 for none.",
}


def read_topology(path: str | Path) -> Topology:
    """The topology in the text file `path`; raises `ModelError`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: byte {error.start + 1} is not UTF-8 text.") from None
    return parse_topology(text, file=str(path))


def parse_topology(text: str, file: str = "") -> Topology:
    """The topology that `text` describes; `file` is named in the messages."""
    bare = re.sub(r"%.*", "", text).replace("...", " ")
    found = {name: _value(bare, name) for name in _NAMES}
    missing = [name for name in ("ProblemType", "M") if found[name] is None]
    if missing:
        raise ModelError.of(_missing(name, file) for name in missing)
    matrix = [re.findall(r"'([^']*)'|\"([^\"]*)\"", row) for row in _rows(found["M"] or "")]
    codes = [[single or double for single, double in row] for row in matrix]
    told = found["N"] or ""
    if told.strip().isdigit() and int(told) != len(codes):
        what = f"is {told.strip()} where M has {len(codes)} rows."
        raise ModelError.of([Problem("error", "N", what, "Count the frame, too.", file=file)])
    inputs = None
    if found["KnownInputs"] is not None:
        inputs = [_integers(row, "KnownInputs", file) for row in _rows(found["KnownInputs"])]
    dimension = _integers(found["ProblemType"] or "", "ProblemType", file)[0]
    return from_adjacency(dimension, codes, inputs)


def write_topology(topology: Topology) -> str:
    """`topology` as text that `parse_topology` reads back.

    A matrix has one entry for two bodies: raises `ModelError` where two pairs
    join the same two, or where a pair couples more than two.
    """
    count = len(topology.bodies)
    codes = [[NOT_CONNECTED] * count for _ in range(count)]
    inputs = [[0] * count for _ in range(count)]
    for pair in topology.pairs:
        i, j = pair.ends[0], pair.ends[-1]
        if len(pair.ends) != 2 or codes[i][j] != NOT_CONNECTED:
            what = "an adjacency matrix has room for one pair of two bodies."
            raise ModelError.of([Problem("error", pair.name, what, "Keep the list of pairs.")])
        codes[i][j] = codes[j][i] = pair.code
        inputs[i][j] = inputs[j][i] = pair.driven
    lines = [f"ProblemType = {topology.dimension};", "M = { ..."]
    lines += [" ".join(f"'{code}'" for code in row) + ";" for row in codes]
    lines += ["};", "KnownInputs = [ ..."]
    lines += [" ".join(str(n) for n in row) + ";" for row in inputs]
    return "\n".join([*lines, "];", ""])


def _value(text: str, name: str) -> str | None:
    """What stands right of ``name =``: inside braces or brackets, or up to ``;``."""
    match = re.search(rf"(?<![\w(]){name}\s*=\s*(\{{[^}}]*\}}|\[[^\]]*\]|[^;\n]*)", text)
    return match.group(1).strip("{}[] \t") if match else None


def _rows(text: str) -> list[str]:
    return [row for row in re.split(r"[;\n]", text.replace("\r", "")) if row.strip()]


def _integers(text: str, name: str, file: str) -> list[int]:
    words = text.replace(",", " ").split()
    wrong = [word for word in words if not re.fullmatch(r"[+-]?\d+", word)]
    if wrong or not words:
        what = f"found {wrong[0] if wrong else 'nothing'} where a whole number is expected."
        raise ModelError.of([Problem("error", name, what, _MEANING[name], file=file)])
    return [int(word) for word in words]


def _missing(name: str, file: str) -> Problem:
    what = f"the file does not define {name}."
    return Problem("error", name, what, "It needs ProblemType, M and KnownInputs.", file=file)
