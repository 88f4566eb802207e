"""Other choices of driven freedoms, routes through the structural diagram, and synthesis.

In: a Structure.  Out: transformations, schedules and new topologies.
"""
