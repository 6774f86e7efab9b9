"""A machine that fills the queue only when a run leaves out, or hardly uses, what empties it."""

from contextlib import suppress

from work_queue import QueueFullError, WorkQueue

from ordeal import ChaosTest, invariant, rule

CAPACITY = 16


class WorkQueueChaos(ChaosTest):
    """Producers, workers that may die, and somebody who tidies up."""

    swarm = "sizes"
    # A queue that is drained at every other step holds nothing worth a test.
    weight_caps = {"drain": 5}

    def __init__(self) -> None:
        super().__init__()
        self.queue = WorkQueue(CAPACITY)
        self.running: list[int] = []

    @rule()
    def submit(self) -> None:
        try:
            self.queue.submit()
        except QueueFullError:
            assert len(self.queue) == CAPACITY

    @rule()
    def take(self) -> None:
        job = self.queue.take()
        if job is not None:
            self.running.append(job)

    @rule()
    def worker_dies(self) -> None:
        if self.running:
            # Without room for it, the job is lost: somebody else's trouble.
            with suppress(QueueFullError):
                self.queue.retry(self.running.pop())

    @rule()
    def cancel(self) -> None:
        self.queue.cancel_newest()

    @rule()
    def drain(self) -> None:
        self.queue.drain()
        self.running.clear()

    @invariant()
    def holds_no_more_than_it_may(self) -> None:
        assert len(self.queue) <= CAPACITY, f"{len(self.queue)} jobs in a queue for {CAPACITY}"


TestWorkQueueChaos = WorkQueueChaos.TestCase
