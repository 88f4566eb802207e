"""The written posture: where each body stands, and the two frames of each joint.

In: a Model.  Out: poses, joint frames and start values.
"""
