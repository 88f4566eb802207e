"""Compiled kernels of one evaluation: posture, loads, Riccati transform, loops, cut efforts.

In: flat tables and a state.  Out: accelerations, internal forces and cut efforts in flat
workspaces.
"""
