"""The long tail: cases that say again, on other machines or seeds, what the first ones say.

The README's command runs the first of them, `-m slow` the others, and `.ci/run` a quarter of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def tail(cases: Iterable[Any], first: int) -> list[Any]:
    """The cases of a parametrised test, all behind the `first` ones marked slow."""
    return [case if n < first else _slow(case) for n, case in enumerate(cases)]


def only(chosen: Iterable[Any], cases: Iterable[Any]) -> list[Any]:
    """The cases, all but the chosen ones marked slow."""
    chosen = list(chosen)
    return [case if case in chosen else _slow(case) for case in cases]


def _slow(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
