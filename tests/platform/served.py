"""A child for the tests of `vbg.platform.limited`: it answers, dies, spins, eats, rests."""

import os
import signal
import time

from vbg.platform.limited import serve


def act(job):
    if job == "die":
        os.kill(os.getpid(), signal.SIGTERM)
    while job == "spin":
        pass
    hoard = []
    while job == "eat":
        hoard.append(bytearray(20_000_000))
    if job == "noise":
        print("what native code says is no answer", flush=True)
    if job == "still":
        time.sleep(60.0)
    return {"pid": os.getpid(), "job": job}


if __name__ == "__main__":
    serve(act)
