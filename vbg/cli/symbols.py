"""sympy, as the verbs that write symbols need it."""

from __future__ import annotations

import os

from vbg.errors import not_installed

REMEMBERED = "100000"  # results; of its own 1000 those of a closed loop push each other out


def require_sympy(what: str) -> None:
    """Imports sympy, which reads the size of its memory then; a size that is set stays.

    Raises UsageError, naming the extra, if it is not installed.
    """
    os.environ.setdefault("SYMPY_CACHE_SIZE", REMEMBERED)
    try:
        import sympy  # noqa: F401
    except ImportError as error:
        raise not_installed(what, "sympy", "symbolic") from error
