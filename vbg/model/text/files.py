"""Model files as documents: text, plain data, and the place of everything in it."""

from __future__ import annotations

from typing import Any

from vbg.errors import ModelError, Problem, UsageError
from vbg.model.text.places import Places
from vbg.model.text.scanner import scan_places
from vbg.model.text.syntax import load

MAX_SIZE = 50_000_000  # characters; a model of 100 000 bodies has half of that
MAX_BYTES = 2 * MAX_SIZE
HDF5 = b"\x89HDF\r\n"  # how a result starts


def _printable(name: str) -> str:
    r"""A path with what no terminal can show written as what it is, `\U00070aba`."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name)


def text_of(name: str) -> str:
    """The text of the file `name`.

    Raises UsageError where there is no such file and ModelError where it is no text.
    """
    try:
        with open(name, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except IsADirectoryError:
        raise UsageError(
            f"cannot read {_printable(name)}: it is a folder; name the model file in it."
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read {_printable(name)}: {reason}") from None
    if len(data) > MAX_BYTES:
        raise refused(name, f"the file has more than {MAX_BYTES} bytes.", 1, 1)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if data.startswith(HDF5):
            raise UsageError(
                f"{name} is a result, not a model file; `vbg plot` and `vbg animate` show it."
            ) from None
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start + 1} is not UTF-8 text."
        raise refused(name, what, line, 1, "Save the file as UTF-8.") from None


def document_of(text: str, name: str) -> tuple[dict[str, Any], Places, tuple[Problem, ...]]:
    """The document that `text` writes, where everything stands in it, and mistakes of
    syntax after which reading could go on.  Raises ModelError after others."""
    if len(text) > MAX_SIZE:
        raise refused(name, f"the file has more than {MAX_SIZE} characters.", 1, 1)
    document, text, problems = load(text.replace("\r\n", "\n"), name)
    return document, scan_places(text), problems


def refused(name: str, what: str, line: int, column: int, remedy: str = "") -> ModelError:
    """The error for a file that cannot be read at all."""
    return ModelError.of((Problem("error", "file", what, remedy, name, line, column),))
