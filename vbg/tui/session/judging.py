"""Both solvers on one model in a process of its own: ``python -m vbg.tui.session.judging``.

The order is one JSON object on the first line of standard input::

    {"model": "crank.toml", "text": "...", "vbg": "1.h5", "mstmm": "2.h5", "coarse": "2c.h5"}

with the files for the results.  What happens is told in JSON lines::

    {"kind": "progress", "solver": "vbg" | "mstmm", "fraction": 0.4}
    {"kind": "finished", "vbg": {...}, "mstmm": {...}, "notes", "replayed", "least"}
    {"kind": "failed", "message"}

A line on standard input, or its end, stops this process and its solvers.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STOPPED = 130


def main() -> int:
    """Validate the model of the order; 130 if it was stopped."""
    order = json.loads(sys.stdin.readline())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=_stop_on_word, daemon=True).start()
    try:
        return _run(order)
    except KeyboardInterrupt:
        return STOPPED


def _stop_on_word() -> None:
    """Interrupt the main thread, wherever it waits, when a word comes or the parent is gone."""
    sys.stdin.readline()
    main_thread = threading.main_thread().ident
    if main_thread is not None:
        signal.pthread_kill(main_thread, signal.SIGINT)


def _run(order: Mapping[str, str]) -> int:
    from vbg.errors import VbgError
    from vbg.io import toml
    from vbg.validate import validate

    def progress(solver: str, fraction: float) -> None:
        _tell("progress", solver=solver, fraction=fraction)

    try:
        report = validate(toml.parse(order["text"], order["model"]), progress=progress)
    except VbgError as error:
        _tell("failed", message=str(error))
        return 1
    evidence = report.evidence
    assert evidence is not None
    _tell(
        "finished",
        vbg=_written(evidence.first, order["vbg"], order["text"]),
        mstmm=_written(evidence.second, order["mstmm"], order["text"]),
        coarse=_written(evidence.coarser, order["coarse"], order["text"]),
        notes=list(evidence.notes),
        replayed=sorted(evidence.replayed),
        least=evidence.least,
    )
    return 0


def _written(solution: Any, file: str, text: str) -> dict[str, Any] | None:
    """Write a solution where the order says; how it ended."""
    from vbg.io import hdf5
    from vbg.io.ending import to_plain

    if solution is None:
        return None
    if len(solution.time):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        hdf5.write(solution, file, text)
    return to_plain(solution)


_WRITING = threading.Lock()


def _tell(kind: str, **content: Any) -> None:
    """One line on standard output; both solvers are listened to, each by a thread."""
    with _WRITING:
        print(json.dumps({"kind": kind, **content}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
