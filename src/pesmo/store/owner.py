"""Who holds a trial: a process of a machine, named so that others on the same machine can see that it is gone.

A process that was killed holds its trials until their leases run out; another process of the same machine need not
wait for that. The name has the machine's boot and process namespace, the process id, and when the process started,
so that neither a reused id nor another container passes for it. Where the system does not tell, a lease must run out.
"""

import os
from functools import cache
from pathlib import Path


def this_process() -> str | None:
    """The name of this process, None where the system does not tell."""
    here, started = _here(), _started(os.getpid())
    return None if here is None or started is None else f"{here}/{os.getpid()}/{started}"


def is_dead(owner: str) -> bool:
    """True where `owner` was a process of this machine and is no more."""
    here = _here()
    if here is None or not owner.startswith(f"{here}/"):
        return False
    pid, _, started = owner.removeprefix(f"{here}/").partition("/")
    return _started(int(pid)) != started


@cache
def _here() -> str | None:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return None


def _started(pid: int) -> str | None:
    """The start of a living process in clock ticks; None where there is none (a zombie is none)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]
