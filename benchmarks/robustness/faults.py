"""Faults: processes killed, asked to end, writing at once and onto a full disk.

    python -m benchmarks.robustness.faults [--count N] [--seed S] [--jobs J] [--log FILE]
                                           [--at-most M]

`count` kill -9 over run to .h5, .csv and .json, sweep, optimise and validate, at random
moments after the first row; three tenths as many requests to end (SIGINT, SIGTERM, SIGHUP) at
any moment; two writers; a full disk, where a small tmpfs can be mounted.  After each: every row
that was there is there still, a file that is not whole says so, a study goes on to the rows of
an undisturbed one, no process is left, after a request nothing temporary either, exit codes
are as documented.  A request that comes before vbg's first line has run, which the system's mask of
signals tells, may end the interpreter in its own way; the table counts those apart.  Each try is
printed as it ends and kept in the log, from which the same command goes on; at the end a table, in
which "wrong" has to be 0 everywhere.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from vbg.errors import UsageError
from vbg.io.runs.names import growing_file
from vbg.io.runs.results import read

MODEL = Path(__file__).parents[2] / "examples" / "slider-crank.toml"
VBG = [sys.executable, "-m", "vbg.cli"]
PATIENCE = 60.0  # seconds in which all children of a killed process have to be gone
START = 90.0  # seconds until the first row, at most
KINDS = ("run .h5", "run .csv", "run .json", "sweep -j 2", "optimise", "validate")
REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Work:
    """A command, and the file that it writes (none: validate)."""

    words: list[str]
    file: Path | None

    @property
    def is_study(self) -> bool:
        return self.words[0] in ("sweep", "optimise")


@dataclass(frozen=True)
class Try:
    """One fault: its name, what was hit when, and what went wrong."""

    name: str
    how: str
    wrong: list[str]


@dataclass(frozen=True)
class Struck:
    """What was wrong after a signal, and whether it came before vbg's first line."""

    wrong: list[str]
    early: bool


def work_of(kind: str, folder: Path) -> Work:
    """The command of a kind, writing into `folder`."""
    span = ["--t-end", "1", "--output-step", "1e-4"]
    study = ["--measure", "max(A.speed)", "--t-end", "0.05", "--vary", "r=0.03:0.05:6"]
    verb, _, rest = kind.partition(" ")
    file = folder / {"run": f"a{rest}", "sweep": "s.csv"}.get(verb, "o.csv")
    if verb == "validate":
        return Work([verb, str(MODEL), "--t-end", "0.05"], None)
    if verb == "run":
        return Work([verb, str(MODEL), *span, "-o", str(file)], file)
    more = ["-j", "2"] if verb == "sweep" else ["--evaluations", "8"]
    return Work([verb, str(MODEL), *study, *more, "-o", str(file)], file)


