"""The process in which the native code of one FMU runs: ``python -m vbg.fmi.child``.

JSON lines on standard input, one answer each on standard output; what the FMU itself prints goes
to standard error.  The first line is the job::

    {"file", "folder", "version", "kind", "token", "identifier", "parent", "patience", "states",
     "indicators", "inputs": [[type, reference, size], ...], "outputs": ...,
     "values": [[type, reference, [v]]], "tolerance"}

then {"do": "begin", "u": [...]}, {"do": "step", "t", "h", "u", "slopes"} and {"do": "exchange",
"u"}, which answer {"y": [...]}, or {"error": what}.  The archive is unpacked into the folder,
which the parent removes; the child does where the parent is gone.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vbg.fmi.exchange import ModelExchange
from vbg.fmi.interface import CoSimulation, Unit
from vbg.platform.processes import is_alive

Tell = Callable[[Mapping[str, Any]], None]


def _status(error: Exception) -> str:
    """What an exception of FMPy says of the call that failed."""
    status = getattr(error, "status", None)
    if status is None:
        return str(error) or type(error).__name__
    words = {1: "warning", 2: "discard", 3: "error", 4: "fatal", 5: "pending"}
    return f"{getattr(error, 'function', 'a call')} returned {words.get(status, status)}"


LOADING = 60.0  # s of patience with it at the least: a busy machine unpacks and links slowly


@dataclass
class Watch:
    """Ends this process when its parent is gone, or when the unit has kept it waiting too long: a
    call into native code may last for ever.  `since`: when the call began, None between calls;
    `patience` [s] with it."""

    job: Mapping[str, Any]
    tell: Tell
    patience: float
    since: float | None = None

    def keep(self) -> None:
        """In a thread of its own; ctypes lets go of the interpreter in every call."""
        while is_alive(self.job["parent"]):
            time.sleep(min(1.0, 0.2 * self.job["patience"]))
            patience, since = self.patience, self.since  # once, in this order: the other sets them
            if since is not None and time.monotonic() - since > patience:
                self.tell({"error": f"it gave no answer for {patience:g} s (its patience)"})
                os._exit(1)
        shutil.rmtree(self.job["folder"], ignore_errors=True)
        os._exit(1)


def _answers(job: Mapping[str, Any], tell: Tell, watch: Watch) -> None:
    """The instance, and one answer for each line."""
    kind: type[Unit] = CoSimulation if job["kind"] == "CoSimulation" else ModelExchange
    unit = kind(job, job["folder"])
    tell({"y": []})
    watch.since, watch.patience = None, job["patience"]
    for line in sys.stdin:
        watch.since = time.monotonic()
        asked = json.loads(line)
        if asked["do"] == "begin":
            unit.begin(asked["u"])
        elif asked["do"] == "step":
            if asked["u"]:
                unit.set(asked["u"])
            unit.step(asked["t"], asked["h"], asked["u"], asked["slopes"])
        else:
            unit.set(asked["u"])
        told = {"y": unit.outputs()}
        watch.since = None
        tell(told)


def main() -> None:
    """Serve one unit until standard input ends."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the unit prints is no answer

    def tell(answer: Mapping[str, Any]) -> None:
        channel.write(json.dumps(answer) + "\n")
        channel.flush()

    job = json.loads(sys.stdin.readline())
    watch = Watch(job, tell, max(job["patience"], LOADING), time.monotonic())
    threading.Thread(target=watch.keep, daemon=True).start()
    try:
        with zipfile.ZipFile(job["file"]) as archive:
            archive.extractall(job["folder"])
        for program in Path(job["folder"]).glob("binaries/*/*"):
            program.chmod(0o700)
        _answers(job, tell, watch)
    except BrokenPipeError:
        pass
    except Exception as error:  # noqa: BLE001  whatever it is, the parent hears of it
        tell({"error": _status(error)})
    channel.close()


if __name__ == "__main__":
    main()
    os._exit(0)  # without the library's own ideas of an ending
