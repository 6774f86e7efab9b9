"""dateutil 2.5.0: dates that are added to a cached set of rules after its first use never show.

News of 2.5.1: "Fixed an issue with improper caching behavior in rruleset objects (gh issue #104, pr #207)".
"""

from datetime import datetime, timedelta

from dateutil.rrule import DAILY, rrule, rruleset
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bugs.ranges import within

START = datetime(2015, 1, 1)
DAYS = 30

days = st.integers(0, DAYS - 1)


def day(number: int) -> datetime:
    return START + timedelta(days=within(number, DAYS))


class Machine(RuleBasedStateMachine):
    """A calendar beside two sets of days: those on it and those taken out."""

    def __init__(self) -> None:
        super().__init__()
        self.calendar = rruleset(cache=True)
        self.included: set[datetime] = set()
        self.excluded: set[datetime] = set()

    @rule(number=days)
    def add_day(self, number: int) -> None:
        self.calendar.rdate(day(number))
        self.included.add(day(number))

    @rule(number=days)
    def exclude_day(self, number: int) -> None:
        self.calendar.exdate(day(number))
        self.excluded.add(day(number))

    @rule(number=days, count=st.integers(1, 5), interval=st.integers(1, 3))
    def add_rule(self, number: int, count: int, interval: int) -> None:
        count, interval = 1 + within(count - 1, 5), 1 + within(interval - 1, 3)
        self.calendar.rrule(rrule(DAILY, dtstart=day(number), count=count, interval=interval))
        self.included.update(day(number) + timedelta(days=interval * turn) for turn in range(count))

    @rule(number=days)
    def look_after(self, number: int) -> None:
        later = [each for each in self.included - self.excluded if each > day(number)]
        assert self.calendar.after(day(number)) == min(later, default=None), "another next day"

    @rule()
    def list_all(self) -> None:
        assert list(self.calendar) == sorted(self.included - self.excluded), "the days differ"


def reproduce() -> None:
    calendar = rruleset(cache=True)
    calendar.rdate(day(1))
    assert len(list(calendar)) == 1
    calendar.rdate(day(2))
    assert list(calendar) == [day(1), day(2)], list(calendar)
