"""What the layout of a model is: flat tables, and where every name went in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vbg.model import Model, Placed
from vbg.tmm_bridge.formulas.timefunctions import TimeFunction
from vbg.tmm_bridge.kernels.motion.rotation import Array
from vbg.tmm_bridge.kernels.tables import Tables
from vbg.tmm_bridge.onedim.network import Network
from vbg.tmm_bridge.tree.places import BodyPlace


class NoInertia(ArithmeticError):
    """A hinge lost all resistance to its motion; carries the node."""

    def __init__(self, node: int):
        self.node = node
        super().__init__(f"node {node}")


class NoBalance(ArithmeticError):
    """The unknowns of the network were not found; carries the time."""

    def __init__(self, t: float):
        self.t = t
        super().__init__(f"t = {t}")


@dataclass(frozen=True)
class JointFrames:
    """Frames F on the first body and M on the second, in the bodies' axes from
    their mass centres, and the coordinates of the written posture by name."""

    first: str
    second: str
    p_AF: Array
    R_AF: Array
    p_BM: Array
    R_BM: Array
    written: Mapping[str, float]


@dataclass(frozen=True)
class TreeJoint:
    """A joint that carries a body: its nodes, root to tip, and the side it is met from.

    p_inboard is the joint point of the parent, in the frame of the parent's node.
    """

    name: str
    nodes: tuple[int, ...]
    backward: bool
    parent_node: int
    p_inboard: Array


@dataclass(frozen=True)
class CutJoint:
    """A joint that closes a loop: its row in the table of cuts, its constraint rows."""

    name: str
    index: int
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Mechanism:
    """A model laid out for the transfer-matrix solver.

    bodies, joints and coordinates lead from names to places in `tables`;
    `tree` and `cut` say which joint is what; `floating` are the nodes of bodies
    that no joint of the tree carries, `elastic` the parts in [forces] that carry
    a body as elastic hinges of the tree.  `couplings` leads to rows, `drives` and
    `inputs` are the functions of time in the order of the tables.  `parts`
    leads from a part's name to (table of laws, row); `network` are the one-dimensional parts,
    `apart` says why some that leave the mechanism alone are not solved; `bends` leads from
    flexible bodies to their rows.
    """

    placed: Placed
    tables: Tables
    bodies: Mapping[str, BodyPlace]
    frames: Mapping[str, JointFrames]
    tree: Mapping[str, TreeJoint]
    cut: Mapping[str, CutJoint]
    floating: Mapping[str, tuple[int, ...]]
    elastic: Mapping[str, TreeJoint]
    coordinates: Mapping[tuple[str, str], int]
    couplings: Mapping[str, int]
    drives: tuple[TimeFunction, ...]
    driven: Mapping[str, int]
    inputs: tuple[TimeFunction, ...]
    parts: Mapping[str, tuple[str, int]]
    network: Network | None = None
    apart: str = ""
    bends: Mapping[str, int] = field(default_factory=dict)

    @property
    def model(self) -> Model:
        """What the engineer wrote."""
        return self.placed.model

    @property
    def size(self) -> int:
        """Length of the mechanism's own state: coordinates, speeds, counted angles, two works."""
        return int(self.tables.sizes.sum())
