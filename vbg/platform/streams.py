"""Standard streams of a command: closed ones, full ones, readers that have gone, terminals
that know no accents."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any


class Outlet(io.FileIO):
    """A descriptor to write to that never raises: what it refuses is kept in `refusal`, and
    all that follows is dropped.  So the work of a command and its exit code do not hang on
    who reads it."""

    refusal: OSError | None = None

    def write(self, content: Any) -> int:
        """Write, or note why not."""
        if self.refusal is None:
            try:
                return super().write(content) or 0
            except OSError as error:
                self.refusal = error
        return len(content)

    @property
    def complaint(self) -> str:
        """Why output was lost; empty if it was not, or if its reader had enough (`| head`)."""
        if self.refusal is None or self.refusal.errno in (errno.EPIPE, errno.ESHUTDOWN):
            return ""
        return self.refusal.strerror or str(self.refusal)


def open_standard_streams() -> tuple[Outlet, Outlet]:
    """Standard output and error as `Outlet`s, under sys.stdout and sys.stderr.

    Closed descriptors are filled first, so that no file which is opened later gets their
    numbers and the messages into it.  What the encoding cannot show is escaped.
    """
    outlets = []
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            # read-only: whatever is written there is refused, and told
            os.open(os.devnull, os.O_RDONLY if descriptor < 2 else os.O_WRONLY)
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        old = getattr(sys, name)
        encoding = old.encoding if old is not None else "utf-8"
        outlet = Outlet(descriptor, "w", closefd=False)
        stream = io.TextIOWrapper(
            io.BufferedWriter(outlet),
            encoding=encoding,
            errors="backslashreplace",
            line_buffering=name == "stderr" or os.isatty(descriptor),
        )
        setattr(sys, name, stream)
        outlets.append(outlet)
    return outlets[0], outlets[1]
