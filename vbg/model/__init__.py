"""What the engineer wrote: the Model, its checks and the catalogue of parts."""

from vbg.model.catalogue import catalogue
from vbg.model.check import check
from vbg.model.model import Model
from vbg.model.placing.frames import JointFrame
from vbg.model.placing.placed import Placed, Pose, place
from vbg.model.resolve.settings import Outputs, Simulate

__all__ = [
    "JointFrame",
    "Model",
    "Outputs",
    "Placed",
    "Pose",
    "Simulate",
    "catalogue",
    "check",
    "place",
]
