"""A film as GIF or MP4: parallel projection, painter's order, by matplotlib."""

from __future__ import annotations

from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbg.draw.film import AXIS_PART, FRAME_COLOURS, FRAME_PART, Film
from vbg.errors import UsageError, VbgError, not_installed
from vbg.platform.files import replacing
from vbg.spatial import rotation_matrix

Array = NDArray[np.float64]

AZIMUTH, ELEVATION = np.radians(-60.0), np.radians(22.0)
FORCE, TRACE, AXIS = "#c62828", "#888888", "#222222"
TUBE, ROD, LINK = "#37474f", "#90a4ae", "#607d8b"  # of cylinders; of springs and all others
TUBE_PART = 0.55  # of a cylinder's length


def write_movie(film: Film, path: str | Path, *, fps: int = 25, pixels: int = 640) -> None:
    """Write the film to `path`, .gif or .mp4, one picture for each of its instants.

    The file is whole or as it was.  Raises UsageError without matplotlib, or for .mp4 without
    ffmpeg; VbgError where the disk is full.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise not_installed("a film as GIF or MP4", "matplotlib", "draw") from error
    from matplotlib.figure import Figure

    path = Path(path)
    figure = Figure(figsize=(pixels / 100, pixels / 100), dpi=100)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    writer = _writer(path, fps)
    with replacing(path) as temporary, matplotlib.rc_context(_ffmpeg()):
        try:
            with writer.saving(figure, str(temporary), 100):
                for k in range(len(film.time)):
                    draw_frame(axes, film, k)
                    writer.grab_frame()
        except CalledProcessError as error:
            raise VbgError(
                f"{path}: cannot be written: ffmpeg ended with code {error.returncode}."
                " The disk may be full; a .gif needs no ffmpeg."
            ) from error


def _ffmpeg() -> Any:
    """matplotlib's setting for the ffmpeg of the package imageio-ffmpeg, if it is there."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        return {}
    return {"animation.ffmpeg_path": get_ffmpeg_exe()}


def _writer(path: Path, fps: int) -> Any:
    import matplotlib
    from matplotlib.animation import FFMpegWriter, PillowWriter

    if path.suffix == ".gif":
        return PillowWriter(fps=fps)
    with matplotlib.rc_context(_ffmpeg()):
        if not FFMpegWriter.isAvailable():
            raise UsageError(
                f"{path}: MP4 needs ffmpeg: install it, or pip install imageio-ffmpeg; "
                ".gif and .html need nothing more."
            )
        return FFMpegWriter(fps=fps, codec="libx264", extra_args=["-pix_fmt", "yuv420p"])


def view_axes() -> Array:
    """Rows: right, up, towards the viewer, in world axes."""
    ca, sa, ce, se = np.cos(AZIMUTH), np.sin(AZIMUTH), np.cos(ELEVATION), np.sin(ELEVATION)
    return np.array([[-sa, ca, 0.0], [-ca * se, -sa * se, ce], [ca * ce, sa * ce, se]])


