"""One-dimensional parts of the transfer-matrix solver, in its own equations.

Nodal analysis: levels (voltages, pressures) at nodes and speeds of shafts, one balance
each, solved by Newton's method where no store holds them.  The fields of the parts are
read from the model; their laws are written here again, from the literature the parts
cite, and share nothing with the bond-graph side.
"""

from vbg.tmm_bridge.onedim.build import Feed, Grip, build, needed
from vbg.tmm_bridge.onedim.network import Network
from vbg.tmm_bridge.onedim.trains import has_dry_friction

__all__ = ["Feed", "Grip", "Network", "build", "has_dry_friction", "needed"]
