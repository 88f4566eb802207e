"""The scanner of places walks a text exactly as `tomllib` reads it."""

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from vbg.io._emit import emitted, inline, quoted_key
from vbg.model.text.scanner import scan_places

TEXT = """\
a = 1   # comment = "no"
"quoted.key" = 'it''s'
b.c.d = [1, [2, 3], { e = "}]", f.g = 4 }, # in a list
  1979-05-27 07:32:00, ]
[table . "in#ner"]
s = \"\"\"
x = 1 \\\" "" \"\"\"\"
t = '''
y = [''
'''
[[list]]
n = 1
[[list]]
n = 2
[list.sub]
m = {}
"""


def paths(value, path=()):
    """Every path of nested tables and lists."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from paths(entry, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from paths(entry, (*path, index))


def test_every_entry_has_its_place():
    text = TEXT.replace("'it''s'", "'its'")
    places = scan_places(text)
    assert set(places.keys) | set(places.values) == set(paths(tomllib.loads(text)))
    lines = text.split("\n")
    for path, (line, column) in places.keys.items():
        written = lines[line - 1][column - 1 :]
        assert written.startswith((str(path[-1]), f'"{path[-1]}"', "["))
    assert places.values[("list", 1, "n")] == (14, 5)
    assert places.of_value(("b", "c", "d", 2, "nothing")) == places.values[("b", "c", "d", 2)]


KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=8)
LEAVES = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.booleans(),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20),
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_any_document_is_written_and_scanned(document):
    text = emitted(document)
    assert tomllib.loads(text) == document
    places = scan_places(text)
    assert set(places.keys) | set(places.values) == set(paths(document))
    flat = "".join(f"{quoted_key(key)} = {inline(value)}\n" for key, value in document.items())
    assert tomllib.loads(flat) == document
