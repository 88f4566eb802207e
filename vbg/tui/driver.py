"""How keys are read from the terminal: the library's driver, with Esc told apart."""

from __future__ import annotations

import os
import select
from codecs import getincrementaldecoder

from textual._xterm_parser import XTermParser
from textual.constants import ESCAPE_DELAY
from textual.drivers.linux_driver import LinuxDriver

from vbg.tui.state.escapes import Escapes

_MOST = 1 << 12  # bytes read at once


class TypingDriver(LinuxDriver):
    """Reads what is typed, and has the library say which keys that is."""

    def run_input_thread(self) -> None:
        """Until the terminal is left: what comes, and what has rested."""
        parser, escapes = XTermParser(), Escapes()
        decode = getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            ready, _, _ = select.select([self.fileno], [], [], ESCAPE_DELAY)
            text = escapes.read(decode(os.read(self.fileno, _MOST))) if ready else escapes.rested()
            for message in (*(parser.feed(text) if text else ()), *parser.tick()):
                self.process_message(message)
            if ready and not text and not escapes.held:
                # a terminal that is gone says nothing for ever
                self.exit_event.wait(ESCAPE_DELAY)
