"""Runs both solvers on a model and reports whether they agree.

``vbg.validate(model)`` is the call; `text`, `as_json`, `as_markdown`, `as_html`, `as_csv`
and `write` render its Report.
"""

from vbg.plumbing.callable_module import answers_calls
from vbg.validate.both import Report, validate
from vbg.validate.evidence import Evidence, verdict_on
from vbg.validate.folder import write
from vbg.validate.page import as_html
from vbg.validate.report import as_csv, as_json, as_markdown, text

__all__ = [
    "Evidence",
    "Report",
    "as_csv",
    "as_html",
    "as_json",
    "as_markdown",
    "text",
    "validate",
    "verdict_on",
    "write",
]

answers_calls(__name__, validate)
