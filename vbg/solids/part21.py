"""Whether a file is a whole STEP file (ISO 10303-21), seen from its text alone.

    ISO-10303-21;  HEADER; ... ENDSEC;  DATA; #1=KIND(...); ... ENDSEC;  END-ISO-10303-21;

OpenCASCADE passes over what it does not understand: of a file that was cut off, or lost lines,
it makes fewer solids, or other ones, and says nothing.  So sections, brackets and
references are looked at here, before it is loaded.
"""

from __future__ import annotations

import os
import re

import numpy as np
from numpy.typing import NDArray

from vbg.errors import ModelError
from vbg.platform.files import is_other_than_file

LARGEST = 100_000_000  # bytes, as of a model file
DEEPEST = 100  # brackets within brackets
PIECE = 4_000_000  # bytes that are looked at together
_SILENT = re.compile(rb"'[^']*(?:'|\Z)|/\*.*?(?:\*/|\Z)", re.DOTALL)  # texts, comments
_DEFINED = re.compile(rb"#(\d{1,18})\s*=")
_REFERRED = re.compile(rb"#(\d{1,18})(?!\d)(?!\s*=)")


def require_step(path: str, shown: str) -> int:
    """The size of the file [bytes].  Raises ModelError, in one sentence, where `path` is no
    regular file, too large, no STEP file, or one that is damaged."""
    found = is_other_than_file(path)
    if found:
        raise ModelError(f"{shown} is {found}, no file.")
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGEST:
                raise ModelError(
                    f"{shown} has {size / 1e6:.0f} MB; a STEP file has at most {LARGEST // 10**6}."
                )
            begin = file.read(64)
            if not begin.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"ISO-10303-21"):
                raise ModelError(
                    f"{shown} is no STEP file: it does not begin with ISO-10303-21;"
                    " export it as STEP (AP203, AP214 or AP242)."
                )
            content = begin + file.read()
    except OSError as error:
        raise ModelError(f"{shown}: {error.strerror}.") from None
    fault = fault_of(content)
    if fault:
        raise ModelError(f"{shown} is a damaged STEP file: {fault}; export it once more.")
    return size


def fault_of(content: bytes) -> str:
    """What is wrong with the text of a STEP file; empty if nothing is."""
    unclosed: list[int] = []

    def blank(found: re.Match[bytes]) -> bytes:
        text = found[0]
        end = b"'" if text.startswith(b"'") else b"*/"
        if len(text) < 2 * len(end) or not text.endswith(end):
            unclosed.append(found.start())
        return b" " * len(text)

    def line(at: int) -> int:
        return content.count(b"\n", 0, at) + 1

    plain = _SILENT.sub(blank, content)  # as long as before: positions stay
    if unclosed:
        return f"the text or comment that begins in line {line(unclosed[0])} does not end"
    at = _sections(plain) or _brackets(plain) or _references(plain)
    return f"{at[0]}, line {line(at[1])}" if at else ""


Fault = tuple[str, int]  # what, and where in the file


def _sections(plain: bytes) -> Fault | None:
    """Each begun and ended in turn, a header and data among them."""
    found = re.finditer(
        rb"(?:^|;)\s*(HEADER|DATA|ANCHOR|REFERENCE|SIGNATURE|ENDSEC|END-ISO-10303-21)\b", plain
    )
    inside = ""
    seen: set[str] = set()
    for one in found:
        word = one[1].decode()
        if word == "END-ISO-10303-21" and not inside:
            missing = {"HEADER", "DATA"} - seen
            return (f"it has no section {min(missing)}", one.start()) if missing else None
        if (word == "ENDSEC") != bool(inside):
            return f"{word} stands where it cannot", one.start(1)
        inside = "" if word == "ENDSEC" else word
        seen.add(word)
    return "it is cut off: END-ISO-10303-21 is missing after the last line", len(plain)


def _brackets(plain: bytes) -> Fault | None:
    """Every statement closes what it opens."""
    signs = np.zeros(256, np.int8)
    signs[ord("(")], signs[ord(")")] = 1, -1
    marks = np.zeros(256, bool)
    marks[list(b"();")] = True
    every = np.frombuffer(plain, np.uint8)
    at = np.flatnonzero(marks[every])
    depth = np.cumsum(signs[every[at]], dtype=np.int64)
    ends = every[at] == ord(";")
    for wrong, what in (
        (depth < 0, "a bracket is closed that was not opened"),
        (ends & (depth > 0), "a bracket is not closed before the next semicolon"),
        (depth > DEEPEST, f"brackets are more than {DEEPEST} deep"),
    ):
        if wrong.any():
            return what, int(at[np.argmax(wrong)])
    return None


def _references(plain: bytes) -> Fault | None:
    """Every #number is defined once."""
    pieces, begin = [], 0
    while begin < len(plain):
        end = plain.find(b";", begin + PIECE) + 1 or len(plain)
        pieces.append(plain[begin:end])
        begin = end

    def numbers(pattern: re.Pattern[bytes]) -> NDArray[np.int64]:
        found = [np.array(pattern.findall(piece), "S18").astype(np.int64) for piece in pieces]
        return np.concatenate(found)

    defined = numbers(_DEFINED)
    if not len(defined):
        return "its data are empty", plain.find(b"DATA")
    own, counts = np.unique(defined, return_counts=True)
    if counts.max() > 1:
        twice = own[np.argmax(counts > 1)]
        return f"#{twice} is defined twice", _place(plain, rb"#0*%d\s*=" % twice)
    strange = np.setdiff1d(numbers(_REFERRED), own)
    if len(strange):
        place = _place(plain, rb"#0*%d\b" % strange[0])
        return f"#{strange[0]} is referred to and not defined", place
    return None


def _place(plain: bytes, pattern: bytes) -> int:
    found = list(re.finditer(pattern, plain))
    return found[-1].start() if found else 0
