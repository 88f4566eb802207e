"""Hostile values of every option and argument of every verb.

    python -m benchmarks.robustness.options [--count N] [--first I] [--seed S] [--verb WORDS]

Verbs, options and arguments are those that the command's own parser declares: none is listed
here.  Each try is a command that is right, with one option (or one argument) set to something
of another type, size or meaning, in a folder of its own that holds a model, a result, a study and
a topology.  It has to end within 30 s of processor time with code 0, 1 or 2 and without a
traceback; what goes wrong is told in a sentence without control characters, and the files that
were there are there still.  Every try that breaks the rule is printed, then a count of what
became of all.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks import asked
from benchmarks.robustness.mutants import Endless, limited
from vbg.cli.main import build_parser
from vbg.cli.main import main as vbg

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 30.0
FATES = ("fine", "refused", "misused")  # by exit code
URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/><inertia
ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute">
<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1"
velocity="1"/></joint></robot>"""
START = "initial = { angle = 0.0, speed = 0.0 }"
DRIVEN = """
[signals.lift]
kind = "step"
height = 0.5
[forces.motor]
kind = "torque"
on = "joints.hinge"
torque = "lift"
"""
NUMBERS = (
    *(
        "0",
        "-1",
        "-0.0",
        "1",
        "3",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "1e-400",
        "1e300",
        "-1e9",
        "1e18",
    ),
    *("9" * 400, "2147483648", "0x10", "1_000", "1e", "1/0", "2**70", "٣", "1,5", "1e9 s", "3 kg"),
    *("1 ms", "-5 mm", "5 %", "1 parsec", "true", "None"),
)
TEXTS = (
    *("", " ", "é", "\x1b[2J", "\u202e", "a\nb", "\udcff", "x" * 5000, "%s", "{}", "{0}", "*", "["),
    *("\\", "'", '"', "--", "-", ",", ",,", ";", ":", "=", "=1", "x=", "L=", "L=nan", "L=1e400"),
    *("L=2 kg", "L=L", "zzz=1", "1:0", "nan:nan", "L=1:2:0", "L=1:2:-1", "L=nan:1:3", "L=1:2:1e9"),
    *("L=1:2:3:4", "max(", "max()", "max(nan)", "1/0", "hinge.angle", "hinge.angle/0", "t", "time"),
    *(
        "10**10**10",
        "(" * 400 + ")" * 400,
        "hinge",
        "ground",
        "rod",
        "rod.position",
        "a.b.c",
        "0:1",
    ),
    *(
        "2:1",
        "-1:0",
        "lhs:0",
        "lhs:-1",
        "lhs:1e9",
        "grid",
        "dt",
        "also",
        "1R",
        "0R0P",
        "2R1P",
        "R" * 99,
    ),
)
FILES = (
    *("model.toml", "run.h5", "study.csv", "topology.m", "folder", "folder/", ".", "..", "/"),
    *("missing", "missing/x.toml", "missing/x.h5", "model.toml/x", "/dev/null", "/dev/full"),
    *("/proc/self/mem", "pipe", "empty", "empty.h5", "binary", "loop", "x" * 300, "x.h5", "x.csv"),
    *("x.json", "x.toml", "x.svg", "x.png", "x.html", "x.zzz", "x", "é ü.csv", "a\nb.csv", "~/x"),
    *("file:///etc/passwd", "model.toml:1", "con", "x." + "y" * 300, "locked/x.csv"),
)
VALUES = (*NUMBERS, *TEXTS, *FILES)
RIGHT = {  # of arguments that a verb needs, by what it calls them
    "FILE": "model.toml",
    "RESULT": "run.h5",
    "SIGNAL": "hinge.angle",
    "EXPRESSION": "max(hinge.angle)",
    "FOLDER": ".",
    "CONDITION": "max(hinge.angle) > 0",
    "TAG": "good",
    "NAME": "pin",
    "--vary": "L=0.5:1:2",
    "--measure": "max(hinge.angle)",
    "--motors": "hinge",
    "--free": "L",
    "--hold": "hinge.angle=0",
    "--from": "hinge.torque",
    "--to": "hinge.angle",
    "--excite": "hinge.torque",
}
WORDS = {  # verbs whose arguments go together
    "parts": ["parts", "revolute"],
    "show bode": ["show", "bode", "driven.toml", "--from", "lift", "--to", "hinge.angle"],
    "show step": ["show", "step", "driven.toml", "--from", "lift", "--to", "hinge.angle"],
    "structure new": ["structure", "new", "-o", "x.m"],
    "inverse": ["inverse", "led.toml", "--t-end", "0.01"],
    "animate": ["animate", "run.h5", "-o", "x.html", "--frames", "3"],
    "trim": ["trim", "driven.toml", "--free", "lift", "--hold", "hinge.angle=0"],
    "results compare": ["results", "compare", "run.h5", "run.h5"],
    "export": ["export", "model.toml", "-o", "x.c"],
    "structure analyse": ["structure", "analyse", "topology.m"],
    "structure synthesise": ["structure", "synthesise", "--mobility", "1", "--bodies", "4"],
    "structure assur": ["structure", "assur", "I-2"],
    "import": ["import", "folder/model.urdf", "-o", "x.toml"],
    "results tag": ["results", "tag", "run.h5", "good"],
    "tui": ["tui", "model.toml", "--keys"],
}
KEPT = ("model.toml", "run.h5", "study.csv", "topology.m", "folder")


