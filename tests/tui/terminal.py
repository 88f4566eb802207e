"""A real terminal for tests: vbg in a private tmux server, keys in, text out."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.speed.tui import reports

ROOT = Path(__file__).absolute().parents[2]
# s; the first use of a solver on a machine compiles it
PATIENCE = float(os.environ.get("VBG_PATIENCE", "300"))
_NUMBERS = itertools.count()
HAVE_TMUX = shutil.which("tmux") is not None


@dataclass
class Terminal:
    """One tmux session; `home` is the user's home, and the folder vbg is started in."""

    home: Path
    size: tuple[int, int] = (80, 24)
    extra: dict[str, str] = field(default_factory=dict)
    socket: str = ""
    screens: list[str] = field(default_factory=list)

    def start(self, *arguments: str, redirect: str = "", in_shell: bool = False) -> None:
        """Start `vbg tui` with these arguments; its exit code is printed at its end."""
        self.socket = f"vbg-{os.getpid()}-{next(_NUMBERS)}"
        environment = {
            "HOME": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            # the compiled kernels of the real user: each story would compile them anew
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache"),
            "LANG": "C.UTF-8",
            "COLORTERM": "truecolor",
            "PYTHONPATH": os.pathsep.join(
                filter(None, [self.extra.get("PYTHONPATH", ""), str(ROOT)])
            ),
        } | {k: v for k, v in self.extra.items() if k != "PYTHONPATH"}
        pairs = " ".join(f"{k}={shlex.quote(v)}" for k, v in environment.items())
        words = shlex.join([sys.executable, "-m", "vbg.cli", "tui", *arguments])
        command = f"env -u NO_COLOR -u LC_ALL {pairs} {words} {redirect}; echo EXIT=$?; sleep 600"
        if in_shell:
            command = f"env -u NO_COLOR -u LC_ALL {pairs} bash --norc -i"
        width, height = self.size
        self._tmux("-f", "/dev/null", "new-session", "-d", "-s", "e", "-x", str(width), "-y",
                   str(height), "-c", str(self.home), command)  # fmt: skip
        if in_shell:
            self.type(words)
            self.keys("Enter")

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self.socket, *words], capture_output=True, text=True, check=True
        )
        return done.stdout

    def keys(self, *names: str) -> None:
        """Press keys by their tmux names."""
        for name in names:
            self._tmux("send-keys", "-t", "e", name)
            time.sleep(0.04)

    def type(self, text: str) -> None:
        """Type text as it is."""
        self._tmux("send-keys", "-t", "e", "-l", "--", text)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "e")

    def _after(self) -> str:
        """What is there when a wait has failed: the screen, and what vbg reported."""
        return f"{self.screen()}\n{reports(self.home / 'state')}"

    def wait(self, *texts: str, patience: float = PATIENCE) -> str:
        """Wait until one screen shows all `texts`; the screen.

        A screen is painted piece by piece: what is to be seen on it is waited for as well, not
        looked for on the first screen that shows its title.
        """
        return self.until(lambda shown: all(text in shown for text in texts), str(texts), patience)

    def filled(self, *texts: str) -> str:
        """Wait until a screen painted down to its last row shows all `texts`; the screen.

        On a busy machine the first one may have been laid out for fewer rows than there are: what
        is clicked is elsewhere there.
        """

        def judge(shown: str) -> bool:
            return bool(shown.splitlines()[-1].strip()) and all(text in shown for text in texts)

        return self.until(judge, f"{texts} on a whole screen")

    def until(
        self, judge: Callable[[str], bool], wanted: str = "it", patience: float = PATIENCE
    ) -> str:
        """Wait until the screen is as `judge` wants it; the screen."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            shown = self.screen()
            if judge(shown):
                self.screens.append(shown)
                return shown
            time.sleep(0.05)
        raise AssertionError(f"the screen never showed {wanted}:\n{self._after()}")

    def wait_gone(self, text: str) -> str:
        """Wait until the screen no longer shows `text`; the screen."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            shown = self.screen()
            if text not in shown:
                return shown
            time.sleep(0.05)
        raise AssertionError(f"the screen still shows {text!r}:\n{self._after()}")

    def resize(self, width: int, height: int) -> None:
        self._tmux("resize-window", "-t", "e", "-x", str(width), "-y", str(height))

    def tty(self) -> str:
        """The file of the terminal that vbg writes to."""
        return self._tmux("display-message", "-p", "-t", "e", "#{pane_tty}").strip()

    def process(self) -> int:
        """The process id of the running vbg."""
        shell = self._tmux("display-message", "-p", "-t", "e", "#{pane_pid}").strip()
        for _ in range(200):
            found = children_of(int(shell))
            if found:
                return found[0]
            time.sleep(0.02)
        raise AssertionError("vbg does not run")

    def quit(self) -> None:
        """Leave without saving; the exit code must be 0."""
        self.keys("C-q")
        end = time.monotonic() + PATIENCE
        while "EXIT=" not in self.screen() and time.monotonic() < end:
            if "leave without saving" in self.screen():
                self.type("leave")
                self.keys("Enter")
                self.wait_gone("leave without saving")
            time.sleep(0.05)
        self.wait("EXIT=0", patience=5)

    def close(self) -> None:
        """End this session's server and nothing else; vbg must not have erred."""
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True, check=False)
        assert not (said := reports(self.home / "state")), said


def children_of(pid: int) -> list[int]:
    """Process ids of the children of `pid`."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(words[1]) == pid:
                found.append(int(folder.name))
    return found


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        words = (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return False
    return words[0] != "Z"
