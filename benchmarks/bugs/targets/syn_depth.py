"""Eighteen switches in the right order, four to choose from: deep, and nothing but the state tells how far one came."""

from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bugs.synthetic.launch import ORDER, Launch


class Machine(RuleBasedStateMachine):
    """One rule for each switch; ``state_hash`` is what an engine may ask where it was."""

    def __init__(self) -> None:
        super().__init__()
        self.launch = Launch()

    def state_hash(self) -> int:
        return self.launch.stage

    @rule()
    def throw_red(self) -> None:
        self.launch.throw(0)

    @rule()
    def throw_green(self) -> None:
        self.launch.throw(1)

    @rule()
    def throw_blue(self) -> None:
        self.launch.throw(2)

    @rule()
    def throw_white(self) -> None:
        self.launch.throw(3)

    @invariant()
    def stays_on_the_ground(self) -> None:
        assert not self.launch.launched, "it went off"


def reproduce() -> None:
    machine = Machine()
    for switch in ORDER:
        machine.launch.throw(switch)
    machine.stays_on_the_ground()
