"""How fast the terminal interface is, as its user has it: python -m benchmarks.speed.tui

`vbg tui` runs on a pseudo-terminal of 80x24 cells with a home folder of its own; keys are
written to it and the bytes that come back are timed.  Goals in brackets.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from benchmarks import asked
from vbg.io.runs import hdf5
from vbg.solution import Audit, MadeBy, Solution, Status
from vbg.tui.session.kept.document import digest
from vbg.tui.session.runs import Run, remember, runs_folder

ROOT = Path(__file__).resolve().parents[2]
SIZE = (80, 24)
QUIET = 0.03  # s without output that end a burst
PATIENCE = 150.0  # a machine that is busy with other things takes long to begin


@dataclass
class Session:
    """`vbg tui` on a pseudo-terminal; `heard` is what it wrote, with the time of each piece."""

    home: Path
    arguments: tuple[str, ...] = ()
    size: tuple[int, int] = SIZE
    started: float = 0.0
    heard: list[tuple[float, bytes]] = field(default_factory=list)
    pid: int = 0
    descriptor: int = -1

    def __enter__(self) -> Session:
        self.started = time.perf_counter()
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(self.home)
            os.environ.update(_environment(self.home))
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            words = [sys.executable, "-m", "vbg.cli", "tui", *self.arguments]
            os.execv(sys.executable, words)
        columns, rows = self.size
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.descriptor)
        said = reports(self.home / "state")
        if said and kind is None:
            raise SystemExit(said)

    def processor_time(self) -> float:
        """Seconds of processor time that vbg has taken so far."""
        return _processor_time(_stat(self.pid))

    def solver_time(self) -> float:
        """And those that its solver's process has taken."""
        known = [_stat(int(f.name)) for f in Path("/proc").iterdir() if f.name.isdigit()]
        return sum(_processor_time(words) for words in known if words[1:2] == [str(self.pid)])

    def listen(self, seconds: float) -> bytes:
        """What comes within `seconds`, or nothing."""
        ready, _, _ = select.select([self.descriptor], [], [], seconds)
        if not ready:
            return b""
        try:
            piece = os.read(self.descriptor, 1 << 16)
        except OSError:  # the other side of a pseudo-terminal is gone
            raise SystemExit(f"vbg tui ended: {self._after()}") from None
        self.heard.append((time.perf_counter(), piece))
        return piece

    def said(self) -> str:
        """Everything that was heard."""
        return b"".join(piece for _, piece in self.heard).decode(errors="replace")

    def _after(self) -> str:
        """What there is when it has gone wrong: the last it wrote, and its reports."""
        return f"{self.said()[-2000:]}\n{reports(self.home / 'state')}"

    def wait(self, text: str) -> float:
        """Seconds since the start until `text` was written."""
        end = time.perf_counter() + PATIENCE
        while text not in self.said():
            self.listen(0.1)
            if time.perf_counter() > end:
                raise SystemExit(f"vbg tui never wrote {text!r}: {self._after()}")
        return self.heard[-1][0] - self.started

    def settle(self, seconds: float = 0.5) -> None:
        """Read until nothing has come for `seconds`."""
        while self.listen(seconds):
            pass

    def press(self, keys: str) -> float:
        """Seconds from a key to the end of what it paints."""
        begin = time.perf_counter()
        os.write(self.descriptor, keys.encode())
        if not self.listen(PATIENCE):
            raise SystemExit(f"vbg tui did not answer {keys!r}")
        while self.listen(QUIET):
            pass
        return self.heard[-1][0] - begin

    def say(self, keys: str) -> None:
        """Press keys one by one, waiting for the end of what each paints."""
        for key in keys:
            self.press(key)
            self.settle(0.1)


