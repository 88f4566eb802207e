"""A solver that stays: ``python -m vbg.tui.session.serving`` does one run after the other.

Each line of standard input is a job as `vbg.runner` takes it, or ``{"cmd": "cancel"}`` for the
run under way; what happens is told as `vbg.runner` tells it.  The compiled kernels are loaded
before the first job, so that a small machine answers at once.  It ends when its input is closed.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from typing import IO, Any, cast

from vbg.runner import GRACE, SECONDS_BETWEEN_LINES, Job, lines_of, message_stream, run

# Small, and yet through the kernels that most machines need.
_SAMPLE = """\
vbg = 1
name = "sample"

[bodies.rod]
mass = 1.0
inertia = { xx = 0.1, yy = 0.1, zz = 0.1 }
points = { A = [-0.5, 0, 0] }

[joints.hinge]
kind = "revolute"
between = ["ground", "rod.A"]
axis = [0, 1, 0]

[simulate]
t_end = 0.01
output_step = 0.005
"""


class Teller:
    """Tells what a run tells, and stops it when that is wanted."""

    def __init__(self, stream: IO[str] | None, cancelled: threading.Event):
        self._stream = stream
        self._cancelled = cancelled
        self._started = time.monotonic()
        self._last = 0.0

    def tell(self, kind: str, **content: Any) -> None:
        """One line; without a stream nothing is told."""
        if self._stream is not None:
            self._stream.write(json.dumps({"kind": kind, **content}) + "\n")
            self._stream.flush()

    def has_read(self) -> None:
        """The model is read."""

    def start_clock(self) -> None:
        self._started = time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def progress(self, fraction: float, t: float) -> bool:
        """Tell how far it is; False asks the solver to stop."""
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            eta = self.elapsed * (1.0 - fraction) / fraction if fraction > 0.0 else None
            self.tell("progress", fraction=fraction, time=t, eta=eta)
        return not self._cancelled.is_set()


def main() -> int:
    """Do the jobs in their order."""
    warnings.simplefilter("ignore", RuntimeWarning)
    stream = message_stream()
    cancelled = threading.Event()
    orders: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_listen, args=(lines_of(0), orders, cancelled), daemon=True).start()
    _do(Job("sample.toml", _SAMPLE), Teller(None, threading.Event()))
    try:
        while (order := orders.get()) is not None:
            _do(Job(**json.loads(order)), Teller(stream, cancelled))
    except BrokenPipeError:
        return 1
    return 0


def _do(job: Job, teller: Teller) -> None:
    """One job; an error nobody expected ends it, not this process."""
    try:
        run(job, cast("Any", teller))
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the next run may well work
        teller.tell(
            "failed", error=type(error).__name__, message=f"{type(error).__name__}: {error}"
        )


def _listen(
    lines: Iterator[str], orders: queue.Queue[str | None], cancelled: threading.Event
) -> None:
    """Hand on the jobs; a cancel is for the run under way, and for none that comes after it."""
    for line in lines:
        if '"cmd"' in line[:8]:
            cancelled.set()
        else:
            cancelled.clear()
            orders.put(line)
    cancelled.set()
    orders.put(None)
    time.sleep(GRACE)
    os._exit(1)


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
