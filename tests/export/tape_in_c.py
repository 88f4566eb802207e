"""A program of vbg run by the C code that is exported: its tables handed over as they are."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from vbg.assemble.program.program import Program
from vbg.export.code import shipped
from vbg.export.compiler import compile_c, find_compiler
from vbg.export.straight import straight
from vbg.export.tables import codes, integers

INTS, DOUBLES = ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_double)


class Tape(ctypes.Structure):
    """vbg_tape of vbg_tape.h."""

    _fields_ = [
        ("words", ctypes.c_int),
        ("inputs", ctypes.c_int),
        ("first", ctypes.c_int),
        ("outputs", ctypes.c_int),
        ("segments", ctypes.c_int),
        ("segment", INTS),
        ("operand", INTS),
        ("factor", DOUBLES),
        ("stream", INTS),
        ("spare", ctypes.c_int),
        ("constants", ctypes.c_int),
        ("constant_at", INTS),
        ("constant", DOUBLES),
        ("straight", ctypes.c_void_p),
        ("factors_at", ctypes.c_int),
        ("factors", ctypes.c_int),
    ]


def library(folder: Path) -> ctypes.CDLL:
    """The tape's machine, compiled without any warning."""
    for name in ("vbg_tape.h", "vbg_tape.c", "vbg_eliminate.c"):
        (folder / name).write_text(shipped(name))
    (folder / "vbg_codes.h").write_text(codes())
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"]
    compile_c(find_compiler(), folder, ["vbg_tape.c", "vbg_eliminate.c"], folder / "tape.so", flags)
    return ctypes.CDLL(str(folder / "tape.so"))


def played(machine: ctypes.CDLL, program: Program, filled: np.ndarray, kept: np.ndarray):
    """The workspace after a run from `filled`, one whose inputs have been written."""
    ints = [
        np.ascontiguousarray(a, dtype=np.int32)
        for a in (program.segments, program.operands, program.stream)
    ]
    total = max((s.unknowns for s in program.schedules), default=0)
    dependent = int(np.count_nonzero(kept[:total] == 0.0))
    work = np.concatenate([filled, np.zeros(dependent * (total + dependent + 1))])
    factors, rows = np.ascontiguousarray(program.factors), np.ascontiguousarray(kept)
    tape = Tape(
        words=len(work),
        segments=len(program.segments),
        segment=ints[0].ctypes.data_as(INTS),
        operand=ints[1].ctypes.data_as(INTS),
        factor=factors.ctypes.data_as(DOUBLES),
        stream=ints[2].ctypes.data_as(INTS),
        spare=len(filled),
    )
    machine.vbg_run(ctypes.byref(tape), work.ctypes.data_as(DOUBLES), rows.ctypes.data_as(DOUBLES))
    return work[: len(filled)]


def straight_library(folder: Path, programs: dict[str, Program]) -> ctypes.CDLL:
    """The straight-line code of programs, each as `play_NAME(work, kept)`."""
    for name in ("vbg_tape.h", "vbg_tape.c", "vbg_eliminate.c"):
        (folder / name).write_text(shipped(name))
    (folder / "vbg_codes.h").write_text(codes())
    parts = ['#include "vbg_tape.h"', "#include <math.h>"]
    for name, program in programs.items():
        written = straight(program, name, [])
        assert written is not None, name
        parts += [integers(f"{name}_stream", program.stream), written]
        parts.append(f"void play_{name}(double *w, const double *kept);")
        parts.append(
            f"void play_{name}(double *w, const double *kept) {{ {name}_straight(w, kept); }}"
        )
    (folder / "straight.c").write_text("\n".join(parts))
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"]
    flags += ["-Wno-unused-const-variable"]
    files = ["straight.c", "vbg_tape.c", "vbg_eliminate.c"]
    compile_c(find_compiler(), folder, files, folder / "line.so", flags)
    return ctypes.CDLL(str(folder / "line.so"))


def played_straight(code: ctypes.CDLL, name: str, program: Program, filled, kept) -> np.ndarray:
    """The workspace after two runs from `filled`: the second meets what the first left."""
    total = max((s.unknowns for s in program.schedules), default=0)
    dependent = int(np.count_nonzero(kept[:total] == 0.0))
    work = np.concatenate([filled, np.zeros(dependent * (total + dependent + 1))])
    rows = np.ascontiguousarray(kept)
    for _ in range(2):
        getattr(code, f"play_{name}")(work.ctypes.data_as(DOUBLES), rows.ctypes.data_as(DOUBLES))
    return work[: len(filled)]
