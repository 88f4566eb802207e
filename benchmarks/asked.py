"""What a benchmark is asked for on the command line: --help shows what its file says of it."""

from __future__ import annotations

import argparse


def parser(doc: str | None) -> argparse.ArgumentParser:
    """One whose --help is the benchmark's own text, as it stands in its file."""
    return argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def nothing(doc: str | None) -> None:
    """Of a benchmark without options."""
    parser(doc).parse_args()


def quick(doc: str | None) -> bool:
    """Of one with --quick: few sizes."""
    asked = parser(doc)
    asked.add_argument("--quick", action="store_true", help="small sizes only")
    return bool(asked.parse_args().quick)
