"""The consistency checks of the input (Fig. 10 of the paper), as data.

Each returns a tuple of `Problem`; none raises.  The paper's window warns of
missing or mismatched entries; here every rule has its own sentence and all
broken ones are listed at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from vbg.errors import Problem
from vbg.structure.topology.pairs import (
    BY_CODE,
    NOT_CONNECTED,
    PLANAR,
    SPATIAL,
    nearest_code,
    normal_code,
)

Row = tuple[str, str, str, int]


def check_dimension(dimension: int) -> tuple[Problem, ...]:
    """ProblemType must be 3 or 6."""
    if dimension in (PLANAR, SPATIAL):
        return ()
    what = f"is {dimension!r}; a planar problem has 3, a spatial one 6."
    return (Problem("error", "ProblemType", what, "Write 3 or 6."),)


def check_inputs(
    dimension: int,
    matrix: Sequence[Sequence[str]],
    known_inputs: Sequence[Sequence[int]],
    bodies: Sequence[str],
) -> tuple[Problem, ...]:
    """Shape, symmetry and entries of the two matrices of section 3.1."""
    shape = check_dimension(dimension) + _shapes(matrix, known_inputs, bodies)
    if shape:
        return shape
    found: list[Problem] = []
    for i in range(len(matrix)):
        if int(known_inputs[i][i]):
            what = f"is {known_inputs[i][i]}; a body is not driven against itself."
            found.append(Problem("error", f"KnownInputs({i + 1},{i + 1})", what, "Write 0."))
        for j in range(i + 1, len(matrix)):
            found += _symmetry(matrix, known_inputs, i, j)
            code = normal_code(str(matrix[i][j]))
            where = f"M({i + 1},{j + 1})"
            found += _code(where, code, dimension)
            if normal_code(str(matrix[j][i])) != code:
                found += _code(f"M({j + 1},{i + 1})", normal_code(str(matrix[j][i])), dimension)
            found += _drive(f"KnownInputs({i + 1},{j + 1})", code, known_inputs[i][j])
    return tuple(found)


def check_pairs(dimension: int, bodies: Sequence[str], rows: Sequence[Row]) -> tuple[Problem, ...]:
    """Names, codes, drives and connection of a list of pairs."""
    found = list(check_dimension(dimension))
    repeated = [name for name, times in Counter(bodies).items() if times > 1]
    found += [_error(f"bodies.{n}", "is listed twice.", "Give each a name.") for n in repeated]
    if len(bodies) < 2:
        found.append(_error("bodies", "need a frame and one body at least.", "Add a body."))
    known = set(bodies)
    for first, second, code, driven in rows:
        where = f"KP({first}-{second})"
        for name in (first, second):
            if name not in known:
                found.append(_error(where, f"joins {name!r}, which is no body.", "Correct it."))
        if first == second:
            found.append(_error(where, "joins a body to itself.", "Name the other body."))
        found += _code(where, code, dimension)
        found += _drive(where, code, driven)
    if not any(problem.severity == "error" for problem in found):
        found += _connection(bodies, rows)
    return tuple(found)


def check_drives(mobility: int, driven: int) -> tuple[Problem, ...]:
    """The number of driven freedoms must be the mobility (section 3.1, item 4)."""
    if driven == mobility:
        return ()
    if mobility < 0:
        what = f"is {mobility}: the pairs impose {-mobility} equations more than the bodies have."
        remedy = "Look for a geometric exception (planar, parallel) or free a joint."
        return (Problem("error", "mobility", what, remedy),)
    what = f"{driven} freedoms are driven where the mobility is {mobility}."
    if driven > mobility:
        remedy = f"Release {driven - mobility} of the driven freedoms."
        return (Problem("error", "drives", "more drives than freedoms: " + what, remedy),)
    return (Problem("error", "drives", what, _more(mobility - driven)),)


def _more(count: int) -> str:
    return (
        f"For motion by geometry alone drive {count} more; a simulation needs no drive, there "
        "forces move what is free."
    )


def _error(where: str, what: str, remedy: str) -> Problem:
    return Problem("error", where, what, remedy)


def _shapes(matrix: Sequence, known_inputs: Sequence, bodies: Sequence) -> tuple[Problem, ...]:
    count = len(matrix)
    found = []
    for name, rows in (("M", matrix), ("KnownInputs", known_inputs)):
        wide = [f"row {i + 1} has {len(row)}" for i, row in enumerate(rows) if len(row) != count]
        if wide or len(rows) != count:
            what = f"must be {count} x {count} as M has {count} rows; it has {len(rows)} rows"
            what += f", {wide[0]} entries." if wide else "."
            found.append(_error(name, what, "One row and one column for each body."))
    if count < 2:
        found.append(_error("M", "needs the frame and one body at least.", "Add a body."))
    if len(bodies) != count:
        what = f"is {len(bodies)} where M has {count} rows."
        found.append(_error("N", what, "Count the frame, too."))
    return tuple(found)


def _symmetry(matrix: Sequence, known_inputs: Sequence, i: int, j: int) -> list[Problem]:
    found = []
    here, there = normal_code(str(matrix[i][j])), normal_code(str(matrix[j][i]))
    if here != there:
        what = f"is {here!r} but M({j + 1},{i + 1}) is {there!r}."
        remedy = "A pair joins both bodies alike: write the same code twice."
        found.append(_error(f"M({i + 1},{j + 1})", what, remedy))
    if known_inputs[i][j] != known_inputs[j][i]:
        what = f"is {known_inputs[i][j]} but KnownInputs({j + 1},{i + 1}) is {known_inputs[j][i]}."
        found.append(_error(f"KnownInputs({i + 1},{j + 1})", what, "Write the same number twice."))
    return found


def _code(where: str, code: str, dimension: int) -> list[Problem]:
    row = BY_CODE.get(code)
    if row is None:
        near = nearest_code(code)
        remedy = f"Did you mean {near!r}?" if near else "Codes: " + " ".join(list(BY_CODE)[1:25])
        return [_error(where, f"{code!r} is no pair of Table 3.", remedy)]
    if dimension == PLANAR and not row.planar:
        planar = " ".join(r.code for r in BY_CODE.values() if r.planar and r.grade > 0)
        what = f"{code!r} ({row.meaning}) does not exist in the plane."
        return [_error(where, what, f"Use one of {planar}, or ProblemType 6.")]
    return []


def _drive(where: str, code: str, driven: int) -> list[Problem]:
    row = BY_CODE.get(code)
    if row is None:
        return []
    if driven != int(driven) or driven < 0:
        what = f"drives {driven!r} freedoms."
        return [_error(where, what, "Write a whole number, 0 or more.")]
    if code == NOT_CONNECTED and driven:
        what = f"drives {driven} where the bodies are not connected."
        return [_error(where, what, "Add the pair or write 0.")]
    if driven > row.grade:
        what = f"drives {driven} freedoms of {code!r} ({row.meaning}), which leaves {row.grade}."
        return [_error(where, what, f"Write {row.grade} at most.")]
    return []


def _connection(bodies: Sequence[str], rows: Sequence[Row]) -> list[Problem]:
    """Every body must reach the frame through pairs."""
    neighbours: dict[str, list[str]] = {name: [] for name in bodies}
    for first, second, code, _ in rows:
        if code != NOT_CONNECTED:
            neighbours[first].append(second)
            neighbours[second].append(first)
    reached, front = {bodies[0]}, [bodies[0]]
    while front:
        for name in neighbours[front.pop()]:
            if name not in reached:
                reached.add(name)
                front.append(name)
    remedy = "Join it, or connect it to the frame by F (space) or FP (plane) if it floats."
    if not neighbours[bodies[0]]:
        return [_error(f"bodies.{bodies[0]}", "the frame has no pair.", "Join a body to it.")]
    return [
        _error(f"bodies.{name}", "is not connected to the frame.", remedy)
        for name in bodies
        if name not in reached
    ]
