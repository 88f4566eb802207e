"""The command `vbg`: finds the verb, runs it, and turns errors into exit codes.

0 fine, 1 the model or the verdict fails, 2 misuse.  Errors go to standard
error, so that what is printed can be piped.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from vbg.cli.parser import register_modules
from vbg.errors import UsageError, VbgError

FINE, FAILS, MISUSE = 0, 1, 2


class _Version(argparse.Action):
    """`--version`, looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"vbg {version('vbg')}")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command, with every verb registered."""
    parser = argparse.ArgumentParser(
        prog="vbg",
        description="Machines from a text file: motion, joint forces, causality, structure.",
        epilog="Start with: vbg new slider-crank -o crank.toml && vbg run crank.toml\n"
        "Help on a verb: vbg run --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    register_modules("vbg.cli.verbs", verbs)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    parsed = build_parser().parse_args(arguments)
    try:
        return parsed.act(parsed)
    except UsageError as error:
        print(f"vbg: {error}", file=sys.stderr)
        return MISUSE
    except VbgError as error:
        print(error, file=sys.stderr)
        return FAILS
    except BrokenPipeError:
        # Whoever read our output (`| head`) has enough; nothing is left to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except KeyboardInterrupt:
        print("vbg: interrupted.", file=sys.stderr)
        return FAILS
    except OSError as error:
        print(f"vbg: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        return MISUSE


def run() -> None:
    """Entry point of the console script."""
    sys.exit(main())


if __name__ == "__main__":
    run()
