"""What the five papers describe, from the command line: answers and processor time.

    python -m benchmarks.accuracy.papers [--every] [--items WORD ...] [--machines NAME ...] [--list]

Each row is a whole command in a process of its own, the start of Python and what it loads counted
in: what the paper describes, the machine, processor time, exit code (1: refused with a sentence,
printed below the row), lines of the answer, the command.  Its limit is 10 s, that of the ten-bar
chains 120 s; a row above it is measured once more, as the first command of a kind compiles
kernels, and the smaller time counts.  Rows end at four times the limit, or after ten times as long
on the wall.  What a row reads (results, topologies) is made before by commands that are not
measured.  At the end stands what is above its limit or broke (a traceback, a signal) and the
processor time of all rows; the exit code says whether there is any.  Commands for any machine are
given the papers' own and three others, with --every all examples: four times as many rows.

The paper's own machines: shaft-arm-slider (vector bond graphs), linkages of Table 16, the spatial
four-bar of Fig. 8 and chains that are counted in print (structural analysis), triple pendulum and
two-link robot (NEWEUL), chains and loops (MSTMM).  All others it does not have.
"""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import asked

EXAMPLES = Path(__file__).parents[2] / "examples"
EVERY = tuple(sorted(path.stem for path in EXAMPLES.glob("*.toml")))
LIMIT, TEN_BAR = 10.0, 120.0  # [s]
CUT = 4.0  # times its limit that a row may take
WALL = 10.0  # times that on the wall, for what waits
STOPPED = -9  # exit code of what is stopped
FEW = (  # the papers' own machines, and three that they do not have
    "shaft-arm-slider",
    "spatial-four-bar",
    "triple-pendulum",
    "two-link-robot",
    "motor-slider-crank",
    "servo-hydraulic",
    "wishbone-corner",
)
MOVING = ("slider-crank", "spatial-four-bar")
DRIVEN = ("two-link-robot", "pick-and-place")  # machines whose drives are functions of time
FOUR_BAR = "space\n4\n1 2 R 1\n2 3 S\n3 4 C\n4 1 P\n"
SIX_BAR = "plane\n6\n1 2 R 1\n2 3 R\n3 4 R\n3 5 R\n4 5 R\n4 1 R\n5 6 R\n6 1 R\n"
POSES = """time,Body1.x,Body1.y,Body1.z,Body1.roll [deg],Body1.pitch [deg],Body1.yaw [deg]
0,0,0,0,0,0,0
0.1,0.1,0,0,0,10,0
0.2,0.2,0,0,0,20,0
"""
FILES = {"fourbar.txt": FOUR_BAR, "sixbar.txt": SIX_BAR, "poses.csv": POSES}


@dataclass(frozen=True, slots=True)
class Item:
    """What a paper describes.  `command`: FILE is the machine, NAME its name; `< TEXT` answers.
    `before`: commands that make what it reads."""

    name: str
    command: str
    machines: tuple[str, ...] = ("",)
    before: tuple[str, ...] = ()
    limit: float = LIMIT


@dataclass(frozen=True, slots=True)
class Done:
    """What a command took [s of the processor], its exit code and what it printed."""

    seconds: float
    code: int
    text: str

    @property
    def broke(self) -> bool:
        """Whether it ended in another way than with an answer or a sentence."""
        return self.code not in (0, 1) or "Traceback" in self.text


