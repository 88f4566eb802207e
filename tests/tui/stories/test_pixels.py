"""Pictures in pixels: shown where the terminal says that it can, on a real pseudo-terminal."""

from __future__ import annotations

import base64
import io
import os
import re
import time

import numpy as np
import pytest

from benchmarks.speed.tui import PATIENCE, Session
from tests.tail import tail
from tests.tui.conftest import put_run
from vbg.errors import UsageError
from vbg.tui.picturing import press, settled
from vbg.tui.session import pixels
from vbg.tui.state.keys import VIEWS
from vbg.tui.tasks import painting

ATTRIBUTES = {"kitty": b"\x1b_Gi=31;OK\x1b\\\x1b[4;480;800t\x1b[?62;c", "sixel": b"\x1b[?62;4;22c"}
ATTRIBUTES |= {"neither": b"\x1b[?62;22c", "silent": b""}
PATIENT = f"from vbg.tui.session import pixels; pixels.SECONDS = {PATIENCE}"


def heard(session: Session, wanted: re.Pattern[bytes]) -> re.Match[bytes]:
    """What vbg writes, once it is there."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = wanted.search(b"".join(piece for _, piece in session.heard))
        if found:
            return found
        session.listen(0.1)
    raise AssertionError(f"never came: {wanted.pattern!r}; {session.said()[-500:]}")


def unpacked(sixel: bytes) -> np.ndarray:
    """The pixels (h, w, 3) in percent of a sixel picture: a decoder of its own."""
    head = re.match(rb'\x1bPq"1;1;(\d+);(\d+)', sixel)
    assert head is not None and sixel.endswith(b"\x1b\\")
    width, height = int(head[1]), int(head[2])
    image = np.full((height + 5, width, 3), -1)
    palette: dict[int, tuple[int, ...]] = {}
    colour, x, y = 0, 0, 0
    for token in re.finditer(rb"#\d+(?:;\d+)*|!\d+[?-~]|[?-~]|[$-]", sixel[head.end() : -2]):
        text = token[0]
        if text[:1] == b"#":
            colour, *rest = (int(n) for n in text[1:].split(b";"))
            if rest:
                palette[colour] = tuple(rest[1:])
        elif text in (b"$", b"-"):
            x, y = 0, y + 6 * (text == b"-")
        else:
            count, mark = (int(text[1:-1]) if len(text) > 1 else 1), text[-1] - 63
            for bit in range(6):
                if mark >> bit & 1:
                    image[y + bit, x : x + count] = palette[colour]
            x += count
    return image[:height]


@pytest.mark.parametrize("seed", range(8))
def test_a_sixel_picture_is_the_pixels_again(seed):
    """Of any size, six rows being no measure of it, with runs and without."""
    generator = np.random.default_rng(seed)
    height, width = generator.integers(1, 20, 2)
    palette = generator.integers(0, 256, (generator.integers(1, 12), 3))
    pictured = generator.integers(0, len(palette), (height, width))
    pictured = np.repeat(pictured, generator.integers(1, 9), axis=1)
    seen = unpacked(pixels.sixel(pictured, palette))
    assert np.array_equal(seen, np.round(100 * palette / 255).astype(int)[pictured])


@pytest.mark.parametrize("size", [1, 4095, 4096, 4097, 20_000])
def test_pieces_for_kitty_are_the_file_again(size):
    png = np.random.default_rng(size).bytes(size)
    sent = pixels.kitty(png)
    pieces = re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", sent)
    assert b"".join(b"\x1b_G%s;%s\x1b\\" % piece for piece in pieces) == sent
    assert [b"m=1" in keys for keys, _ in pieces] == [True] * (len(pieces) - 1) + [False]
    assert base64.b64decode(b"".join(text for _, text in pieces)) == png
    assert all(len(text) <= 4096 for _, text in pieces)


# What terminals say that they are, as listed by github.com/BourgeoisBear/rasterm (README).
@pytest.mark.parametrize(
    ("terminal", "answer", "protocol"),
    [
        ("iterm2", b"\x1b[?62;4c", "sixel"),
        ("rio", b"\x1b[?62;4;6;22c", "sixel"),
        ("mintty", b"\x1b[?64;1;2;4;6;9;15;21;22;28;29c", "sixel"),
        ("mlterm", b"\x1b[?63;1;2;3;4;7;29c", "sixel"),
        ("wezterm", b"\x1b[?65;4;6;18;22c", "sixel"),
        ("xterm -ti vt340", b"\x1b[?63;1;2;4;6;9;15;22c", "sixel"),
        ("kitty", b"\x1b_Gi=31;OK\x1b\\\x1b[?62;c", "kitty"),
        ("ghostty", b"\x1b_Gi=31;OK\x1b\\\x1b[?62;22c", "kitty"),
        ("apple terminal", b"\x1b[?1;2c", ""),
        ("putty", b"\x1b[?6c", ""),
        ("guake", b"\x1b[?65;1;9c", ""),
        ("terminology", b"\x1b[?64;1;9;15;18;21;22c", ""),
    ],
)
def test_terminals_are_known_by_their_own_answers(terminal, answer, protocol):
    assert pixels.understood(answer, 80, 24).protocol == protocol, terminal


@pytest.mark.parametrize(
    ("answer", "protocol"),
    [
        (ATTRIBUTES["kitty"], "kitty"),
        (ATTRIBUTES["sixel"], "sixel"),
        (b"\x1b[?64;1;4c", "sixel"),
        (b"\x1b[?62;14;40c", ""),  # a 4 in another number
        (b"\x1b[?4c", ""),  # the first number is the kind of terminal
        (b"\x1b_Gi=31;ENOTSUPPORTED\x1b\\\x1b[?62;c", ""),
        (b"\x1b_Gi=31;OK\x1b\\", ""),  # no end of the answer: a slow line, or something else
        (b"", ""),
    ],
)
def test_an_answer_is_understood_and_never_guessed(answer, protocol):
    assert pixels.understood(answer, 80, 24).protocol == protocol


@pytest.mark.slow
async def test_every_view_with_a_picture_has_one(app_with_runs, tmp_path):
    """Graph, Run, Plot and 3D, at 80x24; a model that is broken has no graph to draw."""
    from PIL import Image

    app = app_with_runs
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(app, pilot)
        for view in painting.PAINTED:
            await press(app, pilot, [str(VIEWS.index(view) + 1)])
            image = Image.open(painting.paint(app.work, tmp_path)).convert("RGB")
            shades = np.unique(np.asarray(image).reshape(-1, 3), axis=0)
            assert len(shades) > 3, view
        app.work.view, app.work.graph = "graph", None
        with pytest.raises(UsageError, match="no errors"):
            painting.paint(app.work, tmp_path)


@pytest.mark.parametrize("kind", tail(["kitty", "silent", "sixel", "neither"], 0))
def test_a_picture_is_shown_where_the_terminal_can(model, monkeypatch, kind):
    """The terminal here answers as one of its kind; the next key brings the cells back."""
    put_run(model, 1, "vbg")
    if kind != "silent":
        # an answer is waited for, however long this test takes to give it
        (model.parent / "sitecustomize.py").write_text(PATIENT)
        monkeypatch.setenv("PYTHONPATH", str(model.parent))
    with Session(model.parent, (str(model),)) as session:
        session.wait("0 errors")
        os.write(session.descriptor, b"4I")
        heard(session, re.compile(re.escape(pixels.QUESTION)))
        session.heard.clear()
        os.write(session.descriptor, ATTRIBUTES[kind])
        if kind in ("neither", "silent"):
            heard(session, re.compile(b"shows no pictures"))
            assert b"f=100" not in b"".join(piece for _, piece in session.heard)
            return
        heard(session, re.compile(b"any key goes back"))
        sent = b"".join(piece for _, piece in session.heard)
        if kind == "kitty":
            from PIL import Image

            pieces = re.findall(rb"\x1b_G(?:a=T[^;]*|m=\d);([A-Za-z0-9+/=]+)\x1b\\", sent)
            image = Image.open(io.BytesIO(base64.b64decode(b"".join(pieces))))
            assert image.width <= 800 and image.height <= 480 and max(image.size) > 400
            shades = np.asarray(image.convert("RGB")).reshape(-1, 3)
            assert len(np.unique(shades, axis=0)) > 3, "curves, not a blank"
        else:
            found = re.search(rb"\x1bPq.*?\x1b\\", sent, re.DOTALL)
            assert found is not None
            seen = unpacked(found[0])
            assert (seen >= 0).all() and seen.shape[1] <= 640
            assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 3
        session.heard.clear()
        os.write(session.descriptor, b" ")
        heard(session, re.compile(b"hinge"))
