"""Ray behind the interface of concurrent.futures: `study.run(..., executor=RayExecutor(), workers=8)`."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class RayExecutor(Executor):
    """Calls as tasks of the Ray cluster that this process is connected to (or one of its own, started now).

    options  of every task, as `ray.remote` takes them: num_cpus=4, num_gpus=1, ...
    """

    def __init__(self, **options: Any) -> None:
        import ray

        if not ray.is_initialized():
            ray.init()
        self._call = ray.remote(max_retries=0, **options)(_call)  # whether to try again is the study's decision

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._call.remote(fn, args, kwargs).future()


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)
