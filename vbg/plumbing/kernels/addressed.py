"""A table of arrays whose address is all that a compiled function gets of it.

A tuple of arrays is handed over word by word: 64 arrays are 600 words in every call of every
function that they go through, which numba lowers and LLVM clears away again.  The type made here
is one address; an attribute reads what is wanted from the packed words behind it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

HEAD = 5  # words of an array before its shape: owner, parent, entries, their size, address


def words_of(axes: int) -> str:
    """Kinds of the words of an array: "p" an address, "q" an integer."""
    return "ppqqp" + 2 * axes * "q"


def addressed(name: str, fields: tuple[tuple[str, Any], ...]) -> Any:
    """The numba type of an address behind which stand arrays of these names and types, packed
    one behind the other."""
    return _type()(name, fields)


@cache
def _type() -> Any:
    from numba.core import types
    from numba.core.imputils import lower_getattr_generic
    from numba.core.typing.templates import AttributeTemplate, infer_getattr
    from numba.extending import models, register_model
    from numba.np.arrayobj import make_array, populate_array

    class Addressed(types.Type):
        """See `addressed`.  Two are the same if their fields are."""

        def __init__(self, name: str, fields: tuple[tuple[str, Any], ...]):
            digest = hashlib.sha256(repr(fields).encode()).hexdigest()[:12]
            super().__init__(name=f"{name}_{digest}")
            self.fields, self.places, at = dict(fields), {}, 0
            for field, kind in fields:
                self.places[field] = at
                at += len(words_of(kind.ndim))

    @infer_getattr
    class Fields(AttributeTemplate):
        key = Addressed

        def generic_resolve(self, kind: Any, field: str) -> Any:
            return kind.fields.get(field)

    register_model(Addressed)(models.OpaqueModel)

    @lower_getattr_generic(Addressed)
    def read(context: Any, builder: Any, kind: Any, value: Any, field: str) -> Any:
        array = kind.fields[field]
        first = kind.places[field]
        content = context.get_data_type(array.dtype).as_pointer()
        data = _word(builder, value, first + HEAD - 1, content)
        word = context.get_value_type(types.intp)
        sizes = range(first + HEAD, first + HEAD + 2 * array.ndim)
        shape = [_word(builder, value, k, word) for k in sizes]
        made = make_array(array)(context, builder)
        size = context.get_constant(types.intp, array.dtype.bitwidth // 8)
        populate_array(made, data, shape[: array.ndim], shape[array.ndim :], size, meminfo=None)
        return made._getvalue()

    return Addressed


def _word(builder: Any, table: Any, k: int, kind: Any) -> Any:
    """The k-th word, which nothing changes as long as the table is there: where many are read,
    LLVM needs to read each only once."""
    from llvmlite import ir

    words = builder.bitcast(table, ir.IntType(64).as_pointer())
    place = builder.gep(words, [ir.Constant(ir.IntType(64), k)])
    read = builder.load(builder.bitcast(place, kind.as_pointer()))
    read.set_metadata("invariant.load", builder.module.add_metadata([]))
    return read
