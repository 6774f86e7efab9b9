"""A store with a journal and a replica that takes over, and six things that may go wrong in it."""

from bugs.synthetic import is_repaired

FAULTS = {
    "duplicate": False,
    "journal_full": False,
    "puts_refused": False,
    "reads_stale": False,
    "replica_down": False,
    "slow_clock": False,
}
PATIENCE = 6


class Store:
    """A commit makes what is staged durable: in the replica, or else in the journal."""

    def __init__(self) -> None:
        self.primary: dict[int, tuple[int, int]] = {}
        self.replica: dict[int, tuple[int, int]] = {}
        self.journal: list[dict[int, tuple[int, int]]] = []
        self.staged: dict[int, tuple[int, int]] = {}
        self.clock = 0
        self.refused = 0

    def put(self, key: int, value: int) -> bool:
        if FAULTS["puts_refused"]:
            return False
        self.staged[key] = (value, self.clock)
        self.clock += 0 if FAULTS["slow_clock"] else 1
        return True

    def commit(self) -> bool:
        if not self.staged:
            return True
        batch, self.staged = self.staged, {}
        if FAULTS["replica_down"]:
            if FAULTS["journal_full"]:
                self.refused += 1
                if self.refused < PATIENCE or is_repaired():
                    self.staged = batch
                    return False
                # The planted bug: out of patience, it says yes to what nothing durable holds.
            else:
                self.refused = 0
                self.journal.append(dict(batch))
        else:
            self.refused = 0
            self._ship(batch)
        self.primary.update(batch)
        return True

    def _ship(self, batch: dict[int, tuple[int, int]]) -> None:
        self._replay()
        for _ in range(2 if FAULTS["duplicate"] else 1):
            self.replica.update(batch)

    def _replay(self) -> None:
        for batch in self.journal:
            self.replica.update(batch)
        self.journal.clear()

    def fail_over(self) -> None:
        self._replay()
        self.primary = dict(self.replica)
        self.staged.clear()

    def get(self, key: int) -> int | None:
        side = self.replica if FAULTS["reads_stale"] and not self.journal else self.primary
        found = side.get(key)
        return None if found is None else found[0]
