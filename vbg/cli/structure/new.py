"""`vbg structure new`: a topology entered in the terminal, bodies and pairs one after the other."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vbg.cli.output import require_folder_of, wrote
from vbg.cli.parser import add
from vbg.errors import UsageError
from vbg.platform.files import write_text

if TYPE_CHECKING:
    from vbg.structure.topology.entry import Entry

PLACE = 15
PAIRS = "pairs, one a line: BODY BODY CODE [DRIVEN], as 1 2 R 1; undo, ? for codes, empty to end"


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "new",
        act=act,
        summary="enter a topology: asks bodies and pairs, counts freedoms as they come",
        detail="Asks plane or space, how many bodies there are with the frame (body 1), and the\n"
        "pairs, and says after each how many freedoms are left; then writes the file and what\n"
        "`vbg structure FILE` says of it.  Answers may be piped in; a wrong one then ends it.",
        examples="""vbg structure new -o rotor.m
            vbg structure new -o fourbar.m < answers.txt""",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="the text file; default: printed")
    parser.add_argument("--force", action="store_true", help="overwrite the file")


def act(arguments: argparse.Namespace) -> int:
    from vbg.structure import analyse_topology, write_topology
    from vbg.structure.show import structure_text

    if arguments.output:
        require_folder_of(arguments.output)
        if Path(arguments.output).exists() and not arguments.force:
            raise UsageError(f"{arguments.output} exists; --force overwrites it.")
    topology = entered().topology()
    structure, text = analyse_topology(topology), write_topology(topology)
    if arguments.output:
        write_text(arguments.output, text)
        wrote(arguments.output, "topology")
    else:
        print(text)
    print(structure_text(structure))
    return int(not structure.determined)


def entered() -> Entry:
    """What is answered on standard input."""
    from vbg.structure.topology.entry import begun, codes_of, state_of, with_pair

    space = asked("plane or space [space]: ", lambda text: begun(text, "2") and text)
    entry = asked("bodies, with the frame as body 1: ", lambda text: begun(space, text))
    say(PAIRS)
    while True:
        line = answer("> ")
        if line is None or (not line.strip() and not (entry.loose and sys.stdin.isatty())):
            break
        line = line.strip()
        if not line:
            say(f"  {state_of(entry)} (F joins what floats in space, FP in the plane)")
        elif line == "?":
            say(codes_of(entry))
        elif line == "undo":
            entry = entry.without_last()
            say(f"  {state_of(entry)}")
        else:
            found = accepted(line, partial(with_pair, entry))
            entry = found or entry
            if found:
                say(f"  {state_of(entry)}")
    return entry


def asked(question: str, read: Callable[[str], Any]) -> Any:
    """The first answer that `read` takes."""
    while True:
        text = answer(question)
        if text is None and sys.stdin.isatty():
            raise UsageError(f"stopped before {question.partition(':')[0]} was answered.")
        found = accepted(text or "", read)
        if found is not None:
            return found


def accepted(text: str, read: Callable[[str], Any]) -> Any:
    """What `read` makes of an answer; a wrong one is told, and piped in it ends the entry."""
    try:
        return read(text)
    except UsageError as error:
        if not sys.stdin.isatty():
            raise
        say(f"  {error}")
        return None


def answer(question: str) -> str | None:
    """One line of standard input, without its end; None behind the last one (Ctrl-D)."""
    if sys.stdin.isatty():
        sys.stderr.write(question)
        sys.stderr.flush()
    line = sys.stdin.readline()
    return line.removesuffix("\n") if line else None


def say(text: str) -> None:
    """To a person who answers; not into what is piped out."""
    if sys.stdin.isatty():
        print(text, file=sys.stderr)
