"""Packages that are called like the one function they are named after.

`vbg.assemble` is both the package and the step of the pipeline, and importing
any module of a package binds the package's name in `vbg`; so the package
itself answers the call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def answers_calls(module: str, function: Callable[..., Any]) -> None:
    """Makes the package `module` callable as `function`."""

    class CallableModule(ModuleType):
        __doc__ = function.__doc__

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    sys.modules[module].__class__ = CallableModule
