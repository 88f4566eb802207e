"""Where a run begins that does not begin as written: at rest, in balance, as a result was.

In: a System and what is asked for.  Out: a Start.
"""

from vbg.analysis.begin.begin import Asked, begin
from vbg.analysis.begin.observed import Instant, instant_of

__all__ = ["Asked", "Instant", "begin", "instant_of"]
