"""What the parsers of all verbs have in common."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from vbg.platform.text import escaped

INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it: 128 + SIGINT

Act = Callable[[argparse.Namespace], int]


def add(
    subparsers: Any, name: str, *, act: Act | None, summary: str, examples: str, detail: str = ""
) -> Parser:
    """A verb's parser: a line of summary, more in its help, and examples."""
    lines = "\n".join(f"  {line.strip()}" for line in examples.strip().splitlines())
    parser: Parser = subparsers.add_parser(
        name,
        help=summary,
        description=f"{summary}\n{detail}".strip(),
        epilog=f"examples:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if act is not None:
        parser.set_defaults(act=act)
    return parser


def add_model(parser: argparse.ArgumentParser) -> None:
    """The arguments of a verb that reads a model file: FILE and --set."""
    parser.add_argument("file", metavar="FILE", help="model file; - reads it from standard input")
    parser.add_argument(
        "--set",
        dest="parameters",
        metavar="NAME=VALUE",
        type=assignment,
        action="append",
        default=[],
        help="replace a parameter: r=0.12, or r='120 mm'; may be repeated",
    )
    add_allowed(parser)


def add_allowed(parser: argparse.ArgumentParser) -> None:
    """--allow-include and --allow-fmu, which hold for the processes that this one starts, too."""
    add_allow_include(parser)
    parser.add_argument(
        "--allow-fmu",
        metavar="FILE",
        action=_AllowFmu,
        help="run the native code of this FMU, or of those below this folder: it has your rights; "
        "may be repeated",
    )


def add_allow_include(parser: argparse.ArgumentParser) -> None:
    """--allow-include, which holds for the processes that this one starts, too."""
    parser.add_argument(
        "--allow-include",
        metavar="DIR",
        action=_AllowInclude,
        help="a folder besides the model's own whose files it may include; may be repeated",
    )


class _AllowInclude(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        from vbg.model.text.allowed import ALLOWED

        if not Path(values).is_dir():
            raise argparse.ArgumentError(self, f"there is no folder {values}")
        folders = [os.environ.get(ALLOWED, ""), os.path.realpath(values)]
        os.environ[ALLOWED] = os.pathsep.join(filter(None, folders))


class _AllowFmu(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        from vbg.errors import UsageError
        from vbg.fmi.permission import allow_fmu

        try:
            allow_fmu(values)
        except UsageError:
            raise argparse.ArgumentError(self, f"there is no file or folder {values}") from None


def add_start(parser: argparse.ArgumentParser) -> None:
    """--start, where a run begins."""
    parser.add_argument(
        "--start",
        metavar="WHERE",
        help="written, equilibrium (where the machine rests), balance:PART,PART (as written, what "
        "these parts hold found so that it rests), RESULT.h5 or RESULT.h5@TIME",
    )


def add_units(parser: argparse.ArgumentParser) -> None:
    """--units, in which values are shown."""
    parser.add_argument(
        "--units",
        metavar="UNITS",
        type=_display,
        default=(),
        help="show values in these: bar,deg,rpm, each for every signal of its quantity, and "
        "A.force=kN for one; before those of the model's [display]; .h5 and JSON stay in SI",
    )


def _display(text: str) -> tuple[str, ...]:
    from vbg.display import rules_of
    from vbg.errors import UsageError

    try:
        rules_of([text])
    except UsageError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return names(text)


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def assignment(text: str) -> tuple[str, float | str]:
    """A parameter's name and new value: a number, or text as in a model file."""
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE, as in r=0.12")
    try:
        return name, float(value)
    except ValueError:
        return name, value


def names(text: str) -> tuple[str, ...]:
    """Those of a list with commas: A.force,B.force."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def seconds(text: str) -> float:
    """A span of time [s] that is not zero: 2, "2 s", "500 ms", "1 min"."""
    return _positive(text, "s", "a time greater than 0, as in 2, '500 ms' or '1 min'")


def instant(text: str) -> float:
    """A time [s], 0 or later: 0, 2, "500 ms"."""
    bare = text.strip()
    if bare.replace("0", "").replace(".", "") == "" and "0" in bare:
        return 0.0
    return _positive(text, "s", "a time of 0 or more, as in 0, 2, '500 ms'")


def tolerance(text: str) -> float:
    """A number greater than 0 and less than 1."""
    value = _positive(text, "1", "a number greater than 0 and less than 1, as in 1e-8")
    if value >= 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not less than 1, as in 1e-8")
    return value


def positive(text: str) -> float:
    """A number greater than 0."""
    return _positive(text, "1", "a number greater than 0")


def hertz(text: str) -> float:
    """A frequency greater than 0 [Hz]."""
    return _positive(text, "Hz", "a frequency greater than 0, as in 500 or '2 kHz'")


MOST_COUNTED = 1_000_000  # of anything that is asked for by number
ANY = 10**18 - 1  # of a number that counts nothing, as a seed


def count_of(least: int, most: int = MOST_COUNTED) -> Callable[[str], int]:
    """Reads a whole number of at least that, and at most the other."""

    def read(text: str) -> int:
        if not (text.isdecimal() and text.isascii()) or int(text[:18]) < least:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least {least}")
        if int(text[:18]) > most:
            raise argparse.ArgumentTypeError(f"'{text}' is more than {most}, the most there may be")
        return int(text[:18])

    return read


def _positive(text: str, unit: str, wanted: str) -> float:
    from vbg import units
    from vbg.errors import ModelError

    try:
        value = units.convert(text, unit)
    except ModelError as error:
        raise argparse.ArgumentTypeError(f"{error}; expected {wanted}") from None
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not {wanted}")
    return value


def add_span(parser: argparse.ArgumentParser) -> None:
    """--t-end and --output-step."""
    parser.add_argument(
        "--t-end", type=instant, metavar="T", help="end of the run: 2, '500 ms', or 0 for its start"
    )
    parser.add_argument(
        "--output-step", type=seconds, metavar="T", help="distance of outputs: 0.01, '1 ms'"
    )


def add_tolerances(parser: argparse.ArgumentParser) -> None:
    """--rtol and --atol."""
    parser.add_argument("--rtol", type=tolerance, metavar="X", help="relative tolerance, as 1e-8")
    parser.add_argument(
        "--atol", type=positive, metavar="X", help="absolute tolerance (V, A, m/s, ...)"
    )


def add_bushings(parser: argparse.ArgumentParser) -> None:
    """--step, --bushing-frequency and --bushing-damping, of the discrete-time method."""
    parser.add_argument(
        "--step", type=seconds, metavar="T", help="step of method discrete-time: 1e-5, '10 us'"
    )
    parser.add_argument(
        "--bushing-frequency", type=hertz, metavar="F", help="of its joints: 500, '2 kHz'"
    )
    parser.add_argument(
        "--bushing-damping", type=positive, metavar="Z", help="their damping ratio, as 0.5"
    )


LISTS = (names, _display)  # types of options whose value is a list with commas


class Misused(Exception):
    """A wrong command line: the parser that found it, and its words."""

    def __init__(self, parser: Parser, message: str):
        self.parser = parser
        super().__init__(escaped(message))


class Parser(argparse.ArgumentParser):
    """Leaves it to `main` how a wrong command line is told, and says what it understands.

    `implied` names the verb below it that is meant where none is given.
    """

    implied: str | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse has it, with the implied verb put in; of --option=-- it would make an
        option without a value, an empty list."""
        for word in args or ():
            if word.startswith("--") and word.endswith("=--") and word.count("=") == 1:
                self.error(f"argument {word[:-3]}: expected a value, found '--'")
        if self.implied and [*(args or ()), ""][0] not in (*self.verbs, "-h", "--help"):
            args = [self.implied, *(args or ())]
        return super().parse_known_args(args, namespace)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse has it; a word too many behind an option says how that takes several."""
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            words = list(args or ())
            option = self.several(words[: words.index(rest[0])] if rest[0] in words else [])
            self.error(f"unrecognized arguments: {' '.join(rest)}{option}")
        return found

    def several(self, words: list[str]) -> str:
        """How the last option of `words` takes several values, if it takes any."""
        place, parser = 0, self
        for word in words:
            parser = parser.verbs.get(word, parser)
        for place in range(len(words) - 1, -1, -1):
            if words[place].startswith("-"):
                break
        name, *values = words[place:] or [""]
        known = {name: action for action in parser.actions for name in action.option_strings}
        action = known.get(name)
        if action is None or action.nargs is not None or not values:
            return ""
        if action.type in LISTS:
            return f"; {name} takes several with commas, without spaces: {name} A,B"
        if type(action).__name__ == "_AppendAction":
            return f"; {name} is repeated for several: {name} A {name} B"
        return f"; {name} takes one value: in quotes where it has spaces"

    def error(self, message: str) -> NoReturn:
        raise Misused(self, message)

    @property
    def actions(self) -> tuple[argparse.Action, ...]:
        """Options and arguments."""
        return tuple(self._actions)

    @property
    def verbs(self) -> dict[str, Parser]:
        """The verbs or views below it."""
        below = (action.choices for action in self.actions if isinstance(action.choices, dict))
        return dict(next(below, {}))


def register_modules(package: str, subparsers: Any, alone: str = "") -> None:
    """Register every module of `package`, in the order of their `PLACE`; only the one that is
    named `alone` where there is one: the others need not be loaded."""
    folder = Path(str(import_module(package).__file__)).parent
    names = sorted(file.stem for file in folder.glob("[!_]*.py"))
    names = [alone] if alone in names else names
    modules = [import_module(f"{package}.{name}") for name in names]
    for module in sorted(modules, key=lambda module: module.PLACE):
        module.register(subparsers)
