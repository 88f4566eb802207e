"""Physics that several parts share: laws of contact, friction, oil and springs, and what parts
reach of bodies.

In: fields of a part and blocks of its ports.  Out: blocks (efforts, energies), and names of
ports.
"""
