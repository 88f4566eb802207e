"""A request to end that comes in the midst of an import waits for its end, and no longer."""

from __future__ import annotations

import importlib
import signal
import sys
import time

import pytest

from vbg.platform.processes import END_REQUESTS, interrupt_on_end_request

INSIDE = """
import signal
for number in {numbers}:
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        raise ImportError("half loaded, as compiled modules say it")
import {deeper}
whole = True
"""


@pytest.fixture
def handlers():
    before = {number: signal.getsignal(number) for number in END_REQUESTS}
    for number in END_REQUESTS:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def awaited(seconds: float = 5.0) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.005)


@pytest.mark.parametrize("number", END_REQUESTS, ids=lambda n: n.name)
def test_an_import_is_whole_before_its_interrupt(number, handlers, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, deeper in (("outer_of_two", "inner_of_two"), ("inner_of_two", "math")):
        text = INSIDE.format(numbers=[int(number)] * 3, deeper=deeper)
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    interrupt_on_end_request()
    with pytest.raises(KeyboardInterrupt):
        importlib.import_module("outer_of_two")
        awaited()
    assert sys.modules["outer_of_two"].whole and sys.modules["inner_of_two"].whole
    time.sleep(0.1)  # six requests in two imports are one: no other follows


def test_outside_of_imports_it_comes_at_once(handlers):
    interrupt_on_end_request()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
