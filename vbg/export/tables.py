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


def tape(name: str, program: Program, dependent: int, straight: str = "0") -> str:
    """The tables of a program, and the value `NAME` that has them."""
    spare = len(program.workspace)
    unknowns = max((s.unknowns for s in program.schedules), default=0)
    columns = any(s.matrix for s in program.schedules)
    words = spare + (dependent * (unknowns + dependent + 1) if columns else 0)
    filled = np.flatnonzero(program.workspace)
    first, count = _outputs(program)
    inputs = sum(rows * cols for _, rows, cols in program.inputs.values())
    tables = "" if straight != "0" else _tables(name, program)
    parts = (
        "0, 0, 0, 0, 0"
        if straight != "0"
        else (
            f"{len(program.segments)}, {name}_segment, {name}_operand, {name}_factor, {name}_stream"
        )
    )
    if straight != "0":
        tables = integers(f"{name}_stream", program.stream)
        parts = f"0, 0, 0, 0, {name}_stream"
    return (
        tables
        + integers(f"{name}_constant_at", filled)
        + doubles(f"{name}_constant", program.workspace[filled])
        + f"static const vbg_tape {name} = {{\n"
        + f"    {words}, {inputs}, {first}, {count}, {parts},\n"
        + f"    {spare}, {len(filled)}, {name}_constant_at, {name}_constant, {straight}}};\n"
    )


def _tables(name: str, program: Program) -> str:
    return (
        integers(f"{name}_segment", program.segments.ravel())
        + integers(f"{name}_operand", program.operands.ravel())
        + doubles(f"{name}_factor", program.factors)
        + integers(f"{name}_stream", program.stream)
    )


def _outputs(program: Program) -> tuple[int, int]:
    """First word of the outputs and their number."""
    spans = list(program.outputs.values())
    if not spans:
        return 0, 0
    at, rows, cols = spans[-1]
    return spans[0][0], at + rows * cols - spans[0][0]