RUN = "run FILE -o NAME.h5"
OTHER = "run FILE --set r=0.05 -o NAME-other.h5"
BY_HAND = "structure new -o fourbar.m --force < fourbar.txt"
BY_HAND_6 = "structure new -o sixbar.m --force < sixbar.txt"
STUDY = (
    "sweep FILE --vary r=0.03:0.06 --vary c=5:10 --measure 'max(norm(A.force))' --t-end 0.2 "
    "--effects --effects-plot NAME-effects.svg"
)
PLANS = ("factorial:2", "lhs:8", "sobol:8", "ccd")
PLANE, SPACE = (f"structure synthesise --{p} --mobility 1" for p in ("planar", "spatial"))
EIGHT = f"{PLANE} --bodies 8 --pairs R -o eight.toml --number 5"
FILM = "animate poses.csv --poses --model FILE --map rod=Body1 -o NAME.html"
CRANK = ("slider-crank",)
VECTOR_BOND_GRAPH = (
    Item("matrices", "show matrices FILE", EVERY),
    Item("matrices in symbols", "show matrices FILE --symbolic", EVERY),
    Item("matrices in LaTeX", "show matrices FILE --latex", EVERY),
    Item("strokes, conserved quantities", "show causal FILE", EVERY),
    Item("derivative causality", "show causal FILE --causality derivative", EVERY),
    Item(
        "responses",
        "plot NAME.h5 '*.angle' '*.force' -o NAME.svg",
        ("shaft-arm-slider", *MOVING),
        (RUN,),
    ),
)
STRUCTURE = (
    Item("groups, routes, tree", "show structure FILE --routes 5 --tree NAME-tree.svg", EVERY),
    Item("routes measured", "show structure FILE --routes 5 --workers 2 --measured", DRIVEN),
    Item("topology by hand", BY_HAND),
    Item("groups of a topology", "structure fourbar.m --paper", before=(BY_HAND,)),
    Item("multiple joint", "structure sixbar.m --joint 3,4,5", before=(BY_HAND_6,)),
    Item("Table 16, II-4", "structure assur II-4 --routes 5 --json"),
    Item("Table 16, II-4B", "structure assur II-4B --routes 5"),
    Item("Table 16, I-20B", "structure assur I-20B --seed 7"),
    Item("6-bar chains (2)", f"{PLANE} --bodies 6 --pairs R --as chains --count"),
    Item("8-bar chains (16)", f"{PLANE} --bodies 8 --pairs R --as chains --count"),
    Item("8-bar inversions (71)", f"{PLANE} --bodies 8 --pairs R --count"),
    Item(
        "10-bar chains (230)", f"{PLANE} --bodies 10 --pairs R --as chains --count", limit=TEN_BAR
    ),
    Item("spatial structures", f"{SPACE} --bodies 4 --pairs R,S --as driven --count"),
    Item("a machine of a structure", EIGHT),
    Item("its run", "run eight.toml --t-end 0.2", before=(EIGHT,)),
)
NEWEUL = (
    Item("equations", "show equations FILE", EVERY),
    Item("equations as C", "show equations FILE --c", EVERY),
    Item("equations in LaTeX", "show equations FILE --latex", EVERY),
    Item("minimal form, joint forces", "show equations FILE --form minimal --forces", EVERY),
    Item("program in Python", "show equations FILE --program python", EVERY),
    Item("program in C", "show equations FILE --program c", EVERY),
    Item("program in Fortran", "show equations FILE --program fortran", EVERY),
    Item("motion", "animate NAME.h5 -o NAME.html", MOVING, (RUN,)),
    Item("another program's motion", FILM, ("pendulum",)),
)
MSTMM = (
    Item("overall transfer equation", "show transfer FILE", EVERY),
    Item("modes, orthogonality", "show vibration FILE --orthogonality", EVERY),
    Item("trajectories", "plot NAME.h5 crank conrod --space -o NAME.svg", CRANK, (RUN,)),
    *(Item(f"plan {plan}", f"{STUDY} --samples {plan}", CRANK) for plan in PLANS),
    Item("results listed", "results", CRANK, (RUN,)),
    Item("results found", "results find model=NAME 'r>0.01'", CRANK, (RUN,)),
    Item("results compared", "results compare NAME.h5 NAME-other.h5", CRANK, (RUN, OTHER)),
    Item("results tagged", "results tag NAME.h5 baseline", CRANK, (RUN,)),
)
PAPERS = {
    "vector bond graphs": VECTOR_BOND_GRAPH,
    "structural analysis": STRUCTURE,
    "NEWEUL, NEWSIM": NEWEUL,
    "MSTMM": MSTMM,
}


def rows(
    items: Collection[str] = (), machines: Collection[str] = (), *, every: bool = False
) -> Iterator[tuple[str, Item, str]]:
    """(paper, item, machine) of the items whose names have one of the words, and machines; of what
    is for any machine on `every` one or on FEW."""
    for paper, those in PAPERS.items():
        for item in those:
            if items and not any(word in item.name for word in items):
                continue
            few = not (every or machines) and item.machines is EVERY
            for machine in FEW if few else item.machines:
                if not machines or machine in machines:
                    yield paper, item, machine


