"""Signals beside one another, and what exported programs print."""

import subprocess

import numpy as np

from vbg.export import write_code
from vbg.export.compiler import compile_c, find_compiler
from vbg.plumbing.components import vector_of

WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"]


def compiled(start, folder, *options, **given):
    """The program of a machine, compiled without any warning; `given` to `write_code`."""
    options = options or ("-O1",)  # finds what is used before it is written
    files = [path.name for path in write_code(start, folder, **given) if path.suffix == ".c"]
    compile_c(find_compiler(), folder, files, folder / "machine", [*options, *WARNINGS])
    return folder / "machine"


def table(program, *given):
    """Columns of what a program prints, by signal."""
    done = subprocess.run([program, *map(str, given)], capture_output=True, text=True, check=True)
    header, *lines = done.stdout.splitlines()
    names = [title.rpartition(" [")[0] for title in header.split(",")]
    return dict(zip(names, np.array([line.split(",") for line in lines], dtype=float).T))


def family(signal):
    """What it is, without whose and which component."""
    return vector_of(signal).rpartition(".")[2]


def family_peaks(columns):
    """The largest value of all signals of a kind: single ones may be zero but for rounding."""
    peaks = {}
    for name, values in columns.items():
        peaks[family(name)] = max(peaks.get(family(name), 0.0), np.abs(values).max())
    energies = ("kinetic", "potential", "stored", "supplied", "dissipated")
    most = max(peaks[e] for e in energies)
    return {**peaks, **dict.fromkeys(energies, most)}