def _stat(pid: int) -> list[str]:
    """What the system says of a process behind its name; nothing of one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []


def _processor_time(words: list[str]) -> float:
    return sum(map(int, words[11:13])) / os.sysconf("SC_CLK_TCK")


def reports(state: Path) -> str:
    """What vbg reported of its own errors into the folder of its state."""
    found = sorted((state / "vbg").glob("crash-*.txt"))
    return "\n".join(file.read_text("utf-8") for file in found)


def _environment(home: Path) -> dict[str, str]:
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("STATE", "CONFIG")}
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    # compiled sources are kept, as those of an installed vbg are
    kept = os.environ.get("PYTHONPYCACHEPREFIX", str(home / "compiled"))
    compiled = {"PYTHONPYCACHEPREFIX": kept, "PYTHONPATH": paths}
    return folders | terminal | compiled


def chain(bodies: int) -> str:
    """A chain of rods: twice as many parts as bodies."""
    lines = ["vbg = 1", 'name = "chain"']
    for i in range(bodies):
        lines += [f"[bodies.b{i}]", "mass = 1.0", "inertia = { xx = 1e-3, yy = 0.1, zz = 0.1 }"]
        lines += ["points = { A = [-0.5, 0, 0], B = [0.5, 0, 0] }"]
        before = f"b{i - 1}.B" if i else "ground"
        lines += [f"[joints.j{i}]", 'kind = "revolute"', f'between = ["{before}", "b{i}.A"]']
        lines += ["axis = [0, 1, 0]"]
    return "\n".join([*lines, "[simulate]", "t_end = 1.0", ""])


def swinging(points: int) -> Solution:
    """A made-up motion of the first rod of a chain with a noisy force: `points` rows."""
    t = np.linspace(0.0, 20.0, points)
    angle, zero = np.sin(3 * t), np.zeros(points)
    force = np.stack([10 * np.sin(6 * t), zero, 9.81 + np.sin(700 * t) * np.sin(t)], axis=1)
    half = angle / 2
    return Solution(
        t,
        {
            "b0.position": 0.5 * np.stack([np.cos(angle), zero, -np.sin(angle)], axis=1),
            "b0.rotation": np.stack([np.cos(half), zero, np.sin(half), zero], axis=1),
            "j0.force": force,
            "j0.angle": angle,
        },
        audit=Audit(1e-9, 1e-12, 1e-11),
        made_by=MadeBy("vbg", "chain", "", "dop853", 1e-8, 1e-10, {}, points, points, 0.1),
        status=Status("finished", "The simulation reached its end."),
        units={"b0.position": "m", "b0.rotation": "1", "j0.force": "N", "j0.angle": "rad"},
    )


def put_model(home: Path, text: str, solution: Solution | None = None) -> Path:
    """A model in `home`, with a run that an earlier session left."""
    file = home / "model.toml"
    file.write_text(text, encoding="utf-8")
    if solution is not None:
        os.environ["XDG_STATE_HOME"] = str(home / "state")
        result = runs_folder(file) / "0001-vbg.h5"
        hdf5.write(solution, result)
        end = float(solution.time[-1])
        audit = asdict(solution.audit) | {"events": []}
        run = Run(1, "vbg", digest(text), str(result), "finished", time=end, t_end=end, audit=audit)
        remember(run)
    return file


def with_home(measure: Callable[[Path], None]) -> None:
    """`measure` in a home folder of its own."""
    with tempfile.TemporaryDirectory(prefix="vbg-tui-") as folder:
        measure(Path(folder))


def first_frame(home: Path, *, times: int = 5) -> None:
    """From the command to the first whole frame."""
    put_model(home, chain(2))
    seconds, cpu = [], []
    for _ in range(times + 1):
        with Session(home, ("model.toml",)) as session:
            seconds.append(session.wait("palette"))
            cpu.append(session.processor_time())
    median = statistics.median(seconds[1:])
    print(f"first frame: {min(seconds[1:]):.2f} s, median {median:.2f} s [< 0.5, warm];"
          f" processor time {min(cpu[1:]):.2f} s")  # fmt: skip


def keys(home: Path, *, bodies: int = 100, presses: int = 40) -> None:
    """From a key to its paint, in the tree and in the graph."""
    put_model(home, chain(bodies))
    with Session(home, ("model.toml",)) as session:
        session.wait("0 errors")
        session.settle()
        tree = [_pressed(session, "j") for _ in range(presses)]
        session.say("2")
        session.settle(1.0)
        graph = [_pressed(session, "l" if i % 4 < 2 else "h") for i in range(presses)]
    for name, taken in (("tree", tree), ("graph", graph)):
        print(f"key to paint, {2 * bodies} parts, {name}: {_spread(taken)} [< 50 ms]")


def _pressed(session: Session, key: str) -> float:
    taken = session.press(key)
    session.settle(0.05)
    return taken


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    at = ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]
    return f"median {1e3 * statistics.median(ordered):.0f} ms, 95 % {1e3 * at:.0f} ms"


def opening(home: Path, *, bodies: int = 1000, presses: int = 20) -> None:
    """A large model: until it is seen, until it is checked, and its keys meanwhile and after."""
    put_model(home, chain(bodies))
    with Session(home, ("model.toml",)) as session:
        session.wait("0 errors")  # its sources are compiled now, as those of an installed vbg
    with Session(home, ("model.toml",)) as session:
        seen = session.wait("b1")
        session.settle(QUIET)
        first = session.press("j")
        meanwhile = [session.press("j") for _ in range(presses)]
        checked = session.wait("0 errors")
        session.settle()
        after = [_pressed(session, "j") for _ in range(presses)]
    print(f"open {2 * bodies} parts: seen {seen:.2f} s [< 2], checked {checked:.2f} s;"
          f" first key {1e3 * first:.0f} ms, those meanwhile: {_spread(meanwhile)};"
          f" after: {_spread(after)}")  # fmt: skip


def curves(home: Path, *, points: int = 20_000, presses: int = 20) -> None:
    """From a key to the redrawn curves of a long run."""
    put_model(home, chain(2), swinging(points))
    with Session(home, ("model.toml",)) as session:
        session.wait("0 errors")
        session.say("4")
        session.wait("j0.force")
        session.settle()
        moved = [_pressed(session, "l") for _ in range(presses)]
        zoomed = [_pressed(session, "+" if i % 2 == 0 else "-") for i in range(presses)]
    print(f"redraw of {points}-point curves: cursor {_spread(moved)};"
          f" zoom {_spread(zoomed)} [< 100 ms]")  # fmt: skip


def motion(home: Path, *, seconds: float = 6.0, points: int = 2001) -> None:
    """Frames and bytes while the machine moves, joint forces as arrows."""
    put_model(home, chain(6), _moving(points))
    with Session(home, ("model.toml",)) as session:
        session.wait("0 errors")
        session.say("6")
        session.wait("3D")
        session.settle()
        begin = len(session.heard)
        os.write(session.descriptor, b" ")
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            session.listen(0.05)
        pieces = session.heard[begin:]
    times = np.array([at for at, _ in pieces])
    frames = 1 + int(np.count_nonzero(np.diff(times) > QUIET))
    size = sum(len(piece) for _, piece in pieces)
    span = times[-1] - times[0]
    print(f"3D at 80x24: {frames / span:.1f} frames a second [12],"
          f" {size / span / 1e3:.0f} kB a second [< 60]")  # fmt: skip


def _moving(points: int) -> Solution:
    """Six rods that swing one after the other: every cell of the picture is busy."""
    t = np.linspace(0.0, 20.0, points)
    zero = np.zeros(points)
    signals: dict[str, np.ndarray] = {}
    units = {}
    end = np.zeros((points, 3))
    for i in range(6):
        angle = (0.6 + 0.3 * i) * np.sin((1.0 + 0.4 * i) * t)
        along = np.stack([np.sin(angle), zero, -np.cos(angle)], axis=1)
        turn = (np.pi / 2 - angle) / 2  # from the rod's x axis down to `along`
        signals[f"b{i}.position"] = end + 0.5 * along
        signals[f"b{i}.rotation"] = np.stack([np.cos(turn), zero, np.sin(turn), zero], axis=1)
        signals[f"j{i}.force"] = 10 * np.stack([np.sin(2 * t + i), zero, np.cos(t - i)], axis=1)
        units |= {f"b{i}.position": "m", f"b{i}.rotation": "1", f"j{i}.force": "N"}
        end = end + along
    made = MadeBy("vbg", "chain", "", "dop853", 1e-8, 1e-10, {}, points, points, 0.1)
    status = Status("finished", "The simulation reached its end.")
    return Solution(t, signals, Audit(1e-9, 1e-12, 1e-11), made, status, units=units)


def edits(home: Path, *, steps: int = 20) -> None:
    """From a step of a slider to the curve of the run with it, the solver warm."""
    for name in ("pendulum", "slider-crank"):
        own_home = home / name
        own_home.mkdir()
        put_model(own_home, (ROOT / "examples" / f"{name}.toml").read_text("utf-8"))
        with Session(own_home, ("model.toml",)) as session:
            session.wait("0 errors")
            session.say("r")
            session.wait("finished at t")
            session.say("4L")
            session.wait("run 1 bond graph: finished")
            _edited(session, 2)
            begin = session.processor_time(), session.solver_time()
            taken = [_edited(session, n) for n in range(3, 3 + steps)]
            end = session.processor_time(), session.solver_time()
        own, solver = (1e3 * (b - a) / steps for a, b in zip(begin, end, strict=True))
        print(f"edit to curve, {name}: least {1e3 * min(taken):.0f} ms [< 150], {_spread(taken)};"
              f" processor time {own:.0f} ms and {solver:.0f} ms of the solver")  # fmt: skip


def _edited(session: Session, number: int) -> float:
    """Seconds from a step of the slider to the curve of run `number`."""
    heard = len(session.heard)
    begin = time.perf_counter()
    os.write(session.descriptor, b"l")
    wanted = f"run {number} bond graph: finished".encode()
    while wanted not in b"".join(piece for _, piece in session.heard[heard:]):
        if time.perf_counter() > begin + PATIENCE:
            raise SystemExit(f"vbg tui never drew run {number}")
        session.listen(0.1)
    taken = session.heard[-1][0] - begin
    session.settle(0.2)
    return taken


def main() -> None:
    for measure in (first_frame, keys, opening, curves, motion, edits):
        with_home(measure)


if __name__ == "__main__":
    asked.nothing(__doc__)
    main()
