"""C arrays: numbers that read back as they are, in lines of a width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from vbg.assemble.program.lower import FUNCTION_CODES
from vbg.assemble.program.program import Op, Program

WIDTH = 98


def number(value: float) -> str:
    """A double that reads back as it is."""
    if np.isnan(value):
        return "NAN"
    if np.isinf(value):
        return "INFINITY" if value > 0.0 else "-INFINITY"
    return repr(float(value))


def remark(value: str) -> str:
    """`value` inside a comment, which it must not end."""
    one = "".join(char if char.isprintable() else " " for char in value)
    whole = one.replace("\\", "/").replace("??", "? ?")
    return whole.replace("*/", "* /").replace("/*", "/ *")


def text(value: str) -> str:
    """A string constant; what is no ASCII letter is written as UTF-8 octets."""
    out = []
    for octet in value.encode():
        char = chr(octet)
        plain = 32 <= octet < 127 and char not in '"\\?'
        out.append(char if plain else f"\\{octet:03o}")
    return f'"{"".join(out)}"'


def array(kind: str, name: str, items: Iterable[str]) -> str:
    """`static const KIND NAME[] = {...};`, with one zero where there is nothing."""
    written = list(items) or ["0"]
    body = "\n".join(_lines(written))
    return f"static const {kind} {name}[{len(written)}] = {{\n{body}\n}};\n"


def _lines(items: Sequence[str]) -> list[str]:
    lines, line = [], "   "
    for item in items:
        if len(line) + len(item) + 2 > WIDTH:
            lines.append(line)
            line = "   "
        line += f" {item},"
    lines.append(line.rstrip(","))
    return lines


def doubles(name: str, values: Iterable[float]) -> str:
    return array("double", name, map(number, values))


def integers(name: str, values: Iterable[int]) -> str:
    return array("int", name, (str(int(v)) for v in values))


def strings(name: str, values: Iterable[str]) -> str:
    return array("char *const", name, map(text, values))


def codes() -> str:
    """The numbers of operations and scalar functions, as the tape has them."""
    names = {op.name: int(op) for op in Op} | {n.upper(): c for n, c in FUNCTION_CODES.items()}
    lines = "\n".join(f"#define VBG_{name} {code}" for name, code in names.items())
    return f"""/* Operations of a tape and scalar functions. */
#ifndef VBG_CODES_H
#define VBG_CODES_H

{lines}

#endif
"""


def tape(name: str, program: Program, dependent: int, straight: str, *, follows: bool) -> str:
    """The value `NAME` of a program, with its tables or the function `straight`; `follows`: its
    factors stand in the workspace, where parameters change them."""
    spare, words = len(program.workspace), words_of(program, dependent)
    at = words if follows else 0
    words += len(program.factors) if follows else 0
    filled = np.flatnonzero(program.workspace)
    first, count = _outputs(program)
    inputs = sum(rows * cols for _, rows, cols in program.inputs.values())
    played = f"{len(program.segments)}, {name}_segment, {name}_operand, {name}_factor"
    return (
        integers(f"{name}_stream", program.stream)
        + (straight or _tables(name, program))
        + integers(f"{name}_constant_at", filled)
        + doubles(f"{name}_constant", program.workspace[filled])
        + f"static const vbg_tape {name} = {{\n"
        + f"    {words}, {inputs}, {first}, {count},\n"
        + f"    {'0, 0, 0, 0' if straight else played}, {name}_stream,\n"
        + f"    {spare}, {len(filled)}, {name}_constant_at, {name}_constant,\n"
        + f"    {f'{name}_straight' if straight else '0'},\n"
        + f"    {at}, {len(program.factors)}}};\n"
    )


def words_of(program: Program, dependent: int) -> int:
    """Words of the workspace with those for the smallest solutions, before any factors."""
    unknowns = max((s.unknowns for s in program.schedules), default=0)
    columns = any(s.matrix for s in program.schedules)
    return len(program.workspace) + (dependent * (unknowns + dependent + 1) if columns else 0)


def _tables(name: str, program: Program) -> str:
    return (
        integers(f"{name}_segment", program.segments.ravel())
        + integers(f"{name}_operand", program.operands.ravel())
        + doubles(f"{name}_factor", program.factors)
    )


def _outputs(program: Program) -> tuple[int, int]:
    """First word of the outputs and their number."""
    spans = list(program.outputs.values())
    if not spans:
        return 0, 0
    at, rows, cols = spans[-1]
    return spans[0][0], at + rows * cols - spans[0][0]
