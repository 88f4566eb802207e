"""Entry of the command `vbg`: what has to be in order before anything else is loaded.

Whatever is imported takes time, and a Ctrl-C in that time is one line, too.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import warnings


def run() -> None:
    """Run the command of sys.argv and end with its exit code.

    A request to end (SIGTERM, SIGHUP) is answered like Ctrl-C: results are kept and children
    ended.  The terminal interface leaves it to the terminal.
    """
    signal.signal(signal.SIGINT, _at_once)
    for name in ("SIGTERM", "SIGHUP"):  # what nohup has told to be ignored stays so
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
            signal.signal(getattr(signal, name), _at_once)
    try:
        from vbg.platform.processes import interrupt_on_end_request
        from vbg.platform.streams import open_standard_streams

        if sys.argv[1:2] == ["show"]:  # prints and ends: collections took a fourth of its time
            gc.disable()
        output, _ = open_standard_streams()
        from vbg.cli.main import FAILS, MISUSE, main

        # what overflows on the way is told by results, not by numpy between their lines
        warnings.simplefilter("ignore", RuntimeWarning)
        if sys.argv[1:2] == ["tui"]:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for name in ("SIGTERM", "SIGHUP"):
                if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is _at_once:
                    signal.signal(getattr(signal, name), signal.SIG_DFL)
        else:
            interrupt_on_end_request()
        code = main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except KeyboardInterrupt:
        print("\nvbg: stopped.", file=sys.stderr)
        code = 130
    except MemoryError:
        print("vbg: there is not enough memory.", file=sys.stderr)
        code = 1
    sys.stdout.flush()
    if output.complaint:
        print(f"vbg: standard output: cannot be written: {output.complaint}.", file=sys.stderr)
        code = code if code in (FAILS, MISUSE, 130) else FAILS
    sys.stderr.flush()
    # At once: what an interpreter does on its way out can be interrupted, too.
    _leave(code)


def _at_once(*_: object) -> None:
    os.write(2, b"\nvbg: stopped.\n")
    os._exit(130)


def _leave(code: int) -> None:
    """End with `code`, also where a request to end comes now: the work is done."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if code == 130:
        # An interpreter that was interrupted while it ran the text of a program, as an import of
        # a dataclass does, ends itself by SIGINT in the end, though the interrupt was answered.
        atexit._run_exitfuncs()
        os._exit(code)
    if not gc.isenabled():
        gc.freeze()  # the interpreter looks for garbage on its way out, too
    sys.exit(code)


if __name__ == "__main__":
    run()
