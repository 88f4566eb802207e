"""Parameters that equations in symbols do not name, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Numbered:
    """`formless`: what follows from them is no formula that is looked for; `choosing`: a formula of
    the file chooses between numbers by them (`vbg.analysis.symbolic.choices`); `zero`: what they
    are multiplied with is not there."""

    formless: tuple[str, ...] = ()
    choosing: tuple[str, ...] = ()
    zero: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.formless, *self.choosing, *self.zero)

    @property
    def remarks(self) -> list[str]:
        """What a reader must know, a sentence each."""
        powers = "what follows from them is no sum of a few powers of parameters"
        found = []
        if self.formless:
            found.append(f"in numbers: {', '.join(self.formless)} ({powers})")
        if self.choosing:
            sides = "min, max, abs, sign or if chooses by them, and holds on its side"
            found.append(f"in numbers: {', '.join(self.choosing)} ({sides})")
        if self.zero:
            terms = "terms with them are left out"
            found.append(f"zero: {', '.join(self.zero)} ({terms})")
        return found
