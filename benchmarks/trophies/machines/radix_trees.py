"""py-radix: its tree in Python, compared with a plain set of networks."""

import ipaddress

from hypothesis import strategies as st
from radix.radix import Radix

from ordeal.model import Pair, op
from trophies.trophy import Trophy

REQUIREMENTS, MODULES = "py-radix==1.1.0", ["radix.radix"]
networks = st.builds(
    lambda bits, address: ipaddress.ip_network((address << 28, bits), strict=False),
    st.integers(0, 4),
    st.integers(0, 15),
)


class Networks(Pair):
    impl, model = Radix, set

    @op(network=networks, weight=3)
    def add(self, network):
        self.impl.add(str(network))
        self.model.add(network)

    @op(network=networks)
    def delete(self, network):
        if network in self.model:
            self.model.remove(network)
            self.impl.delete(str(network))

    @op(network=networks)
    def best(self, network):
        self.match(
            lambda: name(self.impl.search_best(str(network))),
            lambda: max((str(one) for one in self.model if network.subnet_of(one)), key=bits, default=None),
        )

    @op(network=networks)
    def covered(self, network):
        self.match(
            lambda: sorted(map(name, self.impl.search_covered(str(network)))),
            lambda: sorted(str(one) for one in self.model if one.subnet_of(network)),
        )

    @op(network=networks)
    def covering(self, network):
        self.match(
            lambda: sorted(map(name, self.impl.search_covering(str(network)))),
            lambda: sorted(str(one) for one in self.model if network.subnet_of(one)),
        )

    def view(self):
        return sorted(self.impl.prefixes()), sorted(map(str, self.model))


def name(node):
    return node and node.prefix


def bits(network):
    return int(network.partition("/")[2])


def deletes():
    tree = Radix()
    for network in ("0.0.0.0/1", "0.0.0.0/2", "64.0.0.0/2"):
        tree.add(network)
    tree.delete("0.0.0.0/1")
    assert "64.0.0.0/2" in tree.prefixes()
    assert tree.search_exact("64.0.0.0/2") is None  # expected the node


TROPHIES = [
    Trophy(
        "radix_delete",
        "in Python, what is on the right below a deleted network is not found any more",
        "To delete a network leaves the others, as in C.",
        Networks,
        "covered|covering|best|match not found|the views differ",
        deletes,
        known="issue 52, open",
    ),
]
