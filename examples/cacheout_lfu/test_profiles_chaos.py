"""Profiles over cacheout's least-frequently-used cache, while the database times out now and then."""

from cacheout import LFUCache
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from profiles import Database, Profiles

from ordeal.chaos import ChaosTest
from ordeal.faults import timing

MAXSIZE = 10
customers = st.integers(1, 50)


class ProfilesChaos(ChaosTest):
    """Customers come, rename themselves and leave; names stay right, and the cache stays within its bound."""

    faults = [timing.timeout("profiles.Database.read")]

    def __init__(self) -> None:
        super().__init__()
        self.cache = LFUCache(maxsize=MAXSIZE)
        self.profiles = Profiles(cache=self.cache, database=Database())
        self.names: dict[int, str] = {}

    @rule(customer=customers)
    def show(self, customer: int) -> None:
        try:
            name = self.profiles.show(customer)
        except TimeoutError:
            return
        assert name == self.names.get(customer, "guest"), "a customer sees an old name"

    @rule(customer=customers, name=st.sampled_from(["Ada", "Grace"]))
    def rename(self, customer: int, name: str) -> None:
        self.profiles.rename(customer, name)
        self.names[customer] = name

    @rule(customer=customers)
    def sign_out(self, customer: int) -> None:
        self.profiles.sign_out(customer)

    @invariant()
    def cache_is_bounded(self) -> None:
        assert len(self.cache) <= MAXSIZE, "the cache holds more than its maxsize"


TestProfilesChaos = ProfilesChaos.TestCase
