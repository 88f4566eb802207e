"""A progress bar with the time that is left, on a terminal only."""

from __future__ import annotations

import sys
from typing import Any

from vbg.cli.text import bar, duration

CLEAR = "\r\x1b[K"


class ProgressLine:
    """One line on standard error that follows the messages of a run.

    Silent where standard error is not a terminal, or when asked to be.
    """

    def __init__(self, *, quiet: bool):
        self._stream = sys.stderr
        self._shown = not quiet and self._stream.isatty()
        self._stage = ""

    def tell(self, message: dict[str, Any]) -> None:
        """Show `message`; the last one of a run clears the line."""
        if not self._shown:
            return
        if message["kind"] == "stage":
            self._stage = message["stage"]
            line = f"{self._stage} ..."
        elif message["kind"] == "progress":
            line = f"{self._stage} {progress(message)}"
        else:
            line = ""
        self._stream.write(CLEAR + line)
        self._stream.flush()


def progress(message: dict[str, Any]) -> str:
    """[#####.....]  52 %  t = 0.52 s, 1.3 s left"""
    fraction, eta = message["fraction"], message["eta"]
    left = "" if eta is None else f", {duration(eta)} left"
    return f"{bar(fraction)} {100.0 * fraction:3.0f} %  t = {message['time']:.4g} s{left}"
