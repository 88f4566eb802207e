"""The written posture: where each body stands, and the two frames of each joint.

In: a Model.  Out: Placed: poses, joint frames, coordinates, and what of them was written.
"""
