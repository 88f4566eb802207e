"""The consistent start: loops closed, velocities admissible, modes that agree, faults named.

In: a System.  Out: a state with its report.
"""
