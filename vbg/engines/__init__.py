"""Other engines as witnesses: a machine solved by Pinocchio, MuJoCo, Exudyn or Drake
(extra `engines`).

In: a Model, and the signals of the first instant; out: a Solution under vbg's names.  Of vbg's
own code only the Model's values, its expressions and functions of time are used: frames, solids,
rotations and places are worked out once more in this room.

    machine  the Model as tree and cuts      acting  what acts: loads, elastic hinges
    rows     joints that close loops         trees  what an engine is asked
    spans    coordinates of three of them      running  simulate: motion, multipliers, joint forces
    rotors   inertia behind gears on joints
    pinocchio, mujoco, exudyn, drake
"""

ENGINES = ("pinocchio", "mujoco", "exudyn", "drake")

__all__ = ["ENGINES"]
