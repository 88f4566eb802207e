"""The command `vbg`: finds the verb, runs it, and turns errors into exit codes.

0 fine, 1 the model or the verdict fails, 2 misuse, 130 stopped by Ctrl-C.  Errors go to standard
error, so that what is printed can be piped; with ``--json`` they are one
object on standard output, ``{"error", "message", "problems"}``, since a
program reads it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from vbg.cli.parser import INTERRUPTED, Misused, Parser, register_modules
from vbg.errors import UsageError, VbgError
from vbg.platform.files import unforeseen

FINE, FAILS, MISUSE = 0, 1, 2


class _Version(argparse.Action):
    """`--version`, looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"vbg {version('vbg')}")
        except PackageNotFoundError:
            print(f"vbg of {Path(__file__).parents[2]}, not installed")
        parser.exit()


def build_parser(verb: str = "") -> Parser:
    """The parser of the whole command, with every verb registered, or with `verb` alone where
    a module is named so."""
    parser = Parser(
        prog="vbg",
        description="Machines from a text file: motion, joint forces, causality, structure.",
        epilog="Start with: vbg new slider-crank -o crank.toml && vbg run crank.toml\n"
        "Help on a verb: vbg run --help\n"
        "Exit codes: 0 fine, 1 the model, the run or the verdict fails, 2 a wrong command,\n"
        "130 stopped by Ctrl-C.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    register_modules("vbg.cli.verbs", verbs, verb)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    tell = _tell_as_json if "--json" in words else _tell
    try:
        if not words:
            build_parser().print_help()
            return FINE
        parsed = build_parser(words[0]).parse_args(words)
        code: int = parsed.act(parsed)
        return code
    except Misused as misuse:
        message = _explained(str(misuse), words)
        if tell is _tell:
            argparse.ArgumentParser.error(misuse.parser, message)
        tell(UsageError(message))
        return MISUSE
    except VbgError as error:
        tell(error)
        return MISUSE if isinstance(error, UsageError) else FAILS
    except KeyboardInterrupt as interrupt:
        print(f"\nvbg: stopped. {interrupt}".rstrip(), file=sys.stderr)
        return INTERRUPTED
    except (OSError, MemoryError, RecursionError) as error:
        told = unforeseen(error)
        tell(told)
        return MISUSE if isinstance(told, UsageError) else FAILS


def _explained(message: str, words: Sequence[str]) -> str:
    """What argparse found, in plainer words where a verb is wrong, and what was meant."""
    near = _nearest(words)
    wrong = re.match(r"argument (VERB|VIEW): invalid choice: '(.*?)' \(choose from (.*)\)", message)
    if wrong is None:
        return message + near
    what, word, known = wrong[1].lower(), wrong[2], wrong[3].replace("'", "")
    if what == "verb" and Path(word).is_file():
        return f"there is no verb '{word}'; to run a model file: vbg run {word}"
    return f"there is no {what} '{word}'{near or f'; there are {known}'}"


def _nearest(words: Sequence[str]) -> str:
    """The verb or option that was probably meant by the first word that there is not."""
    from difflib import get_close_matches

    parser = build_parser()
    for word in words:
        verbs = parser.verbs
        if word in verbs:
            parser = verbs[word]
            continue
        options = [name for action in parser.actions for name in action.option_strings]
        name = word.partition("=")[0]
        known = list(verbs) or (options if word.startswith("--") else [])
        if known and name not in known:
            near = get_close_matches(name, known, n=1)
            return f"; did you mean '{near[0]}'?" if near else ""
    return ""


def _tell(error: VbgError) -> None:
    about = "vbg: " if isinstance(error, UsageError) else ""
    print(f"{about}{error}", file=sys.stderr)


def _tell_as_json(error: VbgError) -> None:
    problems = [asdict(problem) for problem in error.problems]
    told = {"error": type(error).__name__, "message": str(error), "problems": problems}
    print(json.dumps(told))
