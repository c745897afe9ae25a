"""Ask a peer for suggestions: run `peers/serve.py NAME` in the peers' environment, within a time limit."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

HERE = Path(__file__).parent
NAMES = ("qlognehvi", "qlognparego", "jes", "pes", "hvkg", "optuna_default", "optuna_gp", "pymoo_nsga2")
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def peers_python() -> Path:
    """The peers' interpreter: $PEERS_PYTHON, or that of .venv-peers beside this folder."""
    return Path(os.environ.get("PEERS_PYTHON", HERE.parent / ".venv-peers" / "bin" / "python"))


class Peer:
    """One peer, served by a process of its own; a process that overran its time is replaced at the next call.

    with Peer("qlognehvi") as peer:
        reply = peer.suggest(x, y, seed=1)    # {"x", "objective", "seconds", "cpu_seconds", "peak_mb"} or {"error"}
    """

    def __init__(self, name: str, log: int | None = subprocess.DEVNULL) -> None:
        """`log` takes the peer's warnings: a file descriptor, or None for this process's stderr."""
        self.name, self._log = name, log
        self._process: subprocess.Popen[str] | None = None

    def suggest(
        self,
        x: np.ndarray,
        y: np.ndarray,
        *,
        seed: int,
        run: int = 0,
        starts: int = 5,
        costs: Sequence[float] | None = None,
        reference: Sequence[float | None] = (),
        draws: int = 10,
        pareto_points: int = 50,
        timeout: float = 600.0,
    ) -> dict[str, Any]:
        """The peer's answer for data x (n, d), y (n, K); past `timeout` seconds {"error": "Timeout: ..."}."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        request = {
            "x": x.tolist(),
            "y": y.tolist(),
            "seed": seed,
            "run": run,
            "starts": starts,
            "costs": list(costs or [1.0] * y.shape[1]),
            "reference": None if None in reference else list(reference) or None,
            "draws": draws,
            "pareto_points": pareto_points,
        }
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            answered = ready.select(timeout)
        if not answered:
            self.close()
            return {"error": f"Timeout: no answer in {timeout:g} s", "seconds": timeout}
        line = process.stdout.readline()
        if not line:
            code = process.wait()
            self.close()
            return {"error": f"Died: exit status {code}"}
        return json.loads(line)

    def _running(self) -> subprocess.Popen[str]:
        """The serving process, started when there is none; its imports are over when it is returned."""
        if self._process is None:
            self._process = subprocess.Popen(
                [str(peers_python()), str(HERE / "peers" / "serve.py"), self.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env=os.environ | dict.fromkeys(THREADS, "1"),
                text=True,
            )
            assert self._process.stdout is not None
            if self._process.stdout.readline() != "ready\n":
                code = self._process.wait()
                self._process = None
                raise RuntimeError(
                    f"peer {self.name} did not start (exit status {code}): install "
                    f"benchmarks/peers-requirements.txt into .venv-peers, or set PEERS_PYTHON"
                )
        return self._process

    def close(self) -> None:
        """End the serving process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
