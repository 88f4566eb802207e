"""Poses of another program: every way to write them gives the motion that was written."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import vbg
from vbg.cli.main import main
from vbg.errors import UsageError
from vbg.io.poses import read_poses

EXAMPLES = Path(__file__).parents[3] / "examples"
MODEL = vbg.Model(
    bodies={
        "rod": {
            "mass": 1.0,
            "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0},
            "com": [0.1, 0.0, 0.2],
            "points": {"P": [0.3, 0.4, 0.5]},
        }
    }
)
TIME = np.array([0.0, 0.5, 1.0])
PLACES = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]])
TURNS = Rotation.from_euler("xyz", [[0.1, 0.2, 0.3], [0.5, -0.2, 1.0], [-1.0, 0.4, 2.0]])


def written(path, titles, columns):
    rows = [",".join(f"{value:.17g}" for value in row) for row in np.column_stack(columns)]
    path.write_text("\n".join([",".join(titles), *rows]))
    return path


QUATERNIONS = TURNS.as_quat()[:, [3, 0, 1, 2]]
WAYS = {
    "quaternion": (["rod.qw", "rod.qx", "rod.qy", "rod.qz"], QUATERNIONS),
    "numbers": ([f"Rod_q{i}" for i in range(4)], QUATERNIONS),
    "vbg": ([f"rod.rotation[{i}]" for i in range(4)], QUATERNIONS),
    "matrix": ([f"rod:r{i}{j}" for i in "123" for j in "123"], TURNS.as_matrix().reshape(3, 9)),
    "angles": (["rod/roll", "rod/pitch", "rod/yaw"], TURNS.as_euler("xyz")),
    "degrees": ([f"rod.r{a} [deg]" for a in "xyz"], TURNS.as_euler("xyz", degrees=True)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("origin", ["com", "axes"])
def test_all_ways_to_write_a_pose(way, origin, tmp_path):
    titles, rotations = WAYS[way]
    own = titles[0][:4]
    places = [f"{own}{axis} [mm]" for axis in "xyz"]
    path = written(
        tmp_path / "p.csv",
        ["t [ms]", *places, f"{own}speed", *titles],
        [1e3 * TIME, 1e3 * PLACES, TIME, rotations],
    )
    solution = read_poses(path, MODEL, origin=origin)
    R, com = TURNS.as_matrix(), np.array([0.1, 0.0, 0.2])
    middle = PLACES + (R @ com if origin == "axes" else 0.0)
    assert_allclose(solution.time, TIME)
    assert_allclose(solution["rod.position"], middle, atol=1e-12)
    point = np.array(MODEL.bodies["rod"].points["P"])
    assert_allclose(solution["rod.P.position"], middle + R @ point, atol=1e-12)
    same = np.abs(np.einsum("ni,ni->n", solution["rod.rotation"], QUATERNIONS))
    assert_allclose(same, 1.0)


@pytest.mark.parametrize(
    ("titles", "words"),
    [
        (
            ["time", "bar.x", "bar.y", "bar.qw"],
            "no columns of 'rod'; there are bar. Say --map rod=",
        ),
        (["time", "rod.x", "rod.y", "rod.qw"], "'rod' has no rotation"),
        (["time", "rod.x", "rod.angle", "rod.z"], "'rod' has no column rod.y"),
        (["x", "rod.x", "rod.y", "rod.angle"], "the first column must be the time"),
        (["time", "rod.x [kg]", "rod.y", "rod.angle"], "column 'rod.x \\[kg\\]'"),
    ],
)
def test_tables_that_lack_something(titles, words, tmp_path):
    path = written(tmp_path / "p.csv", titles, [TIME, PLACES])
    with pytest.raises(UsageError, match=words):
        read_poses(path, MODEL)


@pytest.mark.parametrize(
    ("row", "column", "value", "words"),
    [
        (1, 1, np.nan, r"'rod.x' must hold finite numbers, found nan in row 2"),
        (2, 3, np.inf, r"'rod.angle' must hold finite numbers, found inf in row 3"),
        (1, 0, np.nan, r"its time must be finite, found nan s in row 2"),
        (2, 0, 0.2, r"its time must not fall, found 0.5 s in row 2 and 0.2 s in row 3"),
    ],
)
def test_numbers_that_are_none(row, column, value, words, tmp_path):
    columns = np.column_stack([TIME, PLACES])
    columns[row, column] = value
    path = written(tmp_path / "p.csv", ["time", "rod.x", "rod.y", "rod.angle"], [columns])
    with pytest.raises(UsageError, match=words):
        read_poses(path, MODEL)


def test_a_rotation_that_is_none(tmp_path):
    titles = ["time", "rod.x", "rod.y", "rod.z", *(f"rod.q{a}" for a in "wxyz")]
    path = written(tmp_path / "p.csv", titles, [TIME, PLACES, 1.3 * QUATERNIONS])
    with pytest.raises(UsageError, match=r"the rotation of 'rod' is none in row 1: .*length 1.3"):
        read_poses(path, MODEL)


def test_a_mirror_image_is_no_rotation(tmp_path):
    """Left-handed axes, of one row among others."""
    titles = ["time", "rod.x", "rod.y", "rod.z"]
    titles += [f"rod.r{i}{j}" for i in "123" for j in "123"]
    matrices = TURNS.as_matrix()
    matrices[1] = matrices[1] @ np.diag([1.0, 1.0, -1.0])
    path = written(tmp_path / "p.csv", titles, [TIME, PLACES, matrices.reshape(3, 9)])
    with pytest.raises(UsageError, match=r"mirror image in row 2: the determinant of R is -1"):
        read_poses(path, MODEL)


def test_a_film_of_them_and_paths_in_space(tmp_path, capsys):
    model, run = str(EXAMPLES / "spatial-four-bar.toml"), str(tmp_path / "run.csv")
    assert main(["run", model, "--t-end", "0.1", "-o", run, "-q"]) == 0
    text = Path(run).read_text().replace("crank.", "Kurbel.")
    other = tmp_path / "other.csv"
    other.write_text(text)
    film = ["animate", str(other), "--poses", "--model", model, "-o", str(tmp_path / "f.html")]
    assert main(film) == 2
    assert "Say --map crank=" in capsys.readouterr().err
    assert main([*film, "--map", "crank=Kurbel", "--trace", "rocker.D"]) == 0
    assert (tmp_path / "f.html").stat().st_size > 10_000
    assert main([*film, "--map", "crunk=Kurbel"]) == 2
    assert "the bodies are crank, coupler, rocker" in capsys.readouterr().err
    picture = str(tmp_path / "p.svg")
    assert main(["plot", run, "rocker.D", "coupler", "--space", "-o", picture]) == 0
    assert main(["plot", run, "rocker.D", "--space"]) == 0
    assert "rocker.D z [m]" in capsys.readouterr().out
    assert main(["plot", run, "rocker.Q", "--space"]) == 2
    assert "there is no point or body 'rocker.Q'" in capsys.readouterr().err
