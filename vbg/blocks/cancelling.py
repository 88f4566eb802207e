"""What is known of constants that are left of others which cancelled: the sizes of their terms.

    a + b:  |a| + |b|        A B:  |A| |B|

A number that is small beside its own terms may be nothing but their rounding; alone, nobody can
tell.  Constants have `sizes` where some entry is so, and none where all of them are what they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FAINT = 1e-6  # beside the terms of a number: worth to be remembered

Array = NDArray[np.float64]


def remembered(data: Array, terms: Array) -> Array | None:
    """The `terms` of the entries of `data` that are small beside them, of the others their own
    size; None where no entry is small."""
    own = np.abs(data)
    faint = (own < FAINT * terms) & (own > 0.0)
    return np.where(faint, terms, own) if faint.any() else None
