"""Jobs in child processes, all at once, and in this process, one after the other."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from vbg.errors import UsageError
from vbg.platform.processes import ended
from vbg.validate.child import Answer, Job, restored, solve

Tell = Callable[[str, float], None]
Run = Callable[[Mapping[str, Job], Tell | None], dict[str, Answer]]


def here(jobs: Mapping[str, Job], progress: Tell | None) -> dict[str, Answer]:
    """Run the jobs one after the other in this process."""

    def teller(name: str) -> Callable[[float], None]:
        return lambda fraction: progress(name, fraction) if progress is not None else None

    return {name: solve(job, teller(name)) for name, job in jobs.items()}


def in_children(jobs: Mapping[str, Job], progress: Tell | None) -> dict[str, Answer]:
    """Run each job in a child of its own, all at once; what ended a child is its answer."""
    with tempfile.TemporaryDirectory(prefix="vbg-validate-") as folder:
        children = {name: _start(job, Path(folder), name) for name, job in jobs.items()}
        listeners = [
            threading.Thread(target=_listen, args=(child.stdout, name, progress), daemon=True)
            for name, child in children.items()
        ]
        for listener in listeners:
            listener.start()
        try:
            answers = {
                name: _answer(child, jobs[name], Path(folder) / f"{name}.answer")
                for name, child in children.items()
            }
        finally:
            for child in children.values():
                if child.poll() is None:
                    child.terminate()
        for listener in listeners:
            listener.join()
    return answers


def _answer(child: subprocess.Popen[str], job: Job, file: Path) -> Answer:
    """What the child found, or why it found nothing."""
    errors = child.stderr.read() if child.stderr else ""
    code = child.wait()
    if code == 0 and file.exists():
        return restored(pickle.loads(file.read_bytes()))
    if hasattr(signal, "SIGPROF") and code == -signal.SIGPROF:
        why = f"one step or the start took more than {job.patience:.4g} s of processor time"
    else:
        words = " ".join(errors.strip().splitlines()[-1:])[-500:] or "none"
        why = f"its process {ended(code)}. Its last words: {words}"
    return Answer(error=UsageError(f"It was ended, {why}."))


def _start(job: Job, folder: Path, name: str) -> subprocess.Popen[str]:
    """A child at work on the job."""
    file = folder / f"{name}.job"
    file.write_bytes(pickle.dumps(job))
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return subprocess.Popen(
        [
            sys.executable,
            "-P",
            "-m",
            "vbg.validate.child",
            str(file),
            str(folder / f"{name}.answer"),
        ],
        stdin=subprocess.PIPE,  # closed when this process ends, however: then the child ends, too
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # two runs side by side: threads of a small product of matrices only wait for each other
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "OPENBLAS_NUM_THREADS": "1"},
    )


def _listen(stream: IO[str] | None, name: str, progress: Tell | None) -> None:
    """Pass on what a child tells."""
    for line in stream or ():
        if progress is not None and line.startswith("{"):
            progress(name, float(json.loads(line)["fraction"]))
