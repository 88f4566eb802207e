"""Files that are written whole or not at all."""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from vbg.errors import UsageError, VbgError

_TEMPORARY = ".vbg-part"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOMEM)
_SYNCHRONOUS_FOLDERS = os.name == "posix"  # elsewhere a folder cannot be opened


@contextmanager
def replacing(path: str | Path, *, follow: bool = True) -> Iterator[Path]:
    """The name of a new file beside `path`, with its ending, that takes its place at the end.

    Whatever happens meanwhile, `path` is the old file or the new one, whole: the new one is
    on the disk before it gets the name.  It keeps the permissions of the old one.  A link is
    followed where the user has named it; without `follow`, for names that vbg makes, it is
    replaced: a stranger's folder may hold one that leads to a file of the user.  The
    temporary file is removed when the block is left by any error, and one of a process that
    was killed when the same file is written again.

    Raises
    ------
    UsageError
        there is no such folder, no permission, or `path` is a pipe, a device, a folder.
    VbgError
        the disk is full or broken; `path` is as it was.
    """
    target = Path(os.path.realpath(path)) if follow else _own(Path(path))
    temporary = target.with_name(f".{target.stem}.{os.getpid()}{_TEMPORARY}{target.suffix}")
    found = is_other_than_file(target) if follow else ""
    if found:
        raise UsageError(f"{path}: cannot be written: it is {found}.")
    with surely(lambda: _unlink(temporary)):
        try:
            _remove_abandoned(target)
            temporary.unlink(missing_ok=True)  # of an earlier process of this number, or a link
            yield temporary
            if temporary.exists():
                _synchronise(temporary)
                os.chmod(temporary, _permissions(target))
                os.replace(temporary, target)
                _synchronise_folder(target.parent)
        except OSError as error:
            raise refused(path, error) from error


@contextmanager
def surely(undo: Callable[[], None]) -> Iterator[None]:
    """Call `undo` when the block is left, and once more at the end of the process where an
    interrupt fell into the very lines that leave it (or enter it: it is called, too, where the
    block has not begun).  `undo` may be called twice and does not raise."""
    atexit.register(undo)
    try:
        yield
    finally:
        undo()
        atexit.unregister(undo)


def _unlink(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.unlink(missing_ok=True)


def write_text(path: str | Path, text: str, *, follow: bool = True) -> None:
    """Write `text` as UTF-8 with the line ends it has, whole or not at all.

    `follow` and what it raises as `replacing`.
    """
    with (
        replacing(path, follow=follow) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as file,
    ):
        file.write(text)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write `content`, whole or not at all.  Raises as `replacing`."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def refused(path: str | Path, error: OSError) -> VbgError:
    """What the system said, in one sentence: a VbgError where the disk is full or broken,
    otherwise a UsageError, since another name would do."""
    kind = VbgError if error.errno in _FULL else UsageError
    reason = error.strerror or str(error)
    return kind(f"{path}: cannot be written: {reason}.")


def unforeseen(error: OSError | MemoryError | RecursionError) -> VbgError:
    """What the system refused where nobody had thought of it, in one sentence."""
    if isinstance(error, MemoryError):
        asked = f" ({error})" if str(error) else ""
        return VbgError(f"vbg: there is not enough memory{asked}. Ask for fewer output instants.")
    if isinstance(error, RecursionError):
        return VbgError("vbg: something in the files is nested too deeply.")
    if error.filename:
        return refused(error.filename, error)
    try:
        os.getcwd()
    except OSError:
        gone = "the folder that it was started in is not there any more; go to another one."
        return UsageError(gone)
    return VbgError(f"vbg: {error.strerror or error}.")


def is_other_than_file(path: str | Path) -> str:
    """What stands at `path` that is neither a file nor nothing: "a folder", "a pipe", ...;
    empty otherwise."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    if stat.S_ISREG(mode):
        return ""
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((name for is_kind, name in kinds if is_kind(mode)), "no regular file")


def _own(path: Path) -> Path:
    """The file of that name itself, whatever link stands there; its folder may be one."""
    return Path(os.path.realpath(path.parent)) / path.name


def remove_link(path: str | Path) -> None:
    """Remove a link at a name that vbg makes, before anything is written through it."""
    if os.path.islink(path):
        os.unlink(path)


def _permissions(target: Path) -> int:
    """Those of the file that is there, or those that a new file gets."""
    with contextlib.suppress(OSError):
        found = target.lstat().st_mode
        if not stat.S_ISLNK(found):
            return stat.S_IMODE(found)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _synchronise(file: Path) -> None:
    with open(file, "rb+") as stream:
        os.fsync(stream.fileno())


def _synchronise_folder(folder: Path) -> None:
    """The new name is on the disk, too; a system that cannot say so does it by itself."""
    if not _SYNCHRONOUS_FOLDERS:
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_there(process: int) -> bool:
    import psutil  # not for every command

    return bool(psutil.pid_exists(process))


def _remove_abandoned(target: Path) -> None:
    """Temporary files of this target whose process is no more."""
    name = re.compile(
        rf"\.{re.escape(target.stem)}\.(\d+){re.escape(_TEMPORARY + target.suffix)}\Z"
    )
    with os.scandir(target.parent) as entries:
        for entry in entries:
            match = name.match(entry.name)
            if match and not _is_there(int(match[1])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