def words_of(command: str, machine: str) -> tuple[list[str], str]:
    """The command's words and the file that it reads its answers from, empty if none."""
    text, _, answers = command.partition(" < ")
    file = str(EXAMPLES / f"{machine}.toml")
    words = [
        w.replace("FILE", file) if w == "FILE" else w.replace("NAME", machine)
        for w in shlex.split(text)
    ]
    return words, answers


def done(command: str, machine: str, folder: Path, most: float) -> Done:
    """One command in `folder`, ended after `most` seconds of processor time."""
    words, answers = words_of(command, machine)
    given = (folder / answers).read_text("utf-8") if answers else ""
    end = partial(resource.setrlimit, resource.RLIMIT_CPU, (int(most), int(most)))
    before = _spent()
    try:
        found = subprocess.run(
            [sys.executable, "-m", "vbg", *words],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "NO_COLOR": "1",
            },
            input=given,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=end,
            timeout=WALL * most,
        )
    except subprocess.TimeoutExpired:
        return Done(_spent() - before, STOPPED, f"stopped after {WALL * most:g} s on the wall")
    return Done(_spent() - before, found.returncode, found.stdout + found.stderr)


def _spent() -> float:
    """Processor time of all children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(item: Item, machine: str, folder: Path) -> Done:
    """An item, again where it is above its limit; what it reads is made before, once."""
    most = CUT * item.limit
    for command in item.before:
        words, _ = words_of(command, machine)
        if not (folder / words[words.index("-o") + 1]).exists():
            done(command, machine, folder, most)
    first = done(item.command, machine, folder, most)
    if first.seconds <= item.limit or first.broke:
        return first
    return min(first, done(item.command, machine, folder, most), key=lambda one: one.seconds)


def walk(items: Collection[str], machines: Collection[str], *, every: bool) -> list[str]:
    """Prints the table; what is above its limit, or broke."""
    wrong, spent, shown = [], 0.0, ""
    those = list(rows(items, machines, every=every))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in FILES.items():
            (folder / file).write_text(text, "utf-8")
        for paper, item, machine in those:
            if paper != shown:
                print(f"\n{paper}\n{HEAD}")
            shown = paper
            found = measured(item, machine, folder)
            spent += found.seconds
            print(_row(item, machine, found), flush=True)
            if found.broke:
                wrong.append(f"{item.name}, {machine}: exit code {found.code}")
            elif found.seconds > item.limit:
                wrong.append(f"{item.name}, {machine}: {found.seconds:.1f} s of {item.limit:g}")
    told = f"{len(those)} rows, {spent:.0f} s of the processor"
    print(f"\n{told}, {len(wrong)} above their limit or broken")
    print("\n".join(wrong))
    return wrong


HEAD = f"{'what':28}{'machine':24}{'s':>7}{'exit':>6}{'lines':>7}  command"


def _row(item: Item, machine: str, found: Done) -> str:
    """A line of the table, and below it why a command is refused."""
    lines = len(found.text.splitlines())
    command = item.command.replace("FILE", f"{machine}.toml").replace("NAME", machine)
    row = f"{item.name:28}{machine:24}{found.seconds:7.1f}{found.code:6}{lines:7}  vbg {command}"
    return row if not found.code else f"{row}\n    {' '.join(found.text.split())[-300:]}"


def main() -> int:
    parser = asked.parser(__doc__)
    parser.add_argument(
        "--items",
        nargs="+",
        default=(),
        metavar="WORD",
        help="items with one of these in their names",
    )
    parser.add_argument(
        "--machines", nargs="+", default=(), metavar="NAME", help="only these machines"
    )
    parser.add_argument("--every", action="store_true", help="every example, not seven machines")
    parser.add_argument("--list", action="store_true", help="print the rows, run nothing")
    given = parser.parse_args()
    if given.list:
        for paper, item, machine in rows(given.items, given.machines, every=given.every):
            print(f"{paper:22}{item.name:32}{machine:24}vbg {item.command}")
        return 0
    return int(bool(walk(given.items, given.machines, every=given.every)))


if __name__ == "__main__":
    sys.exit(main())
