"""Libraries of FMUs for all platforms, read by another program."""

import os

import pytest

import vbg
from benchmarks.platforms import libraries

pytest.importorskip("lief")
pytest.importorskip("ziglang")


@pytest.mark.skipif(
    "VBG_PLATFORMS" not in os.environ,
    reason="the first use of a platform builds its C library for minutes: VBG_PLATFORMS=1",
)
@pytest.mark.slow
@pytest.mark.parametrize("platform", ["windows-x86_64", "macos-aarch64", "macos-x86_64"])
def test_a_library_has_the_format_and_the_functions_of_its_platform(platform, tmp_path, capsys):
    start = vbg.start(vbg.assemble(vbg.read("examples/pendulum.toml")))
    libraries(start, 3, tmp_path, [platform])
    (line,) = capsys.readouterr().out.strip().splitlines()
    assert line.startswith(platform) and line.endswith("ok"), line
