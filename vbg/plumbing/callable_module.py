"""Packages that are called like the one function they are named after.

`vbg.assemble` is both the package and the step of the pipeline, and importing
any module of a package binds the package's name in `vbg`; so the package
itself answers the call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


def answers_calls(module: str, function: Callable[..., Any] | str) -> None:
    """Makes the package `module` callable as `function`, or as what "MODULE:NAME" names: like
    the names of `vbg` itself it is imported when it is first called."""

    class CallableModule(ModuleType):
        __doc__ = None if isinstance(function, str) else function.__doc__

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            if isinstance(function, str):
                home, _, name = function.partition(":")
                return getattr(import_module(home), name)(*args, **kwargs)
            return function(*args, **kwargs)

    sys.modules[module].__class__ = CallableModule
