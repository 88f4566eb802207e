"""Small finite-element meshes: a beam along x (six freedoms a node), a lattice of bars (three)."""

import numpy as np

STEEL = {"E": 2.1e11, "nu": 0.3, "density": 7850.0}


def frame(n, length, y=0.02, z=0.03):
    """M, K, X of n Euler-Bernoulli elements along x, masses consistent, section y by z."""
    E, rho = STEEL["E"], STEEL["density"]
    G = E / 2.6
    area, I_y, I_z, l = y * z, y * z**3 / 12, z * y**3 / 12, length / n
    torsion = 0.2 * y**3 * z
    k, m = np.zeros((12, 12)), np.zeros((12, 12))
    for at, stiff, inert in ((0, E * area, area), (3, G * torsion, I_y + I_z)):
        pair = np.ix_([at, at + 6], [at, at + 6])
        k[pair] += stiff / l * np.array([[1, -1], [-1, 1]])
        m[pair] += rho * inert * l / 6 * np.array([[2, 1], [1, 2]])
    for at, s, EI in (((1, 5, 7, 11), l, E * I_z), ((2, 4, 8, 10), -l, E * I_y)):
        d = np.diag([1.0, s, 1.0, s])
        bend = [[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]
        mass = [[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]]
        k[np.ix_(at, at)] += EI / l**3 * (d @ bend @ d)
        m[np.ix_(at, at)] += rho * area * l / 420 * (d @ mass @ d)
    M, K = np.zeros((6 * (n + 1),) * 2), np.zeros((6 * (n + 1),) * 2)
    for e in range(n):
        K[6 * e : 6 * e + 12, 6 * e : 6 * e + 12] += k
        M[6 * e : 6 * e + 12, 6 * e : 6 * e + 12] += m
    X = np.zeros((n + 1, 3))
    X[:, 0] = np.linspace(0.0, length, n + 1)
    return M, K, X


def lattice(cells=4, seed=5):
    """M, K, X of a bar of cubes of springs with masses of random size on the corners."""
    random = np.random.default_rng(seed)
    X = 0.1 * np.array([[i, j, k] for i in range(cells) for j in range(2) for k in range(2)], float)
    X += 0.01 * random.normal(size=X.shape)
    M = np.kron(np.diag(random.uniform(0.05, 0.2, len(X))), np.eye(3))
    K = np.zeros_like(M)
    for a in range(len(X)):
        for b in range(a):
            d = X[a] - X[b]
            if np.linalg.norm(d) < 0.18:
                stiff = 1e6 * np.outer(d, d) / (d @ d)
                at = np.r_[3 * a : 3 * a + 3, 3 * b : 3 * b + 3]
                K[np.ix_(at, at)] += np.kron([[1, -1], [-1, 1]], stiff)
    return M, K, X