@contextmanager
def started(words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """The command at work; ended on the way out, whatever happens."""
    child = subprocess.Popen(
        [*VBG, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def family(pid: int) -> list[psutil.Process]:
    """The process's children, all of them."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def rows(work: Work) -> list[str]:
    """What a work has written so far, a line for each whole row: of a study the rows
    themselves, of a run as many as there are in the file that grows, or in the whole one."""
    if work.file is None:
        return []
    if work.is_study:
        if not work.file.exists():
            return []
        return work.file.read_text(encoding="utf-8").split("\n")[:-1]
    for file in (work.file, Path(growing_file(str(work.file)))):
        if file.exists():
            return ["row"] * len(read(file).time)
    return []


def await_first_row(work: Work, process: subprocess.Popen[str]) -> None:
    """Until something is in the file; a validation writes none."""
    until = time.monotonic() + START
    least = 2 if work.is_study else 1
    while process.poll() is None and time.monotonic() < until and work.file is not None:
        with suppress(UsageError, FileNotFoundError):
            if len(rows(work)) >= least:
                return
        time.sleep(0.02)


def lost(work: Work, before: list[str]) -> list[str]:
    """What is wrong with what a disturbed command left."""
    if work.file is None:
        return []
    try:
        after = rows(work)
    except UsageError as error:
        return [f"unreadable: {error}"]
    if work.is_study:
        table = list(csv.reader(after))
        cut = any(len(line) != len(table[0]) for line in table)
        return ["a row is cut"] * cut + ["a row is gone"] * bool(set(before) - set(after))
    return [f"{len(before)} rows before, {len(after)} after"] * (len(after) < len(before))


def unmarked(work: Work, code: int | None) -> list[str]:
    """Files of a run that did not end well, and that read as whole."""
    if work.file is None or work.is_study or code == 0:
        return []
    return [
        f"{file.name} reads as finished"
        for file in (work.file, Path(growing_file(str(work.file))))
        if file.exists() and read(file).status.code == "finished" and len(read(file).time) < 10001
    ]


def has_begun(pid: int) -> bool:
    """Whether vbg's first line has run in a process of Python: it is the first that catches
    SIGHUP, which the mask of the system shows (Linux; elsewhere it counts as begun)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return True
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGHUP - 1) & 1)


def strike(work: Work, number: int, delay: float, *, child: bool, after_row: bool) -> Struck:
    """Send a signal to a command (or to a child of it); what was wrong.  A request to end that
    comes before vbg's first line is the interpreter's: it may end by that signal."""
    wrong = []
    with started(work.words) as process:
        if after_row:
            await_first_row(work, process)
        time.sleep(delay)
        members = family(process.pid)
        before: list[str] = []
        with suppress(UsageError, FileNotFoundError):
            before = rows(work)
        aim = members[-1].pid if child and members else process.pid
        early = number != signal.SIGKILL and not has_begun(process.pid)
        with suppress(ProcessLookupError):
            os.kill(aim, number)
        try:
            _, said = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return Struck([f"did not end after signal {number}"], early)
        if "Traceback" in said and not early:
            wrong.append(f"traceback: {said.strip().splitlines()[-1][:120]}")
        allowed = {0, 130} if number != signal.SIGKILL else {0, 1} if child else {0, -9}
        if early:  # by the signal, or with the traceback of what it was loading
            allowed |= {-number, 1} if "KeyboardInterrupt" in said else {-number}
        if process.returncode not in allowed and not (child and process.returncode == -9):
            wrong.append(f"code {process.returncode}: {said.strip()[-120:]}")
        if psutil.wait_procs(members, timeout=PATIENCE)[1]:
            wrong.append("a child goes on")
    if number != signal.SIGKILL and work.file is not None:
        left = [f.name for f in work.file.parent.iterdir() if f.name.startswith(".")]
        wrong += [f"left behind: {', '.join(left)}"] * bool(left)
    return Struck([*wrong, *lost(work, before), *unmarked(work, process.returncode)], early)


def once_more(work: Work, wanted: dict[str, list[str]], kind: str) -> list[str]:
    """Run a disturbed command again to its end: it is as if nothing had been."""
    done = subprocess.run([*VBG, *work.words], capture_output=True, text=True)
    if done.returncode != 0:
        return [f"again: code {done.returncode}, {done.stderr.strip()[-120:]}"]
    if work.file is None:
        return []
    left = [f.name for f in work.file.parent.iterdir() if f.name.startswith(".")]
    wrong = [f"left behind: {', '.join(left)}"] * bool(left)
    if sorted(rows(work)) != wanted[kind]:
        wrong.append("other rows than undisturbed")
    return wrong


def two_writers(kind: str, folder: Path) -> list[str]:
    """Two commands that write one file: one does, the other is refused with code 2."""
    work = work_of(kind, folder)
    with started(work.words) as first, started(work.words) as second:
        codes = sorted((first.wait(300), second.wait(300)))
    wrong = [] if codes == [0, 2] else [f"codes {codes}"]
    return [*wrong, *lost(work, [])]


def full_disk(kind: str, folder: Path) -> list[str]:
    """A result onto a disk of 300 kB."""
    small = folder / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(small)]
    if subprocess.run(mount, capture_output=True).returncode:
        return ["no small disk can be mounted here"]
    try:
        work = work_of(kind, small)
        done = subprocess.run([*VBG, *work.words], capture_output=True, text=True)
        wrong = []
        told = "Traceback" not in done.stderr and str(work.file) in done.stderr
        if done.returncode != 1 or not told:
            wrong.append(f"code {done.returncode}, {done.stderr[-200:]!r}")
        return [*wrong, *lost(work, []), *unmarked(work, 1)]
    finally:
        subprocess.run(["umount", str(small)], check=True)


