"""Columns of the flat arrays that the compiled kernels share.

`LINK_*` are columns of the constant tables, one row per hinge-and-link node;
`W_*` are columns of the work table, one row per node, world axes throughout.
Triples and matrices start at the named column; matrices are row-major;
symmetric ones are stored (xx, yy, zz, xy, yz, zx).
"""

# Kinds of elementary hinge.  Every pair of the model is a short series of these.
REVOLUTE = 0
PRISMATIC = 1
SCREW = 2
BALL = 3
RIGID = 4
ELASTIC = 5  # six freedoms: displacement of the node in F, quaternion; speeds in the node's axes

# Coordinates and speeds of each kind, by number.
COORDINATES = (1, 1, 1, 4, 0, 7)
FREEDOMS = (1, 1, 1, 3, 0, 6)

# Integers of a node.
LINK_PARENT = 0  # node towards the root, -1 for the ground
LINK_KIND = 1
LINK_Q = 2  # first coordinate in the state
LINK_V = 3  # first speed in the state of speeds
LINK_DRIVEN = 4  # 1: the acceleration of the hinge is prescribed, 0: it is unknown
LINK_BENDS = 5  # row of a flexible body whose frame the node is, -1 for none
LINK_SHAPE = 6  # row of a point that a flexible body carries rigidly but for its modes, or -1
LINK_INTS = 7

# Floats of a node.
LINK_R = 0  # rotation from the hinge's inboard frame to the parent's frame, 9
LINK_POSITION = 9  # of the hinge in the parent's frame [m], 3
LINK_MASS = 12  # [kg]
LINK_COM = 13  # mass centre in the node's frame [m], 3
LINK_J = 16  # inertia about the mass centre in the node's frame [kg m^2], 6
LINK_LEAD = 22  # of a screw [m/rad]
LINK_ARMATURE = 23  # inertia that turns or slides with the hinge alone [kg m^2 or kg]
LINK_FLOATS = 24

# What a sensor sees of a point of a body.
POSITION, VELOCITY, TURNING = range(3)

W_R = 0  # rotation node to world, 9
W_P = 9  # origin of the node [m]
W_W = 12  # angular velocity [rad/s]
W_V = 15  # velocity of the origin [m/s]
W_N = 18  # axis of the hinge
W_ARM = 21  # from the parent's origin to this one [m]
W_A = 24  # Riccati S: d force / d acceleration, symmetric
W_B = 30  # Riccati S: d force / d angular acceleration, 3x3
W_C = 39  # Riccati S: d moment / d angular acceleration, symmetric
W_EQ = 45  # Riccati e: force
W_EM = 48  # Riccati e: moment
W_U = 51  # S times the column of the hinge (force, moment), or the inverse of C for six or a ball
W_D = 57  # 1 / (column . S . column)
W_F = 58  # unbalanced effort along the hinge's columns, 3 for a ball
W_CA = 61  # velocity products in the acceleration of the origin
W_CB = 64  # velocity products in the angular acceleration
W_ACC = 67  # acceleration of the origin
W_ALPHA = 70  # angular acceleration
W_FORCE = 73  # internal force that the parent exerts through the hinge
W_MOMENT = 76  # its moment about the node's origin
W_FM = 79  # unbalanced moment of an elastic hinge, whose force is at W_F
W_G = 82  # inverse of A - B C^-1 B^T behind an elastic hinge, symmetric
WORK = 88
