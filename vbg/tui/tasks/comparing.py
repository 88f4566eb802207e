"""Verdicts on validations, made from their own evidence and nothing else."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from vbg.errors import UsageError, VbgError
from vbg.tui.content.results.validating import event_windows
from vbg.tui.session import validation as store
from vbg.tui.session.validation import Validation
from vbg.tui.state import results

if TYPE_CHECKING:
    from vbg.solution import Solution
    from vbg.tui.state.desk import Desk
    from vbg.tui.state.workspace import Workspace
    from vbg.validate.comparison.values import Verdict


def of_this_model(work: Workspace) -> Validation | None:
    """The newest validation of the text, or else of the machine, that is open."""
    now = work.document.now.hash
    model = work.checked.model if work.checked.text_hash == now else None
    machine = store.machine_of(model) if model is not None and work.validations else ""
    for validation in reversed(work.validations):
        if validation.text_hash == now or (machine and validation.machine == machine):
            return validation
    return None


async def show_newest(app: Desk) -> None:
    """Show the newest validation of the model that is open; without one there is no verdict."""
    work = app.work
    validation = of_this_model(work)
    shown = work.validate.shown
    if validation is None:
        work.validate = replace(work.validate, shown=None, verdict=None)
    elif shown is None or shown.number != validation.number or work.validate.verdict is None:
        await judge(app, validation)


async def judge(app: Desk, validation: Validation) -> None:
    """Make the verdict with the validation's settings, keep its words, and show it."""
    work = app.work
    runs = work.run(validation.first), work.run(validation.second)
    verdict: Verdict | None = None
    if validation.evidence and runs[0] is not None and runs[1] is not None:
        a, b = await results.load(work, runs[0]), await results.load(work, runs[1])
        if a is not None and b is not None:
            verdict = await asyncio.to_thread(_judged, validation, a, b)
    if verdict is None:
        verdict = _no_verdict(validation)
    if app.job is not None and app.job.both:
        # R was pressed meanwhile: a newer verdict is on its way
        return
    validation = replace(validation, result=verdict.result, sentence=verdict.sentence)
    work.put_validation(validation)
    try:
        store.remember(work.file, validation)
    except VbgError as error:
        work.say(str(error), "error")
    work.validate = replace(
        work.validate,
        shown=validation,
        verdict=verdict,
        settings=validation.settings,
        waiting="",
    )
    _mark_selected(work, verdict)


def _mark_selected(work: Workspace, verdict: Verdict) -> None:
    """The selected part's force, if all is well and nothing else was marked."""
    part = work.part_name
    if part and work.channel_index == 0:
        from vbg.validate.report import ordered

        names = [channel.name for channel in ordered(verdict)]
        own = [i for i, name in enumerate(names) if name.startswith(f"{part}.force")]
        work.channel_index = own[0] if own and verdict.result == "PASS" else 0


def _no_verdict(validation: Validation) -> Verdict:
    """Nothing to judge: it was cancelled or refused, or its files are gone."""
    from vbg.validate.comparison.values import Verdict

    gone = "The results of this validation are not on disk any more. R runs both solvers again."
    return Verdict("INCONCLUSIVE", gone if validation.evidence else validation.sentence)


def _judged(validation: Validation, first: Solution, second: Solution) -> Verdict:
    """The verdict; in a thread, for its package takes a moment to load."""
    from vbg.validate import verdict_on
    from vbg.validate.comparison.values import Verdict

    settings = validation.settings
    windows = event_windows(first, second) if settings.skip_events else ()
    try:
        evidence = store.evidence_of(validation.evidence, first, second)
    except (TypeError, ValueError, UsageError):
        words = "Another version of vbg made this validation. R runs both solvers again."
        return Verdict("INCONCLUSIVE", words)
    return verdict_on(evidence, tolerance=settings.tolerance, exclude=windows)
