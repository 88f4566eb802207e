"""The package as a whole: its public names, its modules, its layers of import."""

from __future__ import annotations

import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module, metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

import vbg
from vbg import precompiled
from vbg.cli.main import main
from vbg.plumbing.kernels.compiled import SHIPPED
from vbg.plumbing.kernels.processors import level

ROOT = Path(__file__).resolve().parents[1]
MODULES = [module.name for module in pkgutil.walk_packages(vbg.__path__, "vbg.")]


@pytest.mark.parametrize("name", vbg.__all__)
def test_every_public_name_resolves(name):
    assert getattr(vbg, name) is not None


@pytest.mark.parametrize("name", [n for n in MODULES if not n.endswith("__main__")])
def test_every_module_imports_and_exports_what_it_lists(name):
    module = import_module(name)
    assert module.__doc__, f"{name} has no docstring"
    for export in getattr(module, "__all__", ()):
        assert hasattr(module, export), export


def test_importing_vbg_is_light():
    code = (
        "import sys, vbg; "
        "print({'numpy', 'numba', 'scipy', 'h5py', 'textual', 'tomlkit'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_installed_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert metadata.version("vbg") == project["version"]
    assert f"version: {project['version']}" in (ROOT / "CITATION.cff").read_text("utf-8")


def test_every_list_of_kernels_is_compiled_into_the_wheel():
    makes = re.compile(
        r"^from vbg\.plumbing\.kernels\.native import .*\b(Native|Family)\b", re.MULTILINE
    )
    lists = [
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in (ROOT / "vbg").rglob("*/*.py")
        if makes.search(file.read_text("utf-8"))
    ]
    assert sorted(lists) == sorted(precompiled.LISTS)


def test_a_wheel_is_not_made_of_kernels_that_a_killed_process_left_out(monkeypatch, tmp_path):
    """Killed, as for want of memory, a process ends with a number below zero."""
    ended = iter((0, -9, 0, 0))
    made = SimpleNamespace(Popen=lambda _: SimpleNamespace(wait=lambda: next(ended)))
    monkeypatch.setattr(precompiled, "subprocess", made)
    assert precompiled.main([str(tmp_path)]) != 0


def test_an_installed_vbg_brings_its_kernels_along():
    """Those of these sources, which a level of processors shares; a checkout has none."""
    installed = metadata.distribution("vbg")
    if "editable" in (installed.read_text("direct_url.json") or "") or level() is None:
        pytest.skip("installed as a checkout, or for a processor of its own")
    files = {file.as_posix() for file in installed.files or ()}
    for module in precompiled.LISTS:
        for family in precompiled.families(module):
            file = family.shipped.relative_to(SHIPPED).as_posix()
            assert f"vbg/plumbing/kernels/shipped/{file}" in files


def test_the_readme_has_exactly_two_set_up_commands():
    text = (ROOT / "README.md").read_text("utf-8").split("## Set up")[1].split("\n## ")[0]
    commands = [line for line in text.splitlines() if line.startswith("    ")]
    assert len(commands) == 2
    assert "vbg run examples/" in commands[0] and "pytest" in commands[1]


def blocks(language: str) -> list[str]:
    """Fenced blocks of the README in `language`."""
    text = (ROOT / "README.md").read_text("utf-8")
    return [part.split("```")[0] for part in text.split(f"```{language}\n")[1:]]


def test_the_model_of_the_readme_runs(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(blocks("toml")[0], encoding="utf-8")
    solution = vbg.simulate(vbg.assemble(vbg.read(path)), t_end=0.1, output_step=0.01)
    assert solution.status.code == "finished"


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = ROOT / "examples" / "slider-crank.toml"
    (tmp_path / "crank.toml").write_text(example.read_text("utf-8"), encoding="utf-8")
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {})


def printed() -> list[tuple[str, list[str]]]:
    """The commands that the README shows with what they print, and those lines."""
    text = (ROOT / "README.md").read_text("utf-8").split("(Shortened.)")[0]
    found: list[tuple[str, list[str]]] = []
    for line in (line.strip() for line in text.splitlines() if line.startswith("    ")):
        if line.startswith("$ vbg "):
            found.append((line.removeprefix("$ vbg "), []))
        elif line:
            found[-1][1].append(line)
    return found


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.]*\w)")


def same(shown: str, line: str) -> bool:
    """The same words, and the same numbers but for errors: those within two decades, and when they
    are largest is nobody's promise."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", line):
        return False
    told, found = ([float(n) for n in NUMBER.findall(text)] for text in (shown, line))
    if shown.endswith(" ok"):
        told[2:3] = found[2:3] = []
    return all(a == b or (0 < max(a, b) < 1e-8 and 0.01 < a / b < 100) for a, b in zip(told, found))


@pytest.mark.parametrize(("command", "lines"), printed())
def test_the_readme_shows_what_its_commands_print(command, lines, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)) == 0
    out = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    shown = [" ".join(line.split()) for line in lines if not line.startswith("--")]
    assert [line for line in shown if not any(same(line, o) for o in out)] == []
