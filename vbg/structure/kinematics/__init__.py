"""Kinematics group by group, by compiled kernels.

In: a Linkage with driven freedoms.  Out: positions, speeds and accelerations.
"""