def draw_frame(axes: Any, film: Film, k: int) -> None:
    """Draw instant `k` into matplotlib `axes`."""
    from matplotlib.collections import LineCollection, PolyCollection

    view = view_axes()
    axes.clear()
    axes.set_axis_off()
    half = 0.55 * film.size
    axes.set_xlim(-half, half)
    axes.set_ylim(-half, half)

    def flat(points: Array) -> Array:
        return (points - film.centre) @ view.T

    polygons, colours, depths = _faces(film, k, view, flat)
    order = np.argsort(depths)
    shown = [colours[i] for i in order]
    axes.add_collection(
        PolyCollection([polygons[i] for i in order], facecolors=shown, edgecolors=shown, lw=0.4)
    )
    lines, inks, widths = _links(film, k, flat)
    for body in film.bodies:
        R_WB, p_WB = rotation_matrix(body.pose[k, 3:]), body.pose[k, :3]
        for stick in body.sticks:
            lines.append(flat(stick @ R_WB.T + p_WB)[:, :2])
            inks.append(body.colour)
            widths.append(3.0)
    for joint in film.joints:
        pose = film.bodies[joint.body].pose[k]
        R_WB = rotation_matrix(pose[3:])
        at = R_WB @ joint.at + pose[:3]
        if joint.axis is not None:
            reach = AXIS_PART * film.size * (R_WB @ joint.axis)
            lines.append(flat(np.array([at - reach, at + reach]))[:, :2])
            inks.append(AXIS)
            widths.append(1.0)
        arrow = flat(np.array([at, at + film.newton * joint.force[k]]))[:, :2]
        if np.linalg.norm(arrow[1] - arrow[0]) > 0.01 * film.size:
            style = {"arrowstyle": "-|>", "color": FORCE, "lw": 1.5, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", arrow[1], arrow[0], arrowprops=style)
    for ink, axis in _frames(film, k):
        lines.append(flat(axis)[:, :2])
        inks.append(ink)
        widths.append(1.3)
    for _, path in film.traces:
        lines.append(flat(path[: film.traced[k]])[:, :2])
        inks.append(TRACE)
        widths.append(1.0)
    axes.add_collection(LineCollection(lines, colors=inks, linewidths=widths))
    axes.text(0.02, 0.02, f"t = {film.time[k]:.3f} s", transform=axes.transAxes, fontsize=9)


def _frames(film: Film, k: int) -> list[tuple[str, Array]]:
    """The axes of frames, each its colour and its two ends in world axes."""
    found = []
    for frame in film.frames:
        pose = film.bodies[frame.body].pose[k] if frame.body >= 0 else None
        R_WB = np.eye(3) if pose is None else rotation_matrix(pose[3:])
        at = R_WB @ frame.at + (0.0 if pose is None else pose[:3])
        for ink, axis in zip(FRAME_COLOURS, (R_WB @ frame.axes).T, strict=True):
            found.append((ink, np.array([at, at + FRAME_PART * film.size * axis])))
    return found


def _links(film: Film, k: int, flat: Any) -> tuple[list[Array], list[str], list[float]]:
    """Parts between two points: lines on the screen, their colours and widths."""
    lines, inks, widths = [], [], []
    for link in film.links:
        a, b = (
            at if number < 0 else rotation_matrix(pose[3:]) @ at + pose[:3]
            for number, at in link.ends
            for pose in (film.bodies[number].pose[k],)
        )
        middle = a + TUBE_PART * (b - a)
        pieces = [((a, b), LINK, 1.5)]
        if link.kind == "cylinder":
            pieces = [((a, middle), TUBE, 5.0), ((middle, b), ROD, 2.5)]
        for ends, ink, width in pieces:
            lines.append(flat(np.array(ends))[:, :2])
            inks.append(ink)
            widths.append(width)
    return lines, inks, widths


def _faces(
    film: Film, k: int, view: Array, flat: Any
) -> tuple[list[Array], list[tuple[float, ...]], list[float]]:
    """Polygons on the screen, their shaded colours, their depths."""
    from matplotlib.colors import to_rgb

    light = view[2] + 0.5 * view[1]
    light = light / np.linalg.norm(light)
    polygons, colours, depths = [], [], []
    for body in film.bodies:
        R_WB, p_WB = rotation_matrix(body.pose[k, 3:]), body.pose[k, :3]
        tints = [np.array(to_rgb(one or body.colour)) for one in body.tints or ("",)]
        for number, face in enumerate(body.faces):
            base = tints[number % len(tints)]
            world = face @ R_WB.T + p_WB
            normal = np.cross(world[1] - world[0], world[2] - world[0])
            size = float(np.linalg.norm(normal))
            shade = 0.55 + 0.45 * abs(float(normal @ light)) / size if size > 0.0 else 1.0
            screen = flat(world)
            polygons.append(screen[:, :2])
            colours.append(tuple(np.clip(base * shade, 0.0, 1.0)))
            depths.append(float(screen[:, 2].mean()))
    return polygons, colours, depths
