"""Starting a simulation in a child process and following its messages."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

from vbg import runner
from vbg.errors import (
    AssemblyError,
    CausalityError,
    ModelError,
    Problem,
    UsageError,
    VbgError,
)
from vbg.io.runs.names import growing_file

Message = dict[str, Any]

_ERRORS: dict[str, type[VbgError]] = {
    kind.__name__: kind
    for kind in (VbgError, ModelError, CausalityError, AssemblyError, UsageError)
}


def follow(job: runner.Job, tell: Callable[[Message], None]) -> Message:
    """Run `job` in a child, hand each message to `tell`, return the last one.

    Ctrl-C cancels the run, which still ends with its partial result; a second
    one kills the child.

    Raises
    ------
    KeyboardInterrupt
        the child was killed; says what is left.
    VbgError
        the child could not run the job (its own error, of its own class), or
        it died without a word.
    """
    before = _stamp(job)
    child = subprocess.Popen(
        runner.command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=runner.environment(),
    )
    assert child.stdin is not None and child.stdout is not None
    _send(child, job.to_json())
    last: Message = {}
    interrupts = 0
    while True:
        try:
            line = child.stdout.readline()
            if not line:
                break
            last = json.loads(line)
            tell(last)
        except KeyboardInterrupt:
            interrupts += 1
            if interrupts == 1:
                tell({"kind": "stage", "stage": "stopping"})
                _send(child, '{"cmd": "cancel"}')
            else:
                child.kill()
    code = child.wait()
    kept = _kept(job, before)
    if interrupts and last.get("kind") not in ("finished", "failed"):
        when = "at once" if interrupts > 1 else "before it began"
        raise KeyboardInterrupt(f"The run was ended {when}.{kept}")
    return _checked(last, kept, code)


def _send(child: subprocess.Popen[str], line: str) -> None:
    assert child.stdin is not None
    try:
        child.stdin.write(line + "\n")
        child.stdin.flush()
    except BrokenPipeError:
        # The child is gone; the end of its messages will tell.
        return


def _checked(last: Message, kept: str, code: int) -> Message:
    if last.get("kind") == "finished":
        return last
    if last.get("kind") == "failed":
        problems = [Problem(**problem) for problem in last["problems"]]
        raise _ERRORS.get(last["error"], VbgError)(last["message"], problems)
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    raise VbgError(f"vbg: the solver's process was ended {how} before the run was over.{kept}")


def _stamp(job: runner.Job) -> tuple[int, int, int]:
    """By what a growing file is known to be that of an earlier run."""
    try:
        found = os.stat(growing_file(job.result or ""))
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _kept(job: runner.Job, before: tuple[int, int, int]) -> str:
    """Where the rows are that this run has written before its end."""
    now = _stamp(job)
    if not any(now) or now == before:
        return ""
    return f" What it had computed is in {growing_file(job.result or '')}."
