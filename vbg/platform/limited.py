"""A child process that serves jobs, each within limits of processor time and memory.

Native code that reads a stranger's file may fall over it, never end, or take all memory: that
ends the child and no other process; the next job begins a new one.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from vbg.platform.processes import ended

WATCH = 0.02  # s between two looks at the child
IDLE = 60.0  # s without a job, after which the child ends
STILL = 20.0  # s without any processor time, after which a job has come to a stand


class Unserved(Exception):
    """The child was ended, or ended by itself; the message says why."""


class Server:
    """The child ``python -m module``, which calls `serve`: started when it is first asked, and
    again after it was ended.  Threads wait for one another."""

    def __init__(self, module: str):
        self._words = [sys.executable, "-P", "-m", module]
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._told: queue.Queue[str] = queue.Queue()
        self._owner, self._used = os.getpid(), 0.0

    def ask(self, job: Mapping[str, Any], *, seconds: float, memory: float) -> Any:
        """The answer to a job, which may take so much processor time and memory [bytes].

        Raises Unserved where it takes more, or the child ends by itself.
        """
        with self._lock:
            try:
                child = self._begun()
                told = json.dumps({"patience": 10.0 * seconds + STILL, "job": job})
                with suppress(BrokenPipeError):  # why it has ended is told below
                    print(told, file=child.stdin, flush=True)
                answer = json.loads(self._waited(child, seconds, memory))
            except BaseException:
                self._end()
                raise
            self._used = time.monotonic()
            return answer

    def _begun(self) -> subprocess.Popen[str]:
        if self._owner != os.getpid():  # forked since: that child is the other process's
            self._owner, self._child = os.getpid(), None
        is_fresh = time.monotonic() - self._used < 0.5 * IDLE  # it does not end just now
        if self._child is not None and is_fresh and self._child.poll() is None:
            return self._child
        self._end()
        self._told = queue.Queue()
        self._child = subprocess.Popen(
            self._words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=_environment(),
        )
        threading.Thread(target=_hear, args=(self._child, self._told), daemon=True).start()
        return self._child

    def _waited(self, child: subprocess.Popen[str], seconds: float, memory: float) -> str:
        """The child's answer, "" meaning that its output has ended."""
        import psutil

        begun = moved = None
        since = time.monotonic()
        while True:
            try:
                told = self._told.get(timeout=WATCH)
            except queue.Empty:
                told = None
            if told == "":
                raise Unserved(f"the process {ended(child.wait())}")
            if told is not None:
                return told
            with suppress(psutil.NoSuchProcess):
                seen = psutil.Process(child.pid)
                spent = sum(seen.cpu_times()[:2])
                begun = spent if begun is None else begun
                if spent != moved:
                    moved, since = spent, time.monotonic()
                if spent - begun > seconds:
                    raise Unserved(f"it takes more than {seconds:.3g} s")
                if seen.memory_info().rss > memory:
                    raise Unserved(f"it takes more than {memory / 1e9:.2g} GB of memory")
            if time.monotonic() - since > STILL:
                raise Unserved(f"nothing has happened for {STILL:g} s")

    def _end(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for stream in (self._child.stdin, self._child.stdout):
                if stream is not None:
                    with suppress(OSError, ValueError):
                        stream.close()
            self._child = None


def _hear(child: subprocess.Popen[str], told: queue.Queue[str]) -> None:
    """In a thread: the lines of the child, and "" behind them."""
    with suppress(ValueError, OSError):  # closed while it is read
        for line in child.stdout or ():
            told.put(line)
    told.put("")


def _environment() -> dict[str, str]:
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"}


def serve(act: Callable[[Any], Any]) -> None:
    """In the child: answer jobs by `act` until standard input ends, or none comes any more.

    What native code prints is no answer.  A job that goes on for ten times its limit ends the child
    though nobody has ended it: its parent was killed.
    """
    import faulthandler

    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with open(os.devnull, "w") as nowhere:
        while True:
            faulthandler.dump_traceback_later(IDLE, exit=True, file=nowhere)
            line = sys.stdin.readline()
            if not line:
                return
            asked = json.loads(line)
            faulthandler.dump_traceback_later(asked["patience"], exit=True, file=nowhere)
            channel.write(json.dumps(act(asked["job"])) + "\n")
            channel.flush()
