"""Which bodies are joined by which pairs, and their geometry where it is known.

In: a Model or a text file.  Out: a Topology or Linkage that is checked.
"""
