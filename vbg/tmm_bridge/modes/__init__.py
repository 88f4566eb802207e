"""Vibration by transfer matrices: rest, frequencies, shapes, poles, forced responses.

In: a Mechanism about a posture at rest.  Out: modes and responses.
"""
