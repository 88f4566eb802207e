"""Faults seeded into either solver at random, judged by the real `validate`.

``python -m benchmarks.seeded_faults --count 500 --seed 1``  (``--package elements`` for one only)

A fault is one change of the syntax tree: a sign, an operator, a comparison, a constant, a
dropped term, two arguments exchanged.  It is put into a function that the machines below run,
in a process of its own, and `validate` judges it with everything it has: restart, replay,
tolerance by step doubling, audits.  A fault counts as visible if it changes an output of the
faulty solver by more than 1e-6 of its peak in a machine that is run; then the verdict
must be FAIL or INCONCLUSIVE, or the run an error.  Survivors are listed.

The table: found (FAIL, INCONCLUSIVE, error), no visible effect, survivors, by package.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.util
import json
import os
import pickle
import random
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("junctions", "elements", "assemble", "graph", "physics", "tmm_bridge", "onedim")
# A few machines that between them run most of both solvers, all in a tenth of a second.
MACHINES = (
    "tests/tmm_bridge/arm.toml",
    "tests/tmm_bridge/loop.toml",
    "examples/dc-motor-start.toml",
    "examples/quarter-car.toml",
    "examples/hydraulic-arm.toml",
    "examples/rlc-ladder.toml",
    "examples/bennett.toml",
)
SETTINGS = {"t_end": 0.1, "output_step": 0.02, "rtol": 1e-9, "atol": 1e-11}
VISIBLE = 1e-6
CPU = 120  # [s] of a fault's process: one that takes longer is stuck, which is no PASS
# What is compiled is run by the interpreter where the fault is among it.
COMPILED = {"tmm_bridge/kernels": "mstmm", "tmm_bridge/motion": "mstmm", "machine": "assemble"}


@dataclass(frozen=True)
class Fault:
    """The `place`-th change that can be made in function `function` of a module."""

    module: str
    function: str
    place: int
    what: str = ""
    line: int = 0


class Site(ast.NodeVisitor):
    """All single changes of a function's syntax tree, in order."""

    def __init__(self) -> None:
        self.changes: list[tuple[ast.AST, str, str]] = []

    def visit_BinOp(self, node: ast.BinOp) -> None:
        swaps = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
        if type(node.op) in swaps:
            self.changes.append((node, "operator", swaps[type(node.op)].__name__))
            self.changes.append((node, "drop", "right term"))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub):
            self.changes.append((node, "sign", "minus dropped"))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        swaps = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.Gt, ast.GtE: ast.Lt}
        swaps |= {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
        if type(node.ops[0]) in swaps:
            self.changes.append((node, "comparison", swaps[type(node.ops[0])].__name__))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, float) and node.value != 0.0:
            self.changes.append((node, "constant", "times 1.01"))
        elif type(node.value) is int:
            self.changes.append((node, "constant", "plus 1"))

    def visit_Call(self, node: ast.Call) -> None:
        if len(node.args) >= 2 and not any(isinstance(a, ast.Starred) for a in node.args):
            self.changes.append((node, "arguments", "first two exchanged"))
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What is said of an error is no physics."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Nor is text."""


def apply(change: tuple[ast.AST, str, str]) -> None:
    """Change the tree in place."""
    node, kind, what = change
    if kind == "operator":
        node.op = getattr(ast, what)()
    elif kind == "drop":
        _become(node, node.left)
    elif kind == "sign":
        _become(node, node.operand)
    elif kind == "comparison":
        node.ops[0] = getattr(ast, what)()
    elif kind == "constant":
        node.value = node.value * 1.01 if isinstance(node.value, float) else node.value + 1
    else:
        node.args[0], node.args[1] = node.args[1], node.args[0]


def _become(node: Any, other: Any) -> None:
    """The node takes the place of another: (a + b) becomes +a, which is a."""
    inner = copy.copy(other)
    node.__class__ = ast.UnaryOp
    node.op, node.operand = ast.UAdd(), inner


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a module and methods of its classes by qualified name."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def changes_of(function: ast.FunctionDef) -> list[tuple[ast.AST, str, str]]:
    """What can be changed in its body."""
    site = Site()
    for statement in function.body:
        site.visit(statement)
    return site.changes


