"""A study in a process of its own: ``python -m vbg.tui.session.solving.studying``.

The first line of standard input is an `Order`; what happens is told in JSON lines: each point with
its measure as soon as it is there, then ``finished`` or ``failed``.  It ends at once when asked to
or when its input closes: every point is in the table on disk before it is told.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from vbg.runner import INTERRUPTED, lines_of, message_stream


@dataclass(frozen=True, slots=True)
class Order:
    """What to study: a model's file and text; ranges as `--vary` takes them; one measure;
    `method` "grid", or one of `vbg optimise`; runs at most; the folder of the tables."""

    file: str
    text: str
    ranges: tuple[str, ...]
    measure: str
    method: str
    evaluations: int
    folder: str


def main() -> int:
    """Do the study of the first line."""
    warnings.simplefilter("ignore", RuntimeWarning)
    stream = message_stream()
    lines = lines_of(0)
    order = Order(**json.loads(next(lines, "null")))
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()

    from vbg.errors import VbgError

    try:
        _study(order, stream)
    except (VbgError, OSError) as error:
        _tell(stream, "failed", message=str(error))
        return 1
    except BrokenPipeError:
        return 1
    return 0


def _study(order: Order, stream: IO[str]) -> None:
    from vbg.analysis.studies.optimise import optimise
    from vbg.analysis.studies.sampling import grid, parse_range
    from vbg.analysis.studies.sweep import Study, sweep, table_of
    from vbg.io import toml
    from vbg.measures import in_unit

    model = toml.parse(order.text, order.file)
    written = {name: model.parameter_units.get(name, "") for name in model.parameters}
    ranges = tuple(parse_range(text, written) for text in order.ranges)
    study = Study(model, {}, (order.measure,))
    names = [r.name for r in ranges]
    digest = hashlib.sha256(order.measure.encode()).hexdigest()[:8]
    file = f"study-{study.key(names)}-{'-'.join(names)}-{digest}.csv"
    table = table_of(study, Path(order.folder) / file, names)
    units = [written[name] for name in names]
    _tell(stream, "begun", names=names, units=units, unit=table.units[0])
    points = grid(ranges) if order.method == "grid" else []
    wanted, told = {*points}, 0  # the table may have points of other maps

    def progress(done: int, total: int) -> None:
        nonlocal told
        for row in table.rows[told:]:
            if wanted and row.point not in wanted:
                continue
            value = row.measures[0] if row.measures else None
            point = [in_unit(v, unit) for (_, v), unit in zip(row.point, units, strict=True)]
            _tell(stream, "point", point=point, value=value, reason=row.reason, total=total)
        told = len(table.rows)

    if points:
        progress(0, len(points))
        sweep(study, points, table, progress=progress)
    else:
        progress(0, order.evaluations)
        optimise(
            study,
            ranges,
            table,
            method="nelder-mead" if order.method == "nelder-mead" else "differential-evolution",
            evaluations=order.evaluations,
            progress=progress,
        )
    _tell(stream, "finished", table=str(table.path))


def _tell(stream: IO[str], kind: str, **content: Any) -> None:
    stream.write(json.dumps({"kind": kind, **content}) + "\n")
    stream.flush()


def _listen(lines: Iterator[str]) -> None:
    """Whatever comes, and the end of the input, ends the study."""
    next(lines, None)
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
