"""netaddr: a set of addresses that is kept as networks, compared with a set of numbers."""

import itertools

from hypothesis import strategies as st
from netaddr import IPNetwork, IPRange, IPSet

from ordeal.model import Pair, op

REQUIREMENTS, MODULES = "netaddr==1.3.0", ["netaddr.ip.sets"]
numbers, bits = st.integers(0, 31), st.integers(28, 32)


class Addresses(Pair):
    impl, model = IPSet, set

    @op(number=numbers, bits=bits, weight=2)
    def add(self, number, bits):
        network = IPNetwork(f"0.0.0.{number}/{bits}")
        self.impl.add(network)
        self.model |= set(range(network.first, network.last + 1))

    @op(number=numbers, bits=bits)
    def remove(self, number, bits):
        network = IPNetwork(f"0.0.0.{number}/{bits}")
        self.impl.remove(network)
        self.model -= set(range(network.first, network.last + 1))

    @op(low=numbers, high=numbers)
    def add_range(self, low, high):
        if low <= high:
            self.impl.add(IPRange(f"0.0.0.{low}", f"0.0.0.{high}"))
            self.model |= set(range(low, high + 1))

    @op(low=numbers, high=numbers)
    def remove_range(self, low, high):
        if low <= high:
            self.impl.remove(IPRange(f"0.0.0.{low}", f"0.0.0.{high}"))
            self.model -= set(range(low, high + 1))

    @op(low=numbers, high=numbers, how=st.sampled_from(["__and__", "__or__", "__xor__", "__sub__"]))
    def combine(self, low, high, how):
        if low <= high:
            self.impl = getattr(self.impl, how)(IPSet(IPRange(f"0.0.0.{low}", f"0.0.0.{high}")))
            self.model = getattr(self.model, how)(set(range(low, high + 1)))

    @op()
    def pop(self):
        if self.model:
            network = self.impl.pop()
            gone = set(range(network.first, network.last + 1))
            assert gone <= self.model
            self.model -= gone

    @op()
    def compact(self):
        self.impl.compact()

    @op()
    def ranges(self):
        found = [(each.first, each.last) for each in self.impl.iter_ipranges()]
        assert sorted(number for low, high in found for number in range(low, high + 1)) == sorted(self.model)
        assert all(one[1] + 1 < other[0] for one, other in itertools.pairwise(found)), "ranges that touch"

    def view(self):
        return (sorted(map(int, self.impl)), len(self.impl), self.impl.iscontiguous()), (
            sorted(self.model),
            len(self.model),
            not self.model or max(self.model) - min(self.model) < len(self.model),
        )


CLEAN = [Addresses]
