"""HDF5 files whose writer has not closed them, read as they are.

A file that is written in single-writer-multiple-readers mode says so in its superblock.
While its writer lives it has to be read in the same mode; HDF5 then reads a block again and
again until its checksum fits, which takes hours in a damaged file.  Once the writer is gone
that is of no use: the file is read like any other, with the mark taken off on the way (as
h5clear does in the file itself).

Superblock, version 3 (HDF5 File Format Specification, II.A): signature in bytes 0 to 7,
version in 8, status flags in 11 (bit 0 open for writing, bit 2 with readers), end of the
file in 28 to 35, which such a writer does not keep up, checksum of bytes 0 to 43 in 44 to 47,
little-endian.
"""

from __future__ import annotations

import io
import os
import struct
from pathlib import Path
from typing import Any

import h5py

from vbg.platform.locks import holder_of
from vbg.platform.processes import is_alive

SIGNATURE = b"\x89HDF\r\n\x1a\n"
SIZE = 48
VERSION, FLAGS, END = 8, 11, 28
_MASK = 0xFFFFFFFF


def opened(path: str | Path) -> h5py.File:
    """The file, open for reading; its writer may be at work, or gone without closing it."""
    with open(path, "rb") as file:
        head = file.read(SIZE)
    if len(head) < SIZE or head[:8] != SIGNATURE or head[VERSION] != 3 or not head[FLAGS]:
        return h5py.File(path, "r", libver="latest", locking=False)
    if _is_being_written(path):
        return h5py.File(path, "r", libver="latest", swmr=True)
    return h5py.File(_Closed(path, head), "r")


def _is_being_written(path: str | Path) -> bool:
    """Whether a process of this machine says that it writes the file, and lives."""
    pid = holder_of(path)
    return pid is not None and is_alive(pid)


class _Closed(io.RawIOBase):
    """The bytes of a file with the mark of its writer taken off."""

    def __init__(self, path: str | Path, head: bytes):
        self._file = open(path, "rb")  # noqa: SIM115 - closed with this
        end = struct.pack("<Q", os.fstat(self._file.fileno()).st_size)
        cleared = head[:FLAGS] + b"\0" + head[FLAGS + 1 : END] + end + head[END + 8 : 44]
        self._head = cleared + struct.pack("<I", checksum(cleared))

    def readinto(self, buffer: Any) -> int:
        """Read at the place where the file is."""
        at = self._file.tell()
        count = self._file.readinto(buffer)
        if at < SIZE:
            patch = self._head[at : at + count]
            buffer[: len(patch)] = patch
        return count

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """The place where the file is."""
        return self._file.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        """Close the file, too."""
        self._file.close()
        super().close()


def checksum(content: bytes) -> int:
    """Checksum of HDF5's metadata: lookup3 of R. Jenkins (2006), initial value 0."""
    a = b = c = (0xDEADBEEF + len(content)) & _MASK
    blocks = max(0, (len(content) - 1) // 12)
    for i in range(blocks):
        x, y, z = struct.unpack_from("<III", content, 12 * i)
        a, b, c = _mixed((a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK)
    rest = content[12 * blocks :]
    if not rest:
        return c
    x, y, z = struct.unpack("<III", rest.ljust(12, b"\0"))
    return _final((a + x) & _MASK, (b + y) & _MASK, (c + z) & _MASK)


def _turned(x: int, k: int) -> int:
    return ((x << k) | (x >> (32 - k))) & _MASK


def _mixed(a: int, b: int, c: int) -> tuple[int, int, int]:
    for k in (4, 6, 8, 16, 19, 4):
        a = ((a - c) & _MASK) ^ _turned(c, k)
        c = (c + b) & _MASK
        a, b, c = b, c, a
    return a, b, c


def _final(a: int, b: int, c: int) -> int:
    for k in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - _turned(b, k)) & _MASK
        a, b, c = b, c, a
    return b
