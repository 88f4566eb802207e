"""A solver that stays: ``python -m vbg.tui.session.solving.serving`` does one run after the other.

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

from vbg.runner import GRACE, Job, Teller, lines_of, message_stream, run

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
        run(job, teller)
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
