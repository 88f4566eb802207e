"""Signals beside one another."""

import numpy as np

from vbg.plumbing.components import vector_of


def family(signal):
    """What it is, without whose and which component."""
    return vector_of(signal).rpartition(".")[2]


def family_peaks(columns):
    """The largest value of all signals of a kind: single ones may be zero but for rounding."""
    peaks = {}
    for name, values in columns.items():
        peaks[family(name)] = max(peaks.get(family(name), 0.0), np.abs(values).max())
    energies = ("kinetic", "potential", "stored", "supplied", "dissipated")
    most = max(peaks[e] for e in energies)
    return {**peaks, **dict.fromkeys(energies, most)}
