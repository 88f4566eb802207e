"""Names of result files: which endings there are, and what grows during a run.

Imports nothing, so that the command line can ask before anything is loaded.
"""

from __future__ import annotations

RESULT_ENDINGS = (".h5", ".hdf5", ".csv", ".json")
SAVED_ENDINGS = (*RESULT_ENDINGS, ".parquet")  # what a whole result can be written as
_GROWING = (".h5", ".hdf5")  # formats that are written during the run


def growing_file(result: str) -> str:
    """The file that grows during a run whose result goes to `result`: the same for
    HDF5; beside it for formats that are written at the end."""
    return result if result.endswith(_GROWING) else result + ".part.h5"
