"""What the engineer wrote: the Model, its checks and the catalogue of parts."""

from vbg.model.catalogue import catalogue
from vbg.model.check import check
from vbg.model.model import Model
from vbg.model.placing.frames import JointFrame, Pose, joint_frames, placement
from vbg.model.resolve.settings import Outputs, Simulate

__all__ = [
    "JointFrame",
    "Model",
    "Outputs",
    "Pose",
    "Simulate",
    "catalogue",
    "check",
    "joint_frames",
    "placement",
]
