"""Bytes from which the keys of blocks are made, each made once."""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def identity_bytes(size: int) -> bytes:
    """Content of a constant identity matrix."""
    return np.eye(size).tobytes()


@cache
def head(op: str, rows: int, cols: int) -> bytes:
    """What stands before the data and arguments of a node."""
    return f"{op}|{rows}|{cols}|".encode()
