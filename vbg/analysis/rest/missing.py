"""What is missing where no rest is found: holds of coordinates, states that would answer drives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbg.analysis.probe.probe import Probe
from vbg.analysis.probe.tangent import Tangent
from vbg.analysis.rest.local import divided, local_at
from vbg.analysis.rest.manifold import Manifold
from vbg.analysis.rest.resting import without_friction
from vbg.plumbing.components import vector_of

Array = NDArray[np.float64]

LOOSE = 0.5  # share of a coordinate in the deviations that change nothing


def loose_at(manifold: Manifold, t: float, start: Array) -> list[str]:
    """Coordinates that nothing holds where the machine stands at rest: rates are left over that
    no deviation changes, and these are the deviations that change nothing."""
    x = manifold.at_rest(t, start)
    here = local_at(manifold.probe, t, without_friction(manifold.probe.start, t, x))
    reduced, residual = here.reduced(here.full), here.along(here.f)
    if not (residual.size and np.all(np.isfinite(reduced)) and np.all(np.isfinite(residual))):
        return []
    right, rank, _, stays = divided(reduced, residual, here.sizes)
    free = np.linalg.norm(right[rank:], axis=0)
    names = (vector_of(n) for n, part in zip(here.space.names, free) if part > LOOSE)
    return list(dict.fromkeys(names)) if stays > 1.0 else []


def given_nodes(
    probe: Probe, space: Tangent, goes_on: NDArray[np.bool_], reduced: Array
) -> list[str]:
    """Nodes whose places go on whatever the state is: what moves them gives their speeds."""
    is_given = goes_on & ~reduced.any(axis=1)
    moved = np.any(space.chosen[is_given], axis=0)
    placed = [s for s in probe.system.slices if s.state.kind == "displacement"]
    names = [s.state.name for s in placed if moved[s.first : s.last].any()]
    return list(dict.fromkeys(name.rpartition(".")[0] for name in names))
