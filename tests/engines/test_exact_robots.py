"""Accelerations by arithmetic of 50 digits: Pinocchio's of a file, vbg's of its import."""

import pytest

pytest.importorskip("pinocchio")
mpmath = pytest.importorskip("mpmath")

CHAIN = """<robot name="chain"><link name="base"/>
<link name="a"><inertial><origin xyz="0.1 0 0.2" rpy="0.3 0.2 -0.5"/><mass value="2"/>
  <inertia ixx="0.03" ixy="0.002" ixz="-0.001" iyy="0.05" iyz="0.003" izz="0.04"/></inertial></link>
<link name="b"><inertial><origin xyz="0 0.1 0.1"/><mass value="1"/>
  <inertia ixx="0.02" ixy="0" ixz="0.001" iyy="0.01" iyz="0" izz="0.02"/></inertial></link>
<link name="tool"><inertial><origin xyz="0 0 0.05"/><mass value="{mass}"/>
  <inertia ixx="{J}" ixy="0" ixz="0" iyy="{J}" iyz="0" izz="{J}"/></inertial></link>
<joint name="one" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0.6 0.8"/>
  <origin xyz="0 0 0.3" rpy="0.1 0.7 -0.4"/>
  <limit lower="-2" upper="2" effort="9" velocity="9"/></joint>
<joint name="two" type="continuous"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
  <origin xyz="0.2 0 0.3" rpy="1.1 0 0.4"/></joint>
<joint name="three" type="continuous"><parent link="b"/><child link="tool"/><axis xyz="0 1 0"/>
  <origin xyz="0 0.1 0.3" rpy="0 0.2 0"/></joint></robot>"""


@pytest.mark.parametrize("mass", [0.3, 1e-4])
def test_both_are_right_to_rounding(mass, tmp_path):
    """A light tool makes the mass matrix worse by its ratio, and no more."""
    from benchmarks.accuracy.robots_exact import DIGITS, compare

    file = tmp_path / "chain.urdf"
    file.write_text(CHAIN.format(mass=mass, J=mass * 1e-3))
    with mpmath.workdps(DIGITS):
        on_file, on_import, imported = compare(file, 2, 1)
    assert max(on_file, on_import, imported) < 1e-15 / mass + 1e-13
