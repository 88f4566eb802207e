"""Tables of numbers in .npy files, the format of `numpy.save` (NumPy Enhancement Proposal 1):

    \\x93NUMPY  1 0  length (2 bytes)  {'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }

and the numbers behind it.  NumPy's own reader allocates what a header claims and falls over headers
that are none (OverflowError, TypeError, TokenError); a stranger's file is read here instead: what
it claims is held against its size before anything is allocated.
"""

from __future__ import annotations

import ast
import os
import re
from math import prod
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

MAGIC = b"\x93NUMPY\x01\x00"
LONGEST = 1000  # characters of a header; that of two dimensions has about 70
MOST = 9_000_000  # entries: 3000 freedoms squared, 72 MB
REAL = re.compile(r"[<>=|]?(f[248]|[iu][1248])", re.ASCII)


def read_npy(path: str, width: int = 0) -> NDArray[np.float64]:
    """The (rows, columns) of a file, `width` columns (0: any).

    Raises ValueError, with what is wrong with it in a clause, and OSError."""
    with open(path, "rb") as file:
        kind, by_columns, shape = _header(file)
        wanted = f"rows of {width}" if width else f"two dimensions of at most {MOST} entries"
        count = prod(shape)
        if len(shape) != 2 or not 0 < count <= MOST or (width and shape[1] != width):
            raise ValueError(f"it has the shape {shape}; needed are {wanted}")
        if os.fstat(file.fileno()).st_size - file.tell() != count * kind.itemsize:
            raise ValueError("it is longer or shorter than its header says")
        found = np.frombuffer(file.read(count * kind.itemsize), kind)
    return found.reshape(shape, order="F" if by_columns else "C").astype(float)


def _header(file: BinaryIO) -> tuple[np.dtype[Any], bool, tuple[int, ...]]:
    """Kind of number, whether columns come before rows, shape."""
    if file.read(len(MAGIC)) != MAGIC:
        raise ValueError("it does not begin as numpy.save writes arrays of numbers")
    length = int.from_bytes(file.read(2), "little")
    if length > LONGEST:
        raise ValueError(f"its header has {length} characters")
    try:
        header = ast.literal_eval(file.read(length).decode("latin-1").strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        header = None
    if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
        raise ValueError("its header says no kind, order and shape")
    kind, by_columns, shape = header["descr"], header["fortran_order"], header["shape"]
    if not isinstance(kind, str) or REAL.fullmatch(kind) is None:
        raise ValueError("it holds no real numbers")
    if not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("its shape is none")
    return np.dtype(kind), by_columns is True, shape
