"""Processes that end: with their parent, with their children, on request.

psutil and multiprocessing are loaded where they are needed: every command loads this module.
"""

from __future__ import annotations

import _thread
import contextlib
import inspect
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

END_REQUESTS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    if hasattr(signal, name)
)
"""Signals by which a user or the system asks a process to end."""

FAULTS = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGTRAP")
"""Signals that a process gets for what its own code did."""

WATCH = 0.02  # s between two looks at a child, or at an import


def on_end_request(answer: Callable[[], None]) -> None:
    """Call `answer` on every request to end; only from the main thread."""
    _handle(lambda *_: answer())


def _handle(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in END_REQUESTS:
        # what a parent has told to be ignored (nohup) stays ignored
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def interrupt_on_end_request() -> None:
    """Every request to end is a KeyboardInterrupt, as Ctrl-C is; one that comes while something
    is imported, as soon as that is there.

    Compiled modules that import others make an ImportError of their own of it, and what was
    half loaded would stay so.  What is imported below the caller already, its own program, does
    not count.
    """
    outer, waiting = _imports(inspect.currentframe()), False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal waiting
        if _imports(frame) <= outer:
            raise KeyboardInterrupt
        if not waiting:
            waiting = True
            threading.Thread(target=once_more, args=(number,), daemon=True).start()

    def once_more(number: int) -> None:
        nonlocal waiting
        time.sleep(WATCH)
        waiting = False
        _thread.interrupt_main(signal.Signals(number))

    _handle(interrupt)


def _imports(frame: FrameType | None) -> int:
    """How many frames of the import system there are up from `frame`."""
    found = 0
    while frame is not None:
        found += frame.f_globals.get("__name__") == "importlib._bootstrap"
        frame = frame.f_back
    return found


def limit_processor_time(seconds: float) -> None:
    """The system ends this process once it has spent so much more processor time; nothing
    where a system has no such limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def end_with_parent() -> None:
    """In a worker of multiprocessing: end at once when its parent is gone, however it went."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def of_its_own() -> dict[str, Any]:
    """Arguments for subprocess under which the child does not hear the terminal's Ctrl-C."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def end_tree(pid: int, *, kill: bool) -> None:
    """Ask a process and all that it started to end, or kill them."""
    import psutil

    try:
        process = psutil.Process(pid)
        family = [*process.children(recursive=True), process]
    except psutil.NoSuchProcess:
        return
    for member in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            if kill:
                member.kill()
            else:
                member.terminate()


def is_alive(pid: int) -> bool:
    """Whether there is such a process, and it is more than a remainder nobody has waited for."""
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def ended(code: int) -> str:
    """How a process with this exit code came to its end: a negative one is a signal."""
    names = {-one: one.name for one in signal.Signals}
    if code not in names:
        return f"ended with code {code}"
    if names[code] in FAULTS:
        cause = "a fault in compiled code"
    elif names[code] == "SIGKILL":
        cause = "by the system, perhaps for want of memory"
    else:
        cause = "from outside"
    return f"was ended by the signal {names[code]}, {cause}"


def run_within(words: list[str], *, seconds: float, memory: int) -> tuple[str, str]:
    """Run a command that may take so much processor time and memory [bytes]: what it says on
    standard output, and why it did not end well, "" where it did."""
    import psutil

    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.DEVNULL
        )
        why = ""
        try:
            while child.poll() is None and not why:
                with contextlib.suppress(psutil.NoSuchProcess):
                    seen = psutil.Process(child.pid)
                    if sum(seen.cpu_times()[:2]) > seconds:
                        why = f"it takes more than {seconds:g} s"
                    elif seen.memory_info().rss > memory:
                        why = f"it takes more than {memory / 1e9:g} GB of memory"
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(WATCH)
        finally:
            child.kill()
            child.wait()
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
    if not why and child.returncode != 0:
        why = f"the process {ended(child.returncode)}"
    return text, why
