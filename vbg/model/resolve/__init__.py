"""From a document to resolved parts: every rule of the language that concerns one file and its
inclusions.

In: a document.  Out: what it resolves to, and problems.
"""
