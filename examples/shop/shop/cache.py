"""The idempotency cache: which operations were begun already, within bounded memory."""

from collections import OrderedDict


class IdempotencyCache:
    """Remembers the operations begun most recently, and whether each has finished.

    When full it forgets a finished operation before one that is still in flight.
    """

    def __init__(self, *, capacity: int) -> None:
        self._capacity = capacity
        self._finished: OrderedDict[str, bool] = OrderedDict()

    def begin(self, operation: str) -> bool:
        """Note the start of an operation; return False if it was begun before."""
        if operation in self._finished:
            self._finished.move_to_end(operation)
            return False
        if len(self._finished) >= self._capacity:
            self._forget_one()
        self._finished[operation] = False
        return True

    def finish(self, operation: str) -> None:
        """Note that an operation is done and will hardly be repeated."""
        if operation in self._finished:
            self._finished[operation] = True

    def _forget_one(self) -> None:
        for operation, finished in self._finished.items():
            if finished:
                del self._finished[operation]
                return
        self._finished.popitem(last=False)
