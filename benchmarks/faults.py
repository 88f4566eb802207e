"""Faults: processes killed, asked to end, writing at once and onto a full disk.

    python -m benchmarks.faults [--count N] [--seed S] [--folder DIR]

`count` kill -9 over run to .h5, .csv and .json, sweep, optimise and validate, at random
moments; a quarter as many requests to end (SIGINT, SIGTERM, SIGHUP); two writers; a full
disk, where a small tmpfs can be mounted.  After each: what was written is readable, a study
goes on to the rows of an undisturbed one, no process is left, exit codes are as documented.
Printed is a table: tries and what went wrong, which has to be nothing.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from vbg.errors import UsageError
from vbg.io.results import read

MODEL = Path(__file__).parents[1] / "examples" / "slider-crank.toml"
VBG = [sys.executable, "-m", "vbg.cli"]
PATIENCE = 60.0  # seconds in which all children of a killed process have to be gone


@dataclass
class Tally:
    """How often a fault was tried, and what went wrong."""

    tries: int = 0
    wrong: list[str] = field(default_factory=list)


def commands(folder: Path) -> dict[str, tuple[list[str], Path]]:
    """What is disturbed, and the file that it writes."""
    span = ["--t-end", "4", "--output-step", "1e-4"]
    study = ["--vary", "r=0.03:0.05:6", "--measure", "max(A.speed)", "--t-end", "0.2"]
    return {
        "run .h5": (["run", str(MODEL), *span, "-o", str(folder / "a.h5")], folder / "a.h5"),
        "run .csv": (["run", str(MODEL), *span, "-o", str(folder / "a.csv")], folder / "a.csv"),
        "run .json": (["run", str(MODEL), *span, "-o", str(folder / "a.json")], folder / "a.json"),
        "sweep -j 2": (
            ["sweep", str(MODEL), *study, "-j", "2", "-o", str(folder / "s.csv")],
            folder / "s.csv",
        ),
        "optimise": (
            ["optimise", str(MODEL), *study, "--evaluations", "8", "-o", str(folder / "o.csv")],
            folder / "o.csv",
        ),
        "validate": (["validate", str(MODEL), "--t-end", "0.2"], folder / "none"),
    }


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


def readable(path: Path) -> str:
    """What is wrong with what a disturbed command left; empty if nothing."""
    if path.name in ("s.csv", "o.csv"):
        if path.exists():
            lines = path.read_text(encoding="utf-8").split("\n")
            whole = list(csv.reader(lines[:-1]))
            if any(len(line) != len(whole[0]) for line in whole):
                return "a row is cut"
        return ""
    for file in (path, Path(f"{path}.part.h5")):
        if file.exists():
            try:
                read(file)
            except UsageError as error:
                return str(error)
    return ""


def struck(words: list[str], path: Path, number: int, moment: float, *, child: bool) -> list[str]:
    """Send a signal to a command (or to a child of it) at a moment; what was wrong."""
    wrong = []
    with started(words) as process:
        time.sleep(moment)
        members = family(process.pid)
        aim = members[-1].pid if child and members else process.pid
        with suppress(ProcessLookupError):
            os.kill(aim, number)
        try:
            _, said = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return ["did not end"]
        if "Traceback" in said:
            wrong.append(f"traceback: {said.strip().splitlines()[-1][:80]}")
        polite = number != signal.SIGKILL
        if polite and process.returncode not in (0, 130):
            wrong.append(f"code {process.returncode}")
        if psutil.wait_procs(members, timeout=PATIENCE)[1]:
            wrong.append("a child goes on")
    told = readable(path)
    return [*wrong, told] if told else wrong


def resumed(words: list[str], path: Path, wanted: list[str]) -> list[str]:
    """Run a disturbed study to its end: its rows are those of an undisturbed one."""
    done = subprocess.run([*VBG, *words], capture_output=True, text=True)
    if done.returncode != 0:
        return [f"not resumed: {done.stderr.strip()[-80:]}"]
    rows = sorted(path.read_text(encoding="utf-8").splitlines())
    return [] if rows == wanted else ["other rows than undisturbed"]


def strikes(folder: Path, count: int, rng: random.Random) -> dict[str, Tally]:
    """The kills and the requests to end."""
    found: dict[str, Tally] = {}
    works = commands(folder)
    wanted = {}
    for name in ("sweep -j 2", "optimise"):
        words, path = works[name]
        subprocess.run([*VBG, *words], check=True, capture_output=True)
        wanted[name] = sorted(path.read_text(encoding="utf-8").splitlines())
    names = list(works)
    for i in range(count + count // 4):
        name = names[i % len(names)]
        words, path = works[name]
        for old in (path, Path(f"{path}.part.h5"), Path(f"{path}.ending")):
            old.unlink(missing_ok=True)
        kill = i < count
        number = (
            signal.SIGKILL if kill else rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        )
        wrong = struck(
            words, path, number, rng.uniform(0.0, 6.0), child=kill and rng.random() < 0.3
        )
        if name in wanted:
            wrong += resumed(words, path, wanted[name])
        tally = found.setdefault(f"{'kill -9' if kill else 'end request'}: {name}", Tally())
        tally.tries += 1
        tally.wrong += wrong
    return found


def two_writers(folder: Path, count: int) -> Tally:
    """Two commands that write one file: one does, the other is refused with code 2."""
    tally = Tally()
    for name in list(commands(folder))[:4]:
        words, path = commands(folder)[name]
        for _ in range(count):
            path.unlink(missing_ok=True)
            with started(words) as first, started(words) as second:
                codes = sorted((first.wait(300), second.wait(300)))
            tally.tries += 1
            if codes != [0, 2]:
                tally.wrong.append(f"{name}: codes {codes}")
            if told := readable(path):
                tally.wrong.append(told)
    return tally


def full_disk(folder: Path) -> Tally:
    """Every kind of file onto a disk of 300 kB."""
    tally = Tally()
    small = folder / "small"
    small.mkdir()
    size = "size=300k"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", str(small)]).returncode:
        return tally
    try:
        for name, (words, path) in list(commands(small).items())[:3]:
            done = subprocess.run([*VBG, *words], capture_output=True, text=True)
            tally.tries += 1
            if done.returncode != 1 or "Traceback" in done.stderr or str(path) not in done.stderr:
                tally.wrong.append(f"{name}: code {done.returncode}, {done.stderr[-200:]!r}")
            if told := readable(path):
                tally.wrong.append(f"{name}: {told}")
            for file in small.iterdir():
                file.unlink()
    finally:
        subprocess.run(["umount", str(small)], check=True)
    return tally


def main() -> int:
    """Run the campaign; 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60, help="kills")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = strikes(folder, arguments.count, random.Random(arguments.seed))
        found["two writers"] = two_writers(folder, max(1, arguments.count // 60))
        found["full disk"] = full_disk(folder)
    print(f"{'fault':28} tries  wrong")
    for what, tally in found.items():
        print(f"{what:28} {tally.tries:5d}  {len(tally.wrong):5d}  {'; '.join(tally.wrong)[:300]}")
    return 1 if any(tally.wrong for tally in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
