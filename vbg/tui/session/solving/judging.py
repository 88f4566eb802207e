"""Both solvers on one model in a process of its own: ``python -m vbg.tui.session.solving.judging``.

The order is one JSON object on the first line of standard input::

    {"model": "crank.toml", "text": "...", "vbg": "1.h5", "mstmm": "2.h5", "stem": ".../0001",
     "scratch": "..."}

with the files for the results, what the files of further evidence begin with, and a folder
for what is temporary.  What happens is told in JSON lines::

    {"kind": "progress", "solver": "vbg" | "mstmm", "fraction": 0.4}
    {"kind": "finished", "vbg": {...}, "mstmm": {...}, "machine", "evidence": {...}}
    {"kind": "failed", "message"}

A line on standard input, or its end, ends this process at once, at whatever it is; the
solvers end with it, for they hear that their standard input was closed.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Mapping
from typing import Any

from vbg.runner import lines_of, message_stream

STOPPED = 130


def main() -> int:
    """Validate the model of the order."""
    global _STREAM
    _STREAM = message_stream()
    lines = lines_of(0)
    order = json.loads(next(lines))
    # all that is temporary is here, so that ending at once leaves nothing behind
    tempfile.tempdir = order["scratch"]
    os.makedirs(order["scratch"], exist_ok=True)
    threading.Thread(target=_end_on_word, args=(lines, order["scratch"]), daemon=True).start()
    code = _run(order)
    shutil.rmtree(order["scratch"], ignore_errors=True)
    return code


def _end_on_word(lines: Any, scratch: str) -> None:
    """End when a word comes or the parent is gone, and leave nothing behind.

    No exception is thrown into the main thread: there are places, callbacks of weak
    references for one, where it would be lost or break what is half done.
    """
    next(lines, "")
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(STOPPED)


def _run(order: Mapping[str, str]) -> int:
    from vbg.errors import VbgError
    from vbg.io import toml
    from vbg.tui.session.validation import keep_evidence, machine_of
    from vbg.validate import validate

    def progress(solver: str, fraction: float) -> None:
        _tell("progress", solver=solver, fraction=fraction)

    try:
        model = toml.parse(order["text"], order["model"])
        report = validate(model, progress=progress)
    except VbgError as error:
        _tell("failed", message=str(error))
        return 1
    evidence = report.evidence
    if evidence is None:
        _tell("failed", message=report.verdict.sentence)
        return 1
    _tell(
        "finished",
        vbg=_written(evidence.first, order["vbg"], order["text"]),
        mstmm=_written(evidence.second, order["mstmm"], order["text"]),
        machine=machine_of(model),
        evidence=keep_evidence(evidence, order["stem"], order["text"]),
    )
    return 0


def _written(solution: Any, file: str, text: str) -> dict[str, Any]:
    """Write a solution where the order says; how it ended."""
    from vbg.io.runs import hdf5
    from vbg.io.runs.ending import to_plain

    if len(solution.time):
        hdf5.write(solution, file, text)
    return to_plain(solution)


_WRITING = threading.Lock()
_STREAM: Any = sys.stdout


def _tell(kind: str, **content: Any) -> None:
    """One line on standard output; both solvers are listened to, each by a thread."""
    with _WRITING:
        print(json.dumps({"kind": kind, **content}), file=_STREAM, flush=True)


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # at once: the thread above waits for ever
