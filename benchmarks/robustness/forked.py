"""One call in a forked child of this warm process, with a limit on its processor time."""

from __future__ import annotations

import gc
import os
import pickle
import resource
import select
import signal
from collections.abc import Callable
from typing import Any

PATIENCE = 20.0  # times its processor time that a child is waited for, on a busy machine


class Stuck(Exception):
    """The child used up its processor time, or ended without an answer."""


def forked(call: Callable[[], Any], cpu: float) -> Any:
    """What `call` returns in a child that may spend `cpu` seconds.

    Raises Stuck; an exception of the call itself is raised here with its type's name and text.
    """
    gc.freeze()  # what stands already is not copied by the child's collector
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(call, cpu, read, write)
    os.close(write)
    try:
        content = _read_all(read, PATIENCE * cpu)
    finally:
        os.close(read)
        if not _ended(child):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if not content:
        raise Stuck(f"no answer within {cpu:g} s of processor time")
    fine, answer = pickle.loads(content)
    if not fine:
        raise RuntimeError(answer)
    return answer


def _answer(call: Callable[[], Any], cpu: float, read: int, write: int) -> None:
    """In the child: never returns."""
    try:
        os.close(read)
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu) + 1))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 2)
        try:
            content = pickle.dumps((True, call()))
        except BaseException as error:  # noqa: BLE001  a fault may raise anything
            content = pickle.dumps((False, f"{type(error).__name__}: {error}"[:300]))
        with os.fdopen(write, "wb") as pipe:
            pipe.write(content)
    finally:
        os._exit(0)


def _read_all(pipe: int, patience: float) -> bytes:
    found = b""
    while select.select([pipe], [], [], patience)[0]:
        part = os.read(pipe, 1 << 20)
        if not part:
            return found
        found += part
    return b""


def _ended(child: int) -> bool:
    """Whether the child is gone within a moment of closing its pipe."""
    for _ in range(100):
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        select.select([], [], [], 0.01)
    return False