def undisturbed(folder: Path) -> dict[str, Any]:
    """How long the commands take, and what they write."""
    lasts: dict[str, float] = {}
    wanted: dict[str, list[str]] = {}
    for kind in KINDS:
        (folder / kind).mkdir()
        work = work_of(kind, folder / kind)
        begun = time.monotonic()
        subprocess.run([*VBG, *work.words], check=True, capture_output=True)
        lasts[kind], wanted[kind] = time.monotonic() - begun, sorted(rows(work))
    return {"lasts": lasts, "wanted": wanted}


def plan(
    count: int, seed: int, lasts: dict[str, float], wanted: dict[str, list[str]]
) -> Iterator[tuple[str, Callable[[Path], Try]]]:
    """All tries by name, each a function of an empty folder."""

    def struck(i: int, folder: Path) -> Try:
        rng, kind = random.Random(f"{seed} {i}"), KINDS[i % len(KINDS)]
        kill = i < count
        number = signal.SIGKILL if kill else rng.choice(REQUESTS)
        child = kill and rng.random() < 0.4
        # the whole life of a command for a request, the part with rows for a kill
        delay = lasts[kind] * (rng.random() ** 2 if kill else rng.random())
        work = work_of(kind, folder)
        struck = strike(work, number, delay, child=child, after_row=kill)
        wrong = struck.wrong
        if work.is_study or i % 12 < 6:
            wrong += once_more(work, wanted, kind)
        how = f"{'child' if child else 'parent'}, signal {number}, {delay:.2f} s"
        fault = "kill -9" if kill else "before vbg" if struck.early else "request"
        return Try(f"{fault}: {kind}", how, wrong)

    def other(what: Callable[[str, Path], list[str]], kind: str, folder: Path) -> Try:
        return Try(what.__name__, kind, what(kind, folder))

    for kind in KINDS[:3]:
        yield f"disk {kind}", partial(other, full_disk, kind)
    for kind in KINDS[:5]:
        for k in range(max(1, count // 60)):
            yield f"two {kind} {k}", partial(other, two_writers, kind)
    requests = 3 * count // 10
    share = [i / count for i in range(count)] + [i / requests for i in range(requests)]
    for i in sorted(range(count + requests), key=share.__getitem__):  # of both from the start
        yield f"{seed} {i}", partial(struck, i)


def table(tries: list[Try]) -> str:
    """How often each fault was tried, and what went wrong."""
    lines = [f"{'fault':24} tries  wrong"]
    for name in sorted({one.name for one in tries}):
        some = [one for one in tries if one.name == name]
        lines.append(f"{name:24} {len(some):5d}  {sum(bool(one.wrong) for one in some):5d}")
    return "\n".join(lines)


def main() -> int:
    """Run the campaign; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60, help="kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="tries at once")
    parser.add_argument("--at-most", type=int, help="tries in this call, others in the next")
    parser.add_argument("--log", default=os.devnull, help="tries that are done, to go on from")
    arguments = parser.parse_args()
    for number in REQUESTS:  # a shell's background has them ignored, and children inherit it
        signal.signal(number, signal.default_int_handler)
    said = threading.Lock()
    with open(arguments.log, "a+", encoding="utf-8") as log, tempfile.TemporaryDirectory() as name:
        log.seek(0)
        entries = {entry.pop("key"): entry for entry in map(json.loads, log)}
        usual = entries.pop("usual", None)
        found = {key: Try(**entry) for key, entry in entries.items()}
        if usual is None:
            usual = undisturbed(Path(name))
            log.write(json.dumps({"key": "usual"} | usual) + "\n")

        def run(key: str, act: Callable[[Path], Try]) -> None:
            with tempfile.TemporaryDirectory(dir=name) as folder:
                one = act(Path(folder))
            with said:
                found[key] = one
                print(f"{key:16} {one.name:24} {one.how:32} {'; '.join(one.wrong)}", flush=True)
                log.write(json.dumps({"key": key} | asdict(one)) + "\n")
                log.flush()

        tries = plan(arguments.count, arguments.seed, **usual)
        todo = [one for one in tries if one[0] not in found][: arguments.at_most]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            list(pool.map(lambda one: run(*one), todo))
    print(table(list(found.values())))
    return 1 if any(one.wrong for one in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
