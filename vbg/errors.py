"""What can be wrong, as data, and the five exceptions that carry it.

A rule that a model breaks is a `Problem`: a value that the command line, the
terminal interface and a script render alike.  The checks return tuples of
them; only the outermost call raises.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

from vbg.platform.text import escaped, shortened

Severity = Literal["error", "warning", "note"]
TOLD = 200
"""Problems that an error lists; a list of 10 000 wrong numbers has as many."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule: where, what was found and is allowed, and the remedy.

    `where` is the path of the object in the user's words
    (``joints.hinge.axis``); `file`, `line` and `column` are 1-based and 0 or
    empty where the model did not come from a file.
    """

    severity: Severity
    where: str
    what: str
    remedy: str = ""
    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = f"{self.file}: " if self.file else ""
        if self.line:
            place = f"{self.file}:{self.line}:{self.column}: "
        remedy = f" {self.remedy}" if self.remedy else ""
        return escaped(place + shortened(f"{self.severity}: {self.where}: {self.what}{remedy}"))


class AsAsked(Problem):
    """A note that all is as it was asked for, without a limit: told by a run, no remark of a
    check."""

    __slots__ = ()


class VbgError(Exception):
    """Base of all errors that a user of vbg may want to catch."""

    def __init__(self, message: str, problems: Iterable[Problem] = ()):
        self.problems = tuple(problems)
        super().__init__(escaped(message))

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> Self:
        """The error that lists `problems`, one a line, the first `TOLD` of very many."""
        problems = tuple(problems)
        lines = [str(problem) for problem in problems[:TOLD]]
        lines += [f"{len(problems) - TOLD} more."] if len(problems) > TOLD else []
        return cls("\n".join(lines), problems)


class ModelError(VbgError):
    """The model says something impossible or unreadable."""


class CausalityError(VbgError):
    """The bond graph admits no causal assignment: a modelling error."""


class AssemblyError(VbgError):
    """The mechanism cannot be put together or started as written."""


class UsageError(VbgError):
    """The program was asked for something it cannot do (a wrong call)."""


def counted(number: int, noun: str) -> str:
    """ "1 body" or "3 bodies"."""
    plural = noun + "s"
    for ending, instead in (("y", "ies"), ("ex", "ices"), ("ss", "sses")):
        if noun.endswith(ending):
            plural = noun.removesuffix(ending) + instead
    return f"{number} {noun if number == 1 else plural}"


def not_installed(what: str, package: str, extra: str, otherwise: str = "") -> UsageError:
    """The error where `what` needs a `package` that is not there.  vbg is installed from
    its folder, so that its extras are, too."""
    remedy = f"In the folder of vbg's README: {sys.executable} -m pip install '.[{extra}]'."
    return UsageError(" ".join(filter(None, (f"{what} needs {package}.", remedy, otherwise))))
