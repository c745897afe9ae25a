"""Serve one peer's suggestions as JSON lines: `python benchmarks/peers/serve.py NAME`, in the peers' venv.

Prints `ready` once its imports are over. Then one request a line on stdin (minimization over the unit cube),
one answer a line on stdout:

    {"x": [[..]], "y": [[..]], and the fields of request.py}
    {"x": [..], "objective": null, "seconds": 0.8, "cpu_seconds": 0.8, "peak_mb": 410.0}   or   {"error": "Runtime..."}

"objective" is the one to measure there, null for all of them. The seconds hold everything from the data to the
suggestion, model fitting included, but not the imports. A time limit is the caller's business. One thread, 12 GiB at
most. NAME is a module of this folder with a function `suggest`.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from importlib import import_module
from typing import Any

import numpy as np
import torch
from request import Request
from threadpoolctl import threadpool_limits

MEMORY = 12 * 2**30  # bytes; beyond it a peer gets an error, rather than the machine running out (PES, K = 4)


def peak_mb() -> float:
    """The largest resident memory of this process so far, in MiB."""
    try:  # getrusage would count the parent's memory from before exec
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def answer(peer: Any, request: dict[str, Any]) -> dict[str, Any]:
    """One suggestion with what it took, or the error it raised."""
    x, y = np.array(request.pop("x"), dtype=float), np.array(request.pop("y"), dtype=float)
    torch.manual_seed(request["seed"])
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        suggestion = peer.suggest(x, y, Request(**request))
        point, objective = suggestion if isinstance(suggestion, tuple) else (suggestion, None)
        reply: dict[str, Any] = {"x": np.asarray(point, dtype=float).ravel().tolist(), "objective": objective}
        if not np.all(np.isfinite(reply["x"])):
            reply = {"error": f"NonFinite: suggested {reply['x']}"}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    return reply | {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mb": peak_mb(),
    }


def main() -> None:
    """Answer requests until stdin ends."""
    if len(sys.argv) != 2:
        sys.exit("usage: serve.py NAME")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    replies, sys.stdout = sys.stdout, sys.stderr  # what a peer prints must not mix with the answers
    peer = import_module(sys.argv[1])
    torch.set_num_threads(1)
    threadpool_limits(1)  # after the imports: it reaches the libraries that are loaded
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(peer, json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
