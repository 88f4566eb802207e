"""Which method exported code has for method = "auto": it does not change it while it runs."""

from __future__ import annotations

from dataclasses import replace

from vbg.assemble.start.start import Start
from vbg.simulate.run import Run
from vbg.simulate.settings import settings_of

LOOKED_AT = 2000  # steps
STIFF = (
    "the file's run is stiff: the adaptive method is Radau IIA, as in vbg run "
    "(method = 'dop853' in [simulate] overrules it)."
)


def silent(_: str) -> None:
    """Tells nobody."""


def is_stiff(start: Start) -> bool:
    """Whether the adaptive method is the implicit one, Radau IIA: the file says so, or leaves the
    choice and its own motion, looked at for LOOKED_AT steps, makes `vbg run` change to it."""
    settings = settings_of(start.system.model.simulate)
    if settings.method != "auto":
        return settings.method == "radau"

    def look(_: float, __: float) -> bool:
        return run.method != "radau" and run.steps < LOOKED_AT

    run = Run(start, replace(settings, formulation="constraint"), look, None)
    if run.choice is not None:  # its trials weigh steps of this program, not those of the file
        run.choice.tries = False
    run.go()
    return run.method == "radau"
