"""Mobility and structural groups by counting alone: pebbles, flows, loops, and the result of
it.

In: a Topology.  Out: a Structure.
"""