class Seeded(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Imports one module with a fault in it; nothing of that is kept on disk."""

    def __init__(self, fault: Fault):
        self.fault = fault
        self.file = path_of(fault.module)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.fault.module:
            return None
        package = self.file.name == "__init__.py"
        return importlib.util.spec_from_loader(name, self, is_package=package)

    def get_filename(self, fullname: str) -> str:
        return str(self.file)

    def get_data(self, path: Any) -> bytes:
        return Path(path).read_bytes()

    def exec_module(self, module: Any) -> None:
        tree = ast.parse(self.file.read_text())
        function = dict(functions(tree))[self.fault.function]
        apply(changes_of(function)[self.fault.place])
        code = compile(ast.fix_missing_locations(tree), str(self.file), "exec")
        module.__file__ = str(self.file)
        exec(code, module.__dict__)


def path_of(module: str) -> Path:
    """The file of a module of vbg."""
    at = ROOT.joinpath(*module.split("."))
    return at / "__init__.py" if at.is_dir() else at.with_suffix(".py")


def package_of(module: str) -> str:
    """The row of the table that a module belongs to."""
    return "onedim" if ".onedim" in module else module.split(".")[1]


def interpreted(module: str) -> None:
    """Let the interpreter run the kernels among which the module is."""
    from vbg.plumbing.compiled import Kernels

    path = module.replace(".", "/")
    sets = {name for part, name in COMPILED.items() if part in path}
    sound = Kernels.compiled

    def compiled(self: Kernels, function: Any, **options: Any) -> Any:
        if any(self.folder.name.startswith(name) for name in sets):
            return function
        return sound(self, function, **options)

    Kernels.compiled = compiled  # type: ignore[method-assign]


def judge(fault: Fault | None, machine: str) -> dict[str, Any]:
    """The verdict on one machine, and the outputs of both solvers."""
    import vbg
    from vbg.validate import validate

    model = vbg.read(ROOT / machine)
    report = validate(model, in_children=False, **SETTINGS)
    outputs = {
        solver: {n: v.copy() for n, v in s.signals.items() if not n.startswith("residual.")}
        for solver, s in report.solutions.items()
    }
    return {"result": report.result, "sentence": report.verdict.sentence, "outputs": outputs}


def traced(machine: str) -> set[tuple[str, str]]:
    """(module, function) of all functions that the machine calls, by the interpreter."""
    called: set[tuple[str, str]] = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("vbg."):
            called.add((name, frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        judge(None, machine)
    finally:
        sys.setprofile(None)
    return called


def visible(sound: dict[str, Any], faulty: dict[str, Any]) -> bool:
    """Whether a solver's outputs differ by more than the threshold from those without fault."""
    import numpy as np

    for solver, signals in sound.items():
        largest: dict[str, float] = {}  # of signals of one kind: beside it others are zero
        for name, values in signals.items():
            kind = name.rpartition(".")[2]
            largest[kind] = max(largest.get(kind, 0.0), float(np.abs(values).max(initial=0.0)))
        for name, values in signals.items():
            other = faulty.get(solver, {}).get(name)
            if other is None or other.shape != values.shape:
                return True
            floor = max(1e-6 * largest[name.rpartition(".")[2]], 1e-9)
            peak = max(float(np.abs(values).max(initial=0.0)), floor)
            if not float(np.abs(other - values).max(initial=0.0)) <= VISIBLE * peak:
                return True
    return False


def run_child(order: dict[str, Any]) -> dict[str, Any]:
    """One order in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer"
        command = [sys.executable, "-m", "benchmarks.seeded_faults", "--order", json.dumps(order)]
        ended = subprocess.run(
            [*command, "--answer", str(answer)], cwd=ROOT, capture_output=True, text=True
        )
        if answer.exists():
            return dict(pickle.loads(answer.read_bytes()))
        words = ended.stderr.strip().splitlines()[-1:] or ["stuck"]
        return {"result": "error", "sentence": words[0][:200]}


def act(order: dict[str, Any]) -> dict[str, Any]:
    """What an order asks for, in this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    if order["do"] == "trace":
        interpreted("vbg/tmm_bridge/kernels/")
        return {"called": traced(order["machine"])}
    if order["do"] == "sound":
        return judge(None, order["machine"])
    fault = Fault(**order["fault"])
    interpreted(fault.module)
    sys.meta_path.insert(0, Seeded(fault))
    return judge(fault, order["machine"])


def candidates(called: set[tuple[str, str]], package: str) -> list[Fault]:
    """Every fault in a called function of the package."""
    found: list[Fault] = []
    for module in sorted({m for m, _ in called if package_of(m) == package}):
        for name, function in functions(ast.parse(path_of(module).read_text())):
            if (module, name) in called:
                for place, (node, kind, what) in enumerate(changes_of(function)):
                    line = getattr(node, "lineno", 0)
                    found.append(Fault(module, name, place, f"{kind}: {what}", line))
    return found


def outcome(fault: Fault, machines: list[str], sound: dict[str, Any]) -> tuple[str, str]:
    """("FAIL" ... "survived", sentence) of a fault over the machines that run its function."""
    said = ""
    for machine in machines:
        found = run_child({"do": "fault", "fault": asdict(fault), "machine": machine})
        if found["result"] != "PASS":
            return found["result"], found["sentence"]
        if visible(sound[machine]["outputs"], found["outputs"]):
            return "survived", f"{machine}: {found['sentence']}"
        said = found["sentence"]
    return "no effect", said


def campaign(
    count: int, seed: int, packages: tuple[str, ...], machines: tuple[str, ...] = MACHINES
) -> Counter[tuple[str, str]]:
    """Seeds faults, prints each survivor and the table, and returns it."""
    called = {m: run_child({"do": "trace", "machine": m}).get("called", set()) for m in machines}
    sound = {m: run_child({"do": "sound", "machine": m}) for m in machines}
    sane = [m for m in machines if sound[m]["result"] == "PASS" and called[m]]
    everywhere = set().union(*(called[m] for m in sane))
    pools = {p: candidates(everywhere, p) for p in packages}
    table: Counter[tuple[str, str]] = Counter()
    draw = random.Random(seed)
    for number in range(count):
        package = packages[number % len(packages)]
        if not pools[package]:
            continue
        fault = draw.choice(pools[package])
        running = [m for m in sane if (fault.module, fault.function) in called[m]][:3]
        result, sentence = outcome(fault, running, sound)
        table[package, result] += 1
        print(f"{result:14}{fault.module}:{fault.line} {fault.function}, {fault.what}", flush=True)
        if result == "survived":
            print(f"              {sentence}")
    _print_table(table, packages)
    return table


RESULTS = ("FAIL", "INCONCLUSIVE", "error", "no effect", "survived")


def _print_table(table: Counter[tuple[str, str]], packages: tuple[str, ...]) -> None:
    print(f"\n{'package':14}" + "".join(f"{r:>14}" for r in RESULTS))
    for package in packages:
        print(f"{package:14}" + "".join(f"{table[package, r]:>14}" for r in RESULTS))
    totals = {r: sum(n for (_, other), n in table.items() if other == r) for r in RESULTS}
    print(f"{'all':14}" + "".join(f"{totals[r]:>14}" for r in RESULTS))


def main() -> None:
    """The campaign, or one order of it in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--package", action="append", choices=PACKAGES)
    parser.add_argument("--machine", action="append", help="a model file instead of the usual ones")
    parser.add_argument("--order", help=argparse.SUPPRESS)
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.order:
        answer = pickle.dumps(act(json.loads(arguments.order)))
        Path(arguments.answer).write_bytes(answer)
        os._exit(0)
    table = campaign(
        arguments.count,
        arguments.seed,
        tuple(arguments.package or PACKAGES),
        tuple(arguments.machine or MACHINES),
    )
    sys.exit(1 if any(result == "survived" for _, result in table) else 0)


if __name__ == "__main__":
    main()
