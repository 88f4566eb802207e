"""The report folder of a validation."""

from __future__ import annotations

from pathlib import Path

from vbg.platform.files import write_text
from vbg.validate.both import Report
from vbg.validate.page import as_html
from vbg.validate.report import as_csv, as_json, as_markdown, text


def write(report: Report, folder: str | Path) -> tuple[Path, ...]:
    """The report as report.txt, report.json, report.md, report.html and channels.csv in
    `folder`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "report.txt": text(report, limit=None) + "\n",
        "report.json": as_json(report) + "\n",
        "report.md": as_markdown(report),
        "report.html": as_html(report),
        "channels.csv": as_csv(report),
    }
    paths = []
    for name, content in contents.items():
        write_text(folder / name, content, follow=False)
        paths.append(folder / name)
    return tuple(paths)
