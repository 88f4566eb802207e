"""Runs both solvers on a model and reports whether they agree.

``vbg.validate(model)`` is the call; `text`, `as_json`, `as_markdown`, `as_html`, `as_csv`
and `write` render its Report.
"""

from vbg.plumbing.callable_module import answers_calls
from vbg.plumbing.lazily import names_of

_HOMES = {
    "Evidence": "vbg.validate.evidence",
    "Report": "vbg.validate.both",
    "as_csv": "vbg.validate.report",
    "as_html": "vbg.validate.page",
    "as_json": "vbg.validate.report",
    "as_markdown": "vbg.validate.report",
    "text": "vbg.validate.report",
    "validate": "vbg.validate.both",
    "verdict_on": "vbg.validate.evidence",
    "write": "vbg.validate.folder",
}

__all__ = sorted(_HOMES)

__getattr__ = names_of(__name__, _HOMES)

answers_calls(__name__, "vbg.validate.both:validate")
