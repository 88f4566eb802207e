"""What can be chosen from a list."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a list; `refusal` says why it cannot be chosen now."""

    key: str
    label: str
    detail: str = ""
    refusal: str = ""
