"""Solvers with one changed line: how a fault is put into the source of either.

The transfer-matrix solver is imported once more under another name, with the line
changed and nothing compiled.  The bond-graph solver is left as it is imported,
but the functions that the changed line belongs to exchange their code for the
duration of a run, so that everyone who imported them meets the fault.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import vbg.tmm_bridge as bridge
from vbg.model import Model
from vbg.plumbing.components import vector_of
from vbg.solution import Solution
from vbg.tmm_bridge import solver
from vbg.validate import both
from vbg.validate.child import Answer, Job, solve
from vbg.validate.comparison.values import Verdict

SETTINGS: dict[str, Any] = {"t_end": 0.12, "output_step": 0.02, "rtol": 1e-9, "atol": 1e-11}

SOURCES = Path(bridge.__file__).parent
Fault = Callable[[], AbstractContextManager[None]]
COPY = "copy_of_tmm_bridge"
OPTIMIZED = 0x01  # flag of the code of a function; the body of a class has it not


def _source(name: str) -> Path:
    """The file of a module of the copy."""
    at = SOURCES.joinpath(*name.split(".")[1:])
    return at / "__init__.py" if at.is_dir() else at.with_suffix(".py")


class Changed:
    """Imports the transfer-matrix solver by another name, one text replaced, not compiled."""

    def __init__(self, module: str = "", old: str = "", new: str = ""):
        self.module, self.old, self.new = module, old, new

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] != COPY:
            return None
        return importlib.util.spec_from_loader(
            name, self, is_package=_source(name).stem == "__init__"
        )

    def create_module(self, spec: Any) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        file = _source(module.__name__)
        stem, source = module.__name__.partition(".")[2], file.read_text()
        if stem == self.module:
            assert self.old in source, f"{stem} no longer says {self.old!r}"
            source = source.replace(self.old, self.new)
        if stem == "kernels.sources":
            source = re.sub(r"return KERNELS\.compiled\([^)]*\)", "return function", source)
        if stem == "kernels.entries":
            plain = r'return vars(__import__(f"\1", fromlist=["*"]))[name]'
            source, done = re.subn(r'return _FAMILY\.kernel\(f"([^:]*):.*\)', plain, source)
            assert done == 1
        source = source.replace("vbg.tmm_bridge", COPY)
        module.__file__ = str(file)
        exec(compile(source, file.name, "exec"), module.__dict__)


@contextmanager
def copied(module: str = "", old: str = "", new: str = "") -> Iterator[None]:
    """Within, `validate` meets a copy of the transfer-matrix solver, `old` in its `module`
    replaced by `new`."""
    changed = Changed(module, old, new)
    sys.meta_path.insert(0, changed)
    sound = solver.simulate
    try:
        solver.simulate = importlib.import_module(COPY).simulate
        yield
    finally:
        solver.simulate = sound
        sys.meta_path.remove(changed)
        for name in [n for n in sys.modules if n.partition(".")[0] == COPY]:
            del sys.modules[name]


def _codes(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    """Functions and methods of a module's code by qualified name."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant.co_qualname, constant
            if not constant.co_flags & OPTIMIZED:
                yield from _codes(constant)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) else (value,)
        for member in members:
            if isinstance(member, FunctionType) and member.__module__ == module.__name__:
                yield member


@contextmanager
def exchanged(name: str, old: str, new: str) -> Iterator[None]:
    """Within, the functions of module vbg.`name` run as if its source said `new` for `old`."""
    module = importlib.import_module(f"vbg.{name}")
    source = Path(str(module.__file__)).read_text()
    assert old in source, f"{name} no longer says {old!r}"
    codes = dict(_codes(compile(source.replace(old, new), str(module.__file__), "exec")))
    sound = {
        f: f.__code__
        for f in _functions(module)
        if f.__qualname__ in codes and codes[f.__qualname__] != f.__code__
    }
    assert sound, f"nothing in {name} is changed by {new!r}"
    for function in sound:
        function.__code__ = codes[function.__qualname__]
    try:
        yield
    finally:
        for function, code in sound.items():
            function.__code__ = code


class Bench:
    """A model whose sound answers are kept, so that a fault costs only the faulty side."""

    def __init__(self, model: Model):
        self.model = model
        self._kept: dict[str, Answer] = {}

    def judge(self, side: str, fault: Fault, wrong: Any = None) -> Verdict:
        """The verdict of the real `validate`, the fault within `side` ("vbg" or "mstmm") only;
        `wrong` is another model that this side is handed under the hash of the sound one."""

        def run(jobs: Mapping[str, Job], progress: Any) -> dict[str, Answer]:
            return {name: self._answer(name, job, side, fault, wrong) for name, job in jobs.items()}

        sound = both.here
        both.here = run
        try:
            return both.validate(self.model, in_children=False, **SETTINGS).verdict
        finally:
            both.here = sound

    def _answer(self, name: str, job: Job, side: str, fault: Fault, wrong: Any) -> Answer:
        if name != side:
            if job.poses is not None:
                return solve(job, lambda fraction: None)
            if name not in self._kept:
                self._kept[name] = solve(job, lambda fraction: None)
            return self._kept[name]
        with fault():
            answer = solve(
                job if wrong is None else replace(job, model=wrong), lambda fraction: None
            )
        return replace(answer, solutions=tuple(self._under_sound_hash(s) for s in answer.solutions))

    def _under_sound_hash(self, solution: Solution) -> Solution:
        return replace(solution, made_by=replace(solution.made_by, model_hash=self.model.hash))


def assert_found(verdict: Verdict, channel: str) -> None:
    """FAIL: of the start alone, or of channels, one named in the sentence, `channel` among them."""
    assert verdict.result == "FAIL", verdict.sentence
    failed = [c.name for c in verdict.failed()]
    if "The starts differ" in verdict.sentence and not failed:
        return
    if "The starts differ" not in verdict.sentence:
        assert failed[0] in verdict.sentence
    assert any(vector_of(name) == channel for name in failed), failed
