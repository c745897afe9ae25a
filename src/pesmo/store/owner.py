"""Who holds a trial of a run: a process of a machine, named so that others on the machine can see that it is gone.

A run that was killed holds its trials until their leases run out; another process of the same machine need not wait for
that. The name has the machine's boot and process namespace, the process id, and when the process started, so that
neither a reused id nor another container passes for it. Where the system does not tell, a lease must run out. What a
person or a script asks for has no owner: the process that asked may well end long before the result is there.
"""

import os
from functools import cache
from pathlib import Path

PROC = Path("/proc")


def this_process() -> str | None:
    """The name of this process, None where the system does not tell."""
    here, started = _here(), _started(os.getpid())
    return None if here is None or started is None else f"{here}/{os.getpid()}/{started}"


def is_dead(owner: str) -> bool:
    """True where `owner` was a process of this machine and the system says that it is no more.

    Only "no such process" says so, or an entry in /proc that shows a zombie or a later start under the same id. A
    process that may not be signalled, or that /proc hides (another user's, with hidepid), lives.
    """
    here = _here()
    if here is None or not owner.startswith(f"{here}/"):
        return False
    pid, _, started = owner.removeprefix(f"{here}/").partition("/")
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # another user's, and alive
    return _started(int(pid)) not in (started, None)


@cache
def _here() -> str | None:
    """The machine since its start, and the process namespace; None where /proc does not tell, or tells of another's."""
    try:
        if os.readlink(PROC / "self") != str(os.getpid()):
            return None  # mounted outside this namespace: its ids are not ours
        boot = (PROC / "sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
        return f"{boot}/{os.readlink(PROC / 'self/ns/pid')}"
    except OSError:
        return None


def _started(pid: int) -> str | None:
    """The start of a process in clock ticks, "ended" for a zombie; None where /proc does not show it."""
    try:
        stat = (PROC / f"{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return "ended" if fields[0] in "ZX" else fields[19]
