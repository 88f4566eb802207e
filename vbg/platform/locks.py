"""Locks between processes, which the system releases however their holder ends."""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vbg.errors import UsageError
from vbg.platform.files import is_other_than_file, refused
from vbg.platform.text import escaped

if TYPE_CHECKING:
    import filelock


def _lock(file: Path) -> filelock.FileLock:
    """filelock is loaded here: most commands lock nothing."""
    import filelock

    return filelock.FileLock(file)


class OneWriter:
    """The right to write the file `path`, for one process at a time.

    The lock is the file ``.NAME.lock`` beside it; ``.NAME.writer`` says who holds it, for the
    message of the second.  Both go when the lock is released, at the end of the process at the
    latest; what a killed process leaves of them hinders nobody.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        target = Path(os.path.realpath(path))
        self._holder = target.with_name(f".{target.name}.writer")
        self._lock = _lock(target.with_name(f".{target.name}.lock"))

    def take(self) -> None:
        """Take the lock.

        Raises
        ------
        UsageError
            another process writes the file (told with its number and its machine), the
            folder cannot be written, or its file system has no locks.
        """
        import filelock

        if self._lock.is_locked:
            return
        found = is_other_than_file(self.path)
        if found:
            raise UsageError(f"{self.path}: cannot be written: it is {found}.")
        if not self._holder.parent.is_dir():
            raise refused(self.path, FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)))
        atexit.register(self._end)
        try:
            self._lock.acquire(timeout=0)
            said = {"pid": os.getpid(), "host": platform.node(), "since": time.time()}
            self._holder.unlink(missing_ok=True)  # of one that was killed, or a link
            with open(self._holder, "x", encoding="utf-8") as file:
                file.write(json.dumps(said))
        except filelock.Timeout:
            atexit.unregister(self._end)
            raise UsageError(
                f"{self.path} is being written by {self._who()}."
                " Wait for it, end it, or name another file."
            ) from None
        except NotImplementedError:
            atexit.unregister(self._end)
            raise UsageError(
                f"{self.path}: cannot be locked on this file system. Name another folder."
            ) from None
        except OSError as error:
            self.give_back()
            raise refused(self.path, error) from error

    def give_back(self) -> None:
        """Release it; nothing where it is not held."""
        if self._lock.is_locked:
            with contextlib.suppress(OSError):
                self._holder.unlink(missing_ok=True)
            _release(self._lock)
        atexit.unregister(self._end)

    def _end(self) -> None:
        """Give back what an interrupt has left, held or not: it may have fallen between the lock's
        file and the lock, or into its release."""
        import filelock

        with contextlib.suppress(filelock.Timeout, OSError):
            self._lock.acquire(timeout=0)  # it is another's now where this fails
            self.give_back()

    def _who(self) -> str:
        try:
            said = json.loads(self._holder.read_text(encoding="utf-8"))
            since = time.strftime("%H:%M:%S", time.localtime(float(said["since"])))
            return f"process {int(said['pid'])} on {escaped(str(said['host']))} (since {since})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"


def holder_of(path: str | Path) -> int | None:
    """The process of this machine that says it writes `path`; None where none does."""
    target = Path(os.path.realpath(path))
    try:
        said = json.loads(target.with_name(f".{target.name}.writer").read_text(encoding="utf-8"))
        return int(said["pid"]) if said["host"] == platform.node() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def one_writer(path: str | Path) -> Iterator[None]:
    """Hold the right to write `path`; raises UsageError as `OneWriter.take`."""
    writer = OneWriter(path)
    writer.take()
    try:
        yield
    finally:
        writer.give_back()


@contextmanager
def alone(lock_file: Path) -> Iterator[None]:
    """Hold the lock file; waits for whoever holds it."""
    lock_file.parent.mkdir(parents=True, exist_ok=True)
    with _lock(lock_file):
        yield


class Hold:
    """Holds a file's lock for as long as this process lives, without waiting."""

    def __init__(self, file: Path):
        self._lock = _lock(file.with_name(f".{file.name}.lock"))

    def take(self) -> bool:
        """Whether it is ours now (or was before)."""
        import filelock

        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            return False
        return True

    def give_back(self) -> None:
        """Release it and remove the lock file."""
        if self._lock.is_locked:
            _release(self._lock)


def _release(lock: filelock.BaseFileLock) -> None:
    """Release it and leave no file behind.  It is removed while it is held: who has opened it
    before finds that it has no name any more, and begins anew (filelock sees to that)."""
    with contextlib.suppress(OSError):
        os.unlink(lock.lock_file)
    lock.release()
