"""Esc told apart from the sequences that begin with it, however what is typed is cut into pieces.

A terminal sends one character for Esc, and the same one before `[B` for the down arrow and before
`c` for Alt-c.  What is read at once may be Esc and the key after it: over a slow line, or by a
program that waited for the processor.  No action of vbg has an Alt key, so Esc with a letter is
two keys.  What is passed on has each lone Esc written as `CSI 27 u`, which begins nothing else
(kitty's "Comprehensive keyboard handling in terminals").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ESC = "\x1b"
_PLAIN = "\x1b[27u"
# Sequences go on with [ or O; nothing else does.
_LONE = re.compile(r"\x1b(?![\[O])")
# Answers to questions of the terminal interface that come when nobody waits for them any more:
# strings of the terminal, its attributes, its size in pixels (ECMA-48; xterm's control sequences).
_ANSWER = re.compile(r"\x1b[P_][^\x1b\x07]*(?:\x1b\\|\x07)|\x1b\[\?[\d;]*c|\x1b\[4;\d+;\d+t")
# What may be the beginning of a sequence or an answer, the rest on its way.
_OPEN = re.compile(r"\x1b(?:\[[?<\d;:]*|O|[P_][^\x1b\x07]*\x1b?)?\Z")
# Alt with f, b or Backspace, typed just now: by words, as in shells.
_BY_WORDS = frozenset({"\x1bf", "\x1bb", "\x1b\x7f"})


@dataclass
class Escapes:
    """What was read, with each Esc made plain; `held` is the beginning of what may go on."""

    held: str = ""

    def read(self, text: str) -> str:
        """What can be passed on once `text` has been read."""
        if text in _BY_WORDS and not self.held:
            return text
        text = _ANSWER.sub("", self.held + text)
        found = _OPEN.search(text)
        self.held = found[0] if found else ""
        return _LONE.sub(_PLAIN, text[: len(text) - len(self.held)])

    def rested(self) -> str:
        """What was held, when nothing has come for a while: it was typed."""
        held, self.held = self.held, ""
        return held.replace(ESC, _PLAIN)
