"""Compiled kernels as machine code that is called without numba.

numba takes longer to load than a small run does: its import, the linear algebra that it looks
for, and its registries were half of the time of a process.  It is needed to compile; what it has
made of a kernel is an object file, which LLVM's linker loads by itself (0.05 s;
`vbg.plumbing.kernels.machine_code`).

A kernel gets its arguments from one table of words of 8 bytes, in the order in which numba hands
them over: an array is owner, parent (none), number of entries, their size, address, shape and
strides; a number is itself; a tuple is what it holds.  A few lines of machine code, made here,
read the table and call the kernel.  Nothing behind them knows what an address leads to: what is
handed over is compared with the example that the kernel was compiled for, word by word.

A large table goes by its address alone (`Table`, `vbg.plumbing.kernels.addressed`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from struct import Struct, error
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from vbg.plumbing.kernels.addressed import addressed, words_of
from vbg.plumbing.kernels.compiled import Kernels
from vbg.plumbing.kernels.machine_code import CALL, KERNEL, RAISED, MachineCode, Wanted, compiled

_INT, _FLOAT = Struct("=q").pack, Struct("=d").pack
_first_byte: Any = ctypes.c_char.from_buffer
_of_buffer = ctypes.addressof
_ARRAYS = {axes: Struct(f"={5 + 2 * axes}q").pack for axes in range(1, 5)}


class Plan:
    """What a tuple of arrays is made of, which stays where it is: looked at once."""

    @cached_property
    def packed(self) -> bytes:
        """As a kernel gets it."""
        values: Iterable[Any] = self  # type: ignore[assignment]
        return b"".join(_packer(value)(value) for value in values)

    @cached_property
    def form(self) -> str:
        """Of what kinds the values are, in their order."""
        values: Iterable[Any] = self  # type: ignore[assignment]
        return f"{type(self).__name__}({' '.join(map(_form, values))})"

    def __getstate__(self) -> None:
        """A copy, or a plan in another process, has its arrays elsewhere: it packs anew."""


class Table(Plan):
    """A plan, of arrays only, that a kernel gets by the address of its words."""

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """Where the kernel reads it."""
        return np.frombuffer(self.packed, dtype=np.int64).copy()

    @cached_property
    def pointer(self) -> bytes:
        """Their address, as a kernel gets it."""
        return _INT(self.words.ctypes.data)


def _form(value: Any) -> str:
    if isinstance(value, Plan):
        return value.form
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}x{value.ndim}"
    return "d" if isinstance(value, float) else "q"


def _packer(example: Any) -> Callable[[Any], bytes]:
    """What packs values like the example, and refuses others."""
    if isinstance(example, Table):
        return partial(_address_of_table, type(example), example.form)
    if isinstance(example, Plan):
        return partial(_packed_plan, type(example), example.form)
    if isinstance(example, np.ndarray):
        return _array_packer(example.dtype, example.ndim, example.flags.writeable)
    return _FLOAT if isinstance(example, float) else _INT


def _packed_plan(kind: type[Plan], form: str, value: Any) -> bytes:
    if not isinstance(value, kind):
        raise TypeError(f"{kind.__name__} is wanted")
    if value.form != form:
        raise TypeError(f"{form} is wanted, not {value.form}")
    return value.packed


def _address_of_table(kind: type[Table], form: str, value: Any) -> bytes:
    _packed_plan(kind, form, value)
    return value.pointer


def _array_packer(kind: np.dtype[Any], axes: int, written: bool) -> Callable[[Any], bytes]:
    """Of contiguous arrays that stand at multiples of their words; `written`: not read-only."""
    size, put = kind.itemsize, _ARRAYS[axes]

    def address(value: NDArray[Any]) -> int:
        """Of the first entry; by its buffer, where that takes a fifth of the time."""
        flags = value.flags
        writeable = flags.carray
        behaves = writeable or (not written and flags.c_contiguous and flags.aligned)
        if value.dtype != kind or value.ndim != axes or not behaves:
            writable = " writable" if written else ""
            raise TypeError(f"a contiguous{writable} array of {axes} axes, {kind}, is wanted")
        return _of_buffer(_first_byte(value)) if writeable and value.size else value.ctypes.data

    def vector(value: NDArray[Any]) -> bytes:
        at, n = address(value), len(value)
        return put(0, 0, n, size, at, n, size)

    def rows(value: NDArray[Any]) -> bytes:
        at, (n, m) = address(value), value.shape
        return put(0, 0, n * m, size, at, n, m, m * size, size)

    def more(value: NDArray[Any]) -> bytes:
        strides = [size]
        for n in value.shape[:0:-1]:
            strides.insert(0, n * strides[0])
        return put(0, 0, value.size, size, address(value), *value.shape, *strides)

    return {1: vector, 2: rows}.get(axes, more)


class Family:
    """Kernels of a set that share most of what they are made of: compiled together by the first
    process that needs one of them, and kept in one file."""

    def __init__(self, kernels: Kernels, name: str):
        self._kernels, self._file = kernels, f"{name}.native"
        self.members: list[Native] = []

    def kernel(self, place: str, *example: Any) -> Native:
        """One more, as `Native` has it."""
        return Native(self._kernels, place, *example, family=self)

    @cached_property
    def engine(self) -> Any:
        """The machine code, loaded."""
        return self._code().linked()

    def _code(self) -> MachineCode:
        return self._kernels.kept(self._file, MachineCode.opened, self._made, MachineCode.sealed)

    def _made(self) -> MachineCode:
        return compiled([member.wanted() for member in self.members])

    @property
    def shipped(self) -> Path | None:
        """The file that came with vbg, if one does; None where none would do here."""
        folder = self._kernels.shipped
        return folder / self._file if folder else None

    def sealed(self) -> bytes:
        """What is to stand in that file, compiled now unless it is kept."""
        return self._code().sealed()


class Native:
    """The kernel `place` ("MODULE:NAME") of a set, for arguments like `example`, in which an
    array that the kernel does not write is `read_only`; `name`: where it serves others, too;
    `raises`: the one error that the kernel may end with, which its code does not tell.

    Compiled by the first process that needs it and loaded where it is first called.  Returns
    the kernel's integer, 0 if it has none.  Raises TypeError for other arguments.
    """

    def __init__(
        self,
        kernels: Kernels,
        place: str,
        *example: Any,
        family: Family | None = None,
        name: str = "",
        raises: type[Exception] = RuntimeError,
    ):
        self.place, self.name = place, name or place.rpartition(":")[2]
        self._raises = raises
        self._example = example
        self._packers = tuple(map(_packer, example))
        self.family = family or Family(kernels, self.name)
        self.family.members.append(self)

    def __call__(self, *arguments: Any) -> int:
        returned: int = self._call(self._table(arguments))
        return self._raised() if returned == RAISED else returned

    def _raised(self) -> NoReturn:
        raise self._raises(f"the kernel {self.name} raised an error")

    def bound(self, *arguments: Any) -> Callable[[], int]:
        """A call with these arguments, whose arrays stay where they are."""
        call, table, raised = self._call, self._table(arguments), self._raised

        def again(_kept: Any = arguments) -> int:
            returned: int = call(table)
            return raised() if returned == RAISED else returned

        return again

    @cached_property
    def address(self) -> int:
        """Of the kernel's machine code, for kernels that call it by a pointer."""
        tell = ctypes.PYFUNCTYPE(ctypes.c_int64)(self._address_of(KERNEL))
        return int(tell())

    def python(self) -> Any:
        """The kernel as numba has it."""
        module, _, name = self.place.partition(":")
        return getattr(import_module(module), name)

    def _table(self, arguments: Sequence[Any]) -> bytes:
        pairs = zip(self._packers, arguments, strict=True)
        try:
            return b"".join([pack(value) for pack, value in pairs])
        except (TypeError, ValueError, AttributeError, error) as wrong:
            raise TypeError(f"{self.name}: {wrong}") from wrong

    @cached_property
    def _call(self) -> Any:
        # a pointer to bytes is handed over as it is; the interpreter's lock is kept
        return ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(self._address_of(CALL))

    def _address_of(self, symbol: str) -> int:
        address: int = self.family.engine.get_function_address(symbol + self.name)
        if not address:
            raise RuntimeError(f"the compiled kernels lack {self.name}")
        return address

    def wanted(self) -> Wanted:
        """What there is to compile."""
        types = tuple(map(_numba_type, self._example))
        words = "".join(map(_words, self._example))
        return Wanted(self.name, self.place, self.python(), types, words)


def read_only(example: NDArray[Any]) -> NDArray[Any]:
    """An example of arrays that are only read."""
    alone = example.copy()
    alone.flags.writeable = False
    return alone


def _numba_type(value: Any) -> Any:
    """Of the arguments that are like `value`; one type for both, or functions that arrays go
    through would be compiled twice."""
    from numba import typeof

    if isinstance(value, Table):
        named: Any = value
        fields = tuple((name, _numba_type(getattr(value, name))) for name in named._fields)
        return addressed(type(value).__name__, fields)
    kind = typeof(value)
    return kind.copy(readonly=False) if isinstance(value, np.ndarray) else kind


def _words(value: Any) -> str:
    """Kinds of the words of a value, as `Kinds` has them."""
    if isinstance(value, Table):
        return "p"
    if isinstance(value, Plan):
        return "".join(map(_words, value))  # type: ignore[call-overload]
    if isinstance(value, np.ndarray):
        return words_of(value.ndim)
    return "d" if isinstance(value, float) else "q"