def leaves(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Every verb that acts, with its parser."""
    rooms = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    for room in rooms:
        for name, inner in room.choices.items():
            yield from leaves(inner, (*words, name))
    if not rooms:
        yield words, parser


def lay_out(folder: Path) -> None:
    """What the tries find in their folder."""
    text = (EXAMPLES / "pendulum.toml").read_text(encoding="utf-8")
    (folder / "model.toml").write_text(text, encoding="utf-8")
    (folder / "driven.toml").write_text(text + DRIVEN, encoding="utf-8")
    (folder / "led.toml").write_text(text.replace(START, 'drive = "t**2"'), "utf-8")
    (folder / "folder").mkdir()
    (folder / "folder" / "model.urdf").write_text(URDF, encoding="utf-8")
    (folder / "empty").touch()
    (folder / "empty.h5").touch()
    (folder / "binary").write_bytes(bytes(range(256)) * 40)
    os.symlink("loop", folder / "loop")
    short = ["--t-end", "0.02", "--output-step", "0.005"]
    said = [
        _quietly(["run", "model.toml", *short, "-o", "run.h5"]),
        _quietly(["sweep", "model.toml", *short, "--vary", "L=0.5:1:2", "--measure",
                  "max(hinge.angle)", "-o", "study.csv"]),
        _quietly([*WORDS["structure synthesise"], "--planar", "-o", "topology.m"]),
    ]  # fmt: skip
    if any(code for code, _ in said):
        raise SystemExit(f"the folder cannot be laid out: {said}")


def right(words: tuple[str, ...], parser: argparse.ArgumentParser) -> list[str]:
    """A command of the verb that has all that it needs."""
    verb = " ".join(words)
    if verb in WORDS:
        return list(WORDS[verb])
    found = list(words)
    for action in parser._actions:
        optional = action.nargs in ("?", "*") or not action.required
        name = action.option_strings[-1] if action.option_strings else str(action.metavar)
        if not optional or (not action.option_strings and name in RIGHT):
            found += [name] if action.option_strings else []
            found.append(RIGHT.get(name) or (next(iter(action.choices or ["x"]))))
    if "--t-end" in parser._option_string_actions:
        found += ["--t-end", "0.01"]
    return found


def one(
    rng: random.Random, verbs: list[tuple[tuple[str, ...], argparse.ArgumentParser]]
) -> list[str]:
    """A command with one or two hostile values."""
    words, parser = rng.choice(verbs)
    command = right(words, parser)
    options = [a for a in parser._actions if a.option_strings and a.nargs != 0]
    flags = [a for a in parser._actions if a.option_strings and a.nargs == 0 and a.dest != "help"]
    for _ in range(1 + (rng.random() < 0.3)):
        if not options or rng.random() < 0.2:
            places = range(len(words), len(command))
            if places:
                command[rng.choice(places)] = rng.choice(VALUES)
            continue
        action = rng.choice(options)
        name = rng.choice(action.option_strings)
        value = rng.choice(VALUES)
        whole = name.startswith("--") and rng.random() < 0.3
        command += [f"{name}={value}"] if whole else [name, value]
    if flags and rng.random() < 0.5:
        command.append(rng.choice(flags).option_strings[-1])
    return command


def _quietly(words: list[str]) -> tuple[int | str | None, str]:
    """Exit code of a command, and all that it printed."""
    printed, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(told):
        try:
            code: int | str | None = vbg(words)
        except SystemExit as stopped:
            code = stopped.code
    return code, printed.getvalue() + told.getvalue()


def fault(words: list[str], folder: Path) -> str:
    """What became of a command: its code in words, else what is wrong."""
    before = {name: (folder / name).exists() for name in KEPT}
    sys.stdin = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    try:
        with limited(SECONDS):
            code, said = _quietly(words)
    except Endless:
        return f"more than {SECONDS:g} s"
    except BaseException as error:  # noqa: BLE001 - this is what is looked for
        return f"{type(error).__name__}: {error}"
    if code not in range(len(FATES)):
        return f"code {code}: {said[-200:]!r}"
    if "Traceback" in said:
        return f"traceback: {said[-300:]!r}"
    if code and not said.strip():
        return f"code {code} without a word"
    if strange := re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\ud800-\udfff]", said):
        return f"prints {strange[0]!r}: {said[max(0, strange.start() - 80) : strange.end() + 20]!r}"
    if lost := [name for name, was in before.items() if was and not (folder / name).exists()]:
        return f"{', '.join(lost)} is gone"
    return FATES[code]


def tries(
    numbers: Iterable[int], seed: int, beginning: str = ""
) -> Iterator[tuple[int, list[str], str, float]]:
    """Number, command, fate and seconds of each, of the verbs that begin so."""
    verbs = [found for found in leaves(build_parser()) if " ".join(found[0]).startswith(beginning)]
    with tempfile.TemporaryDirectory() as name:
        pattern, place = Path(name) / "pattern", Path(name) / "place"
        pattern.mkdir()
        with contextlib.chdir(pattern):
            lay_out(pattern)
        for number in numbers:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(pattern, place, symlinks=True)
            command = one(random.Random(f"{seed} {number}"), verbs)
            begun = time.process_time()
            with contextlib.chdir(place):
                fate = fault(command, place)
            yield number, command, fate, time.process_time() - begun


def main() -> int:
    """Try `count` commands; 1 if any broke the rule."""
    parser = asked.parser(__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verb", default="", help="the verbs that begin so")
    given = parser.parse_args()
    fates: Counter[str] = Counter()
    numbers = range(given.first, given.first + given.count)
    for number, command, fate, seconds in tries(numbers, given.seed, given.verb):
        fates[fate if fate in FATES else "broke the rule"] += 1
        if fate not in FATES:
            shown = " ".join(ascii(word[:80]) for word in command)
            print(f"{number} ({seconds:.1f} s) {shown}: {fate[:400]!a}", flush=True)
    print(", ".join(f"{n} {fate}" for fate, n in sorted(fates.items())))
    return 1 if fates["broke the rule"] else 0


if __name__ == "__main__":
    sys.exit(main())
