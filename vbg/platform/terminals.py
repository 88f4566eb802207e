"""The terminal that vbg was started from, its keys read one by one; not every system has one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from vbg.errors import UsageError

try:
    import termios
    import tty
except ImportError:  # Windows
    HAS_CBREAK = False
else:
    HAS_CBREAK = True


@contextmanager
def cbreak() -> Iterator[int | None]:
    """The descriptor of the terminal, whose input comes byte by byte and is not echoed; it is as
    it was afterwards.  None where the system has no such thing (`HAS_CBREAK`).

    Raises UsageError where the process has no terminal.
    """
    if not HAS_CBREAK:
        yield None
        return
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError as error:
        raise UsageError(f"there is no terminal to show pictures on: {error.strerror}.") from None
    try:
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal)
            yield terminal
        finally:
            termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
    finally:
        os.close(terminal)
