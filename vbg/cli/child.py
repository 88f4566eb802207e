"""Starting a simulation in a child process and following its messages."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
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
from vbg.io.names import growing_file

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
    if interrupts > 1 and last.get("kind") != "finished":
        raise KeyboardInterrupt(f"The run was ended at once.{_kept(job)}")
    return _checked(last, job, code)


def _send(child: subprocess.Popen[str], line: str) -> None:
    assert child.stdin is not None
    try:
        child.stdin.write(line + "\n")
        child.stdin.flush()
    except BrokenPipeError:
        # The child is gone; the end of its messages will tell.
        return


def _checked(last: Message, job: runner.Job, code: int) -> Message:
    if last.get("kind") == "finished":
        return last
    if last.get("kind") == "failed":
        problems = [Problem(**problem) for problem in last["problems"]]
        raise _ERRORS.get(last["error"], VbgError)(last["message"], problems)
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    raise VbgError(
        f"vbg: the solver's process was ended {how} before the run was over.{_kept(job)}"
    )


def _kept(job: runner.Job) -> str:
    """Where the rows are that were written before the end."""
    growing = growing_file(job.result or "")
    return f" What it had computed is in {growing}." if Path(growing).is_file() else ""
