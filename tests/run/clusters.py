"""Runs on real clusters of one machine: `python -m tests.run.clusters dask|ray FOLDER`."""

import json
import os
import signal
import sys
from functools import partial
from pathlib import Path

from pesmo import Float, Space, Study
from tests.run.functions import both


def evaluate(folder: Path, inputs: dict) -> dict:
    """The first evaluation raises, the second takes its process down."""
    for kind in ("raise", "crash"):
        try:
            (folder / kind).touch(exist_ok=False)
        except FileExistsError:
            continue
        if kind == "raise":
            raise ValueError("it diverged")
        os.kill(os.getpid(), signal.SIGKILL)
    return both(inputs)


def run(executor, folder: Path) -> list:
    study = Study(Space(x=Float(0, 1), y=Float(0, 1)), ["a", "b"], seed=0, method="random", storage=folder / "study.db")
    study.run({"evaluate": partial(evaluate, folder)}, evaluations=8, workers=2, executor=executor, progress=False)
    return [[t.state, t.message] for t in study.trials]


def on_dask(folder: Path) -> list:
    import dask.config
    from distributed import Client, LocalCluster

    # A task whose worker died is not tried again by Dask: that is for the study to decide.
    dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        return run(client.get_executor(), folder)


def on_ray(folder: Path) -> list:
    import ray

    from pesmo.run.ray import RayExecutor

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        return run(RayExecutor(num_cpus=1), folder)
    finally:
        ray.shutdown()


if __name__ == "__main__":
    trials = {"dask": on_dask, "ray": on_ray}[sys.argv[1]](Path(sys.argv[2]))
    print(json.dumps(trials))
