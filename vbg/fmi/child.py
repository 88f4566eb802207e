"""The process in which the native code of one FMU runs: ``python -m vbg.fmi.child``.

JSON lines on standard input, one answer each on standard output; what the FMU itself prints goes
to standard error.  The first line is the job::

    {"file", "version", "kind", "token", "identifier", "parent", "states", "indicators",
     "inputs": [[type, reference, size], ...], "outputs": ..., "values": [[type, reference, [v]]],
     "tolerance"}

then {"do": "begin", "u": [...]}, {"do": "step", "t", "h", "u", "slopes"} and {"do": "exchange",
"u"}, which answer {"y": [...]}, or {"error": what, "where": call}.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vbg.fmi.exchange import ModelExchange
from vbg.fmi.interface import CoSimulation, Unit
from vbg.platform.processes import is_alive


def _status(error: Exception) -> str:
    """What an exception of FMPy says of the call that failed."""
    status = getattr(error, "status", None)
    if status is None:
        return str(error) or type(error).__name__
    words = {1: "warning", 2: "discard", 3: "error", 4: "fatal", 5: "pending"}
    return f"{getattr(error, 'function', 'a call')} returned {words.get(status, status)}"


def _answers(job: Mapping[str, Any], folder: str, tell: Any) -> None:
    """The instance, and one answer for each line."""
    kind: type[Unit] = CoSimulation if job["kind"] == "CoSimulation" else ModelExchange
    unit = kind(job, folder)
    tell({"y": []})
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["do"] == "begin":
            unit.begin(asked["u"])
        elif asked["do"] == "step":
            if asked["u"]:
                unit.set(asked["u"])
            unit.step(asked["t"], asked["h"], asked["u"], asked["slopes"])
        else:
            unit.set(asked["u"])
        tell({"y": unit.outputs()})


def _end_with_parent(parent: int) -> None:
    """A call into native code may last for ever; its caller may be gone."""
    while is_alive(parent):
        time.sleep(1.0)
    os._exit(1)


def main() -> None:
    """Serve one unit until standard input ends."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the unit prints is no answer

    def tell(answer: Mapping[str, Any]) -> None:
        channel.write(json.dumps(answer) + "\n")
        channel.flush()

    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, args=(job["parent"],), daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="vbg-fmu-", ignore_cleanup_errors=True) as folder:
        try:
            with zipfile.ZipFile(job["file"]) as archive:
                archive.extractall(folder)
            for program in Path(folder).glob("binaries/*/*"):
                program.chmod(0o700)
            _answers(job, folder, tell)
        except BrokenPipeError:
            pass
        except Exception as error:  # noqa: BLE001  whatever it is, the parent hears of it
            tell({"error": _status(error)})
    channel.close()


if __name__ == "__main__":
    main()
    os._exit(0)  # without the library's own ideas of an ending
