"""What only one family of operating systems has is called in `vbg.platform` alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import vbg

ROOT = Path(vbg.__file__).parent
ROOM = ROOT / "platform"
MODULES = {"fcntl", "grp", "msvcrt", "posix", "pty", "pwd", "resource", "termios", "tty", "winreg"}
CALLS = {
    "os": {
        "chown", "fork", "forkpty", "geteuid", "getgid", "getpgid", "getuid", "killpg", "kill",
        "mkfifo", "mknod", "nice", "openpty", "setpgid", "setsid", "setuid", "sysconf", "umask",
        "uname", "wait", "waitpid", "O_NOFOLLOW", "O_NONBLOCK",
    },
    "signal": {
        "SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE", "SIGCHLD", "alarm",
        "pause", "pthread_kill", "setitimer", "sigwait",
    },
}  # fmt: skip
FILES = sorted(file for file in ROOT.rglob("*.py") if ROOM not in file.parents)


def foreign(tree: ast.AST) -> list[str]:
    """What a module names that not every system has."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in CALLS.get(node.value.id, ()):
                found.append(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found += [node.value for name in ("XDG_", "/tmp/") if node.value.startswith(name)]
    return found


def test_no_call_of_one_system_outside_its_room():
    calls = {}
    for file in FILES:
        named = foreign(ast.parse(file.read_text(encoding="utf-8")))
        if named:
            calls[str(file.relative_to(ROOT))] = named
    assert calls == {}


@pytest.mark.parametrize("line", ["import fcntl", "os.killpg(1, 9)", "x = signal.SIGKILL"])
def test_the_check_sees_such_a_call(line):
    assert foreign(ast.parse(line))


HIDDEN = """
import sys
hidden = {"pwd", "grp", "resource", "termios", "tty"}

class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name in hidden:
            raise ModuleNotFoundError(f"{name} is of another system", name=name)

import filelock, platformdirs, psutil, subprocess, tempfile, numba, h5py, textual.app
import textual.drivers.linux_driver
for name in hidden:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Hiding())
import os, signal
for name in ("killpg", "fork", "getuid", "geteuid", "setsid", "mkfifo", "getpgid"):
    delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "pthread_kill"):
    delattr(signal, name)
import pkgutil, importlib, vbg
missing = {"pygraphviz", "matplotlib", "control", "sympy", "dask", "pyarrow", "OCP", "pin"}
for module in pkgutil.walk_packages(vbg.__path__, "vbg."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        assert (error.name or "").split(".")[0] in missing, (module.name, error)
"""


@pytest.mark.slow
def test_every_module_is_there_without_them():
    ran = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
