"""MuJoCo's reader in a process of its own: ``python -P compiling.py FILE.xml MODEL.mjb``.

Native code that reads a stranger's file may fall over it, or be told to make a million million
copies of a body: that ends this process and no other.  On standard output is one line of JSON,
{"warnings": [text, ...], "refused": text}; MODEL.mjb holds what was compiled unless it was refused.
"""

from __future__ import annotations

import faulthandler
import json
import sys

PATIENCE = 120  # s after which the process ends though nobody has ended it: its parent was killed


def main(path: str, out: str) -> None:
    """Compile `path` into `out`."""
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    import mujoco

    said: list[str] = []
    refused = ""
    mujoco.set_mju_user_warning(said.append)  # else it writes them into a file where the user works
    try:
        mujoco.mj_saveModel(mujoco.MjModel.from_xml_path(path), out, None)
    except ValueError as error:
        refused = str(error).strip() or "it gives no reason"
    print(json.dumps({"warnings": said, "refused": refused}))


if __name__ == "__main__":
    main(*sys.argv[1:])
