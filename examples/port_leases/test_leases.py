"""A day of services that come and go: no two of them have one port at the same time."""

from random import Random

from leases import Leases

SERVICES = 30


def test_no_port_is_leased_twice(ordeal_rng: Random) -> None:
    leases = Leases()
    for number in range(SERVICES):
        leases.lease(f"service {number}")
        if ordeal_rng.random() < 0.3:
            leases.give_back(ordeal_rng.choice(list(leases.ports)))
        ports = list(leases.ports.values())
        assert len(ports) == len(set(ports)), f"{len(ports)} services have {len(set(ports))} ports"
