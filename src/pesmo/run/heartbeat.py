"""Renews the leases of the trials a run holds, while the run itself is busy evaluating or thinking."""

import threading

from pesmo.errors import StorageError
from pesmo.store.contract import Store

LEASE = 60.0  # seconds that a trial of a run is held without a sign of life
BEATS = 6  # in a lease


class Heartbeat:
    """A context: while it is open, the trials in `held` are renewed."""

    def __init__(self, store: Store, lease: float) -> None:
        self.held: set[int] = set()
        self._store = store
        self._every = lease / BEATS
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(timeout=5.0)  # a beat that waits for a lost server may go on alone

    def _beat(self) -> None:
        while not self._over.wait(self._every):
            try:
                if ids := tuple(self.held):
                    self._store.renew(ids)
            except StorageError:
                continue  # the run meets the same storage and says what is wrong; the next beat tries again
