"""XML of strangers: no document types, no entities, and not without measure of nesting."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder

DEEPEST = 600  # elements within each other; the reader of MuJoCo goes to 500


class TooDeep(ValueError):
    """Elements stand within each other as in no file of a machine."""


class _Shallow(TreeBuilder):
    depth = 0

    def start(self, tag: str, attrs: dict[str, str]) -> Any:
        """Begin an element, unless it is too deep; parents are kept in memory, all of them."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep(f"elements are nested more than {DEEPEST} deep")
        return super().start(tag, attrs)

    def end(self, tag: str) -> Any:
        """End it."""
        self.depth -= 1
        return super().end(tag)


def root_of(text: str | bytes, *, forbid_dtd: bool = False) -> Element:
    """The outermost element of a document.

    Raises ParseError for what is no XML, DefusedXmlException for document types (where they are
    forbidden) and entities, ValueError and LookupError for an encoding that is not read and for
    `TooDeep`.
    """
    from defusedxml.ElementTree import DefusedXMLParser

    parser = DefusedXMLParser(target=_Shallow(), forbid_dtd=forbid_dtd)
    parser.feed(text)
    root: Element = parser.close()
    return root
