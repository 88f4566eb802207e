"""Libraries of FMUs for all platforms, read by another program."""

import pytest

import vbg
from benchmarks.accuracy.platforms import compilers, libraries

pytest.importorskip("lief")
pytest.importorskip("ziglang")


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["windows-x86_64", "macos-aarch64"])
def test_a_library_has_the_format_and_the_functions_of_its_platform(platform, tmp_path, capsys):
    """The first use of a platform builds its C library: 6 to 17 s on an idle machine."""
    start = vbg.start(vbg.assemble(vbg.read("examples/pendulum.toml")))
    libraries(start, 3, tmp_path, [platform])
    (line,) = capsys.readouterr().out.strip().splitlines()
    assert line.startswith(platform) and line.endswith("ok"), line


@pytest.mark.slow
def test_the_systems_compiler_and_the_one_that_comes_along_agree(tmp_path, monkeypatch):
    """Rates of random states by the same sources, compiled as for a user."""
    pytest.importorskip("fmpy")
    monkeypatch.setattr("vbg.export.compiler.OPTIMISATION", "-O3")
    start = vbg.start(vbg.assemble(vbg.read("examples/slider-crank.toml")))
    assert compilers(start, tmp_path) < 1e-12
