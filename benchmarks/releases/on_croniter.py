"""A schedule that is followed back and forth."""

from datetime import datetime

from croniter import croniter
from hypothesis import strategies as st

from ordeal import ChaosTest, rule


class Machine(ChaosTest):
    """Another schedule now and then."""

    answer: object = None

    def __init__(self) -> None:
        super().__init__()
        self.schedule = croniter("0 0 1 * *", datetime(2024, 3, 15))

    @rule(day=st.integers(0, 31), month=st.integers(0, 12))
    def choose(self, day: int, month: int) -> None:
        moment = self.schedule.get_current(datetime)
        try:
            self.schedule = croniter(f"0 0 {day} {month} *", moment)
            self.answer = self.schedule.expanded
        except ValueError:
            self.answer = "refused"

    @rule(day=st.integers(1, 31))
    def choose_day(self, day: int) -> None:
        self.schedule = croniter(f"0 0 {day} * *", self.schedule.get_current(datetime))

    @rule()
    def go_on(self) -> None:
        self.answer = str(self.schedule.get_next(datetime))

    @rule()
    def go_back(self) -> None:
        self.answer = str(self.schedule.get_prev(datetime))
