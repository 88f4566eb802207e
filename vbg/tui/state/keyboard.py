"""What is typed, done in the order of typing, each key when what it is for is there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Typed = TypeVar("Typed")


@dataclass
class Keyboard(Generic[Typed]):
    """One queue of keys and pasted texts.

    listens : whether somebody takes the next one now, and not a dialog that is yet to open;
    hear : does one, to its end;  who makes somebody listen calls `go_on`;
    heard : how many have been done.
    """

    listens: Callable[[], bool]
    hear: Callable[[Typed], None]
    typed: deque[Typed] = field(default_factory=deque)
    hearing: bool = False
    heard: int = 0

    def put(self, event: Typed) -> None:
        """One more was typed."""
        self.typed.append(event)
        self.go_on()

    def go_on(self) -> None:
        """Do what waits, as far as somebody listens."""
        if self.hearing:
            # a key that makes somebody listen is not done yet
            return
        self.hearing = True
        try:
            while self.typed and self.listens():
                self.heard += 1
                self.hear(self.typed.popleft())
        finally:
            self.hearing = False
