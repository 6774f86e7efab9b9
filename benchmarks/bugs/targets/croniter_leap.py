"""croniter 6.2.0: going back over the 29th of February misses it.

Changelog of 6.2.1: "Fix ``get_prev`` skipping Feb 29 on leap years for day-of-month expressions."
"""

from datetime import datetime, timedelta

from croniter import croniter
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

START = datetime(2021, 1, 1)


def before(moment: datetime, day: int) -> datetime:
    """The last midnight before ``moment`` that begins the given day of a month."""
    found = moment.replace(hour=0, minute=0)
    while found >= moment or found.day != day:
        found -= timedelta(days=1)
    return found


def after(moment: datetime, day: int) -> datetime:
    """The first midnight after ``moment`` that begins the given day of a month."""
    found = moment.replace(hour=0, minute=0)
    while found <= moment or found.day != day:
        found += timedelta(days=1)
    return found


class Machine(RuleBasedStateMachine):
    """A schedule of one day a month that is followed back and forth, and is told another day or time now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.day = 1
        self.moment = START
        self.schedule = croniter("0 0 1 * *", START)

    @rule(day=st.integers(0, 27))
    def choose_day(self, day: int) -> None:
        self.day = 29 - within(day, 28)
        self.schedule = croniter(f"0 0 {self.day} * *", self.moment)

    @rule(days=st.integers(1, 20))
    def wait(self, days: int) -> None:
        self.moment += timedelta(days=1 + within(days, 20))
        self.schedule.set_current(self.moment)

    @rule()
    def go_on(self) -> None:
        self.moment = after(self.moment, self.day)
        assert self.schedule.get_next(datetime) == self.moment, "another day comes next"

    @rule()
    def go_back(self) -> None:
        self.moment = before(self.moment, self.day)
        assert self.schedule.get_prev(datetime) == self.moment, "another day came before"


def reproduce() -> None:
    schedule = croniter("0 0 29 * *", datetime(2024, 3, 15))
    assert schedule.get_prev(datetime) == datetime(2024, 2, 29)
