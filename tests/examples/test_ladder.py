"""The ladder of finite elements: its matrices, its statics, its motion, its film."""

import runpy
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import vbg
from vbg.draw.film import film_of

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "finite-elements"


@cache
def solved():
    model = vbg.read(FOLDER / "ladder.toml")
    return model, vbg.simulate(vbg.assemble(model), t_end=0.1, output_step=0.01)


def test_files_are_those_of_the_script():
    made = runpy.run_path(str(FOLDER / "ladder.py"))["ladder"]()
    for name, matrix in zip(("M", "K", "nodes"), made, strict=True):
        kept = np.load(FOLDER / f"ladder-{name}.npy")
        np.testing.assert_allclose(kept, matrix, atol=1e-12 * np.abs(matrix).max())


@pytest.mark.slow
def test_it_weighs_what_its_tubes_do():
    """Two rails of 1.2 m and seven rungs of 0.3 m of a tube 18 x 1.5 mm."""
    model, _ = solved()
    metre = 7850 * np.pi * (0.009**2 - 0.0075**2)
    assert model.bodies["ladder"].mass == pytest.approx(metre * (2 * 1.2 + 7 * 0.3), rel=1e-12)


def test_at_rest_it_sags_as_its_whole_mesh_does():
    """The deflection of the loaded corner against the other one, by K alone: held at the spiders
    of hinge and rod, weights on every node and the load on its own."""
    model, run = solved()
    M, K, X = (np.load(FOLDER / f"ladder-{n}.npy") for n in ("M", "K", "nodes"))
    down = np.tile([0.0, 0.0, -9.81, 0.0, 0.0, 0.0], len(X))
    f = M @ down
    f[6 * 13 + 2] -= model.bodies["load"].mass * 9.81

    def spider(nodes):  # (N, 6) of a rigid motion of the nodes about their middle
        T, middle = np.zeros((len(K), 6)), X[nodes].mean(axis=0)
        for n in nodes:
            x, y, z = X[n] - middle
            T[6 * n : 6 * n + 6] = np.eye(6)
            T[6 * n : 6 * n + 3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
        return T

    free = [n for n in range(len(X)) if n not in (0, 7, 3, 10)]
    rest = np.zeros((len(K), 6 * len(free)))
    for k, n in enumerate(free):
        rest[6 * n : 6 * n + 6, 6 * k : 6 * k + 6] = np.eye(6)
    # the hinge leaves the turn about y, the eye all turns of the spider in the middle
    C = np.hstack([spider([0, 7])[:, [4]], spider([3, 10])[:, 3:], rest])
    u = C @ np.linalg.lstsq(C.T @ K @ C, C.T @ f, rcond=1e-13)[0]
    left, right = (run[f"ladder_{side}.position"][0] for side in ("left", "right"))
    assert (right - left)[2] == pytest.approx(u[6 * 13 + 2] - u[6 * 6 + 2], rel=1e-3)
    middle = run["load.position"][0][2]
    assert middle == pytest.approx(u[6 * 13 + 2], rel=1e-3)


def test_it_bends_on_film():
    """Nineteen tubes between fourteen nodes, whose ends leave the line of the rail."""
    model, run = solved()
    assert run.status.code == "finished" and not run.audit.failures
    film = film_of(model, run)
    members = [link for link in film.links if link.kind == "member"]
    assert len(members) == 19
    rail = [next(b for b in film.bodies if b.name == f"ladder.mesh.{k}") for k in (7, 10, 13)]
    hinge, middle, tip = (body.pose[:, :3] for body in rail)
    np.testing.assert_allclose(tip, run["ladder_right.position"], atol=1e-12)
    off = tip - hinge - 2.0 * (middle - hinge)
    assert np.abs(off[:, 2]).max() > 1e-3
