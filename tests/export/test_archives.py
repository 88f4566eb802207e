"""What is in the archive of a unit, and what is refused before there is one."""

import ctypes

import pytest

import vbg
from tests.export.conftest import outputs
from vbg.errors import UsageError
from vbg.export.fmu import PLATFORMS, write_fmu

fmpy = pytest.importorskip("fmpy")


def test_the_library_exports_the_functions_of_the_standard_alone(driven):
    library = ctypes.CDLL(f"{fmpy.extract(str(driven / 'arm3.fmu'))}/{binary()}")
    assert library.fmi3DoStep and library.fmi3GetVersion
    with pytest.raises(AttributeError):
        _ = library.vbg_run


def binary():
    from vbg.export.fmu.archive import own_platform

    _, place, _, ending = PLATFORMS[own_platform()]
    return f"binaries/{place}/driven_arm{ending}"


def test_joints_are_connectors_and_the_graph_is_the_icon(driven):
    """By the schema of the standard; members are variables that an importer connects."""
    import zipfile

    etree = pytest.importorskip("lxml.etree")
    schema = f"{fmpy.__path__[0]}/schema/fmi3/fmi3TerminalsAndIcons.xsd"
    with zipfile.ZipFile(driven / "arm3.fmu") as archive:
        document = etree.fromstring(archive.read("terminalsAndIcons/terminalsAndIcons.xml"))
        etree.XMLSchema(etree.parse(schema)).assertValid(document)
        if document.find("GraphicalRepresentation/Icon") is not None:
            assert archive.read("terminalsAndIcons/icon.png").startswith(b"\x89PNG")
    (joint,) = document.findall("Terminals/Terminal")
    members = {m.get("memberName"): m.get("variableName") for m in joint}
    assert joint.get("name") == "A" and members["force.x"] == "A.force.x"
    assert set(members.values()) <= set(outputs(str(driven / "arm3.fmu")))


def test_archives_are_the_same_each_time(driven, tmp_path):
    start = vbg.start(vbg.assemble(vbg.read(driven / "arm.toml")))
    for name in ("one.fmu", "two.fmu"):
        write_fmu(start, tmp_path / name, platforms=[])
    assert (tmp_path / "one.fmu").read_bytes() == (tmp_path / "two.fmu").read_bytes()


def test_what_there_is_not_is_refused(driven, tmp_path):
    start = vbg.start(vbg.assemble(vbg.read(driven / "arm.toml")))
    with pytest.raises(UsageError, match="macos-aarch64"):
        write_fmu(start, tmp_path / "x.fmu", version=2, platforms=["macos-aarch64"])
    with pytest.raises(UsageError, match="nothing"):
        write_fmu(start, tmp_path / "x.fmu", outputs=["nothing*"])


def test_the_command_line_writes_both(driven, tmp_path, capsys):
    from vbg.cli.main import main

    model = str(driven / "arm.toml")
    assert main(["export", model, "-o", str(tmp_path / "arm.fmu"), "--source", "--fmi", "2"]) == 0
    variables = fmpy.read_model_description(str(tmp_path / "arm.fmu")).modelVariables
    assert [v.name for v in variables if v.causality == "input"] == ["command"]
    assert all(float(v.nominal) > 0.0 for v in variables if v.name.startswith("state."))
    assert main(["export", model, "--c", "-o", str(tmp_path / "code")]) == 0
    assert (tmp_path / "code" / "Makefile").is_file()
    assert main(["export", model, "--c", "--fmi", "2", "-o", str(tmp_path / "code")]) == 2
    assert "OUT.fmu" in capsys.readouterr().err
