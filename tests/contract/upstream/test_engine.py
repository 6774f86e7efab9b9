"""Weak points of the public project of the same name, turned round: what a failure is, and that its trace replays."""

from __future__ import annotations

import re
from collections import Counter

from ordeal.config.options import Tuning
from ordeal.trace import replay

from ..projects import Project, explore, kinds, reloaded, step_names

VAULT = {
    "vault.py": """
        class Vault:
            def __init__(self):
                self.turned = 0

            def turn(self, digit):
                if self.turned == 0 and digit == 3:
                    self.turned = 1
                elif self.turned == 1 and digit == 1:
                    self.turned = 2
                elif self.turned == 2 and digit == 4:
                    self.turned = 3
                elif self.turned == 2 and digit == 9:
                    raise ValueError("jammed")
                elif self.turned == 3 and digit == 0:
                    raise KeyError("hinge")
                elif self.turned == 3 and digit == 1:
                    raise RuntimeError("the door fell off")
    """,
    "chaos.py": """
        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, rule

        from vault import Vault

        class VaultMachine(RuleBasedStateMachine):
            def __init__(self):
                super().__init__()
                self.vault = Vault()

            @rule(digit=st.integers(0, 9))
            def turn(self, digit):
                self.vault.turn(digit)

            @rule()
            def wait(self):
                pass
    """,
}


def test_finding_03_every_failure_replays_from_its_file_also_one_born_from_a_checkpoint(project: Project) -> None:
    project.write(VAULT)
    machine = project.load("chaos:VaultMachine")
    result = explore(machine, runs=1500, shrink=False, target_modules=["vault"], checkpoint_prob=0.9)
    assert kinds(result) == ["KeyError", "RuntimeError", "ValueError"]
    assert any(failure.trace and failure.trace.from_checkpoint is not None for failure in result.failures)
    for failure in result.failures:
        again = replay(reloaded(failure.trace, project.root), machine)
        assert (type(again), str(again)) == (type(failure.error), str(failure.error))


def test_finding_03_every_run_replays_to_the_end_it_had(project: Project) -> None:
    project.write(VAULT)
    machine = project.load("chaos:VaultMachine")
    result = explore(
        machine,
        runs=400,
        shrink=False,
        target_modules=["vault"],
        checkpoint_prob=0.9,
        tuning=Tuning(swarm_policy="classic"),
    )
    branched = [trace for trace in result.traces if trace.from_checkpoint is not None]
    assert len(branched) > 2
    assert any(trace.failure for trace in branched)
    for trace in result.traces:
        error = replay(trace, machine)
        expected = trace.failure.error_type if trace.failure else "NoneType"
        assert type(error).__name__ == expected


def test_finding_03_a_trace_names_its_class_and_needs_nothing_else(project: Project) -> None:
    project.write(VAULT)
    result = explore(project.load("chaos:VaultMachine"), runs=1500, target_modules=["vault"], checkpoint_prob=0.9)
    for failure in result.failures:
        assert failure.trace is not None
        path = project.root / f"{type(failure.error).__name__}.json"
        failure.trace.save(path)
        script = f"from ordeal.trace import Trace, replay; print(repr(replay(Trace.load({path.name!r}))))"
        done = project.python("-c", script, hash_seed="7")
        assert done.stdout.strip() == repr(failure.error), done.stderr


def test_finding_07_a_type_error_is_a_failure_and_the_rule_is_called_once(project: Project) -> None:
    project.write(
        {
            "cart.py": """
                def total(prices):
                    result = sum(prices) if prices else None
                    return result + 1
            """,
            "chaos.py": """
                from hypothesis import strategies as st
                from hypothesis.stateful import RuleBasedStateMachine, rule

                import cart

                class CartMachine(RuleBasedStateMachine):
                    histories = []

                    def __init__(self):
                        super().__init__()
                        self.prices = []
                        self.history = ""

                    @rule(price=st.integers(1, 9))
                    def add(self, price):
                        self.history += "a"
                        self.prices.append(price)

                    @rule()
                    def pay(self):
                        self.history += "p"
                        cart.total(self.prices)

                    def teardown(self):
                        type(self).histories.append(self.history)
            """,
        }
    )
    machine = project.load("chaos:CartMachine")
    result = explore(machine, runs=50, target_modules=["cart"])
    assert kinds(result) == ["TypeError"]
    assert step_names(result.failures[0].trace) == ["pay"]
    failed = [history for history in machine.histories if history.startswith("p")]
    assert set(failed) == {"p"}, "the rule was called again after it had failed"
    assert isinstance(replay(reloaded(result.failures[0].trace, project.root), machine), TypeError)


def test_finding_08_draws_inside_a_rule_are_replayed_and_shrink_with_the_failure(project: Project) -> None:
    project.write(
        {
            "gun.py": """
                def fire(limit, number):
                    if limit and number == limit:
                        raise ValueError(f"{number} of {limit}")
            """,
            "chaos.py": """
                from hypothesis import strategies as st
                from hypothesis.stateful import RuleBasedStateMachine, rule

                import gun

                class GunMachine(RuleBasedStateMachine):
                    limit = 0

                    @rule(data=st.data())
                    def arm(self, data):
                        self.limit = data.draw(st.integers(2, 9), label="limit")

                    @rule(data=st.data())
                    def fire(self, data):
                        low = data.draw(st.integers(0, 2))
                        gun.fire(self.limit, data.draw(st.integers(low, 9)))
            """,
        }
    )
    machine = project.load("chaos:GunMachine")
    result = explore(machine, runs=200, target_modules=["gun"])
    (failure,) = result.failures
    trace = reloaded(failure.trace, project.root)
    assert step_names(trace) == ["arm", "fire"], "a draw that is lost fails at once, and shrinks to one step"
    errors = [replay(trace, machine) for _ in range(3)]
    assert [type(error) for error in errors] == [ValueError] * 3
    assert {str(error) for error in errors} == {str(failure.error)}
    assert re.fullmatch(r"(\d) of \1", str(failure.error))


def test_finding_09_a_replayed_value_has_the_type_it_had(project: Project) -> None:
    project.write(
        {
            "types_of.py": """
                import datetime
                from dataclasses import dataclass

                @dataclass(frozen=True)
                class Point:
                    x: int

                def check(pair, table, day, point, ratio):
                    assert type(pair) is tuple
                    assert all(type(key) is int for key in table)
                    assert type(day) is datetime.date
                    assert type(point) is Point
                    if table and ratio != ratio:
                        raise ValueError("a real bug")
            """,
            "chaos.py": """
                from hypothesis import strategies as st
                from hypothesis.stateful import RuleBasedStateMachine, rule

                import types_of

                class TypesMachine(RuleBasedStateMachine):
                    @rule(
                        pair=st.tuples(st.integers(), st.text()),
                        table=st.dictionaries(st.integers(), st.binary(), min_size=1, max_size=3),
                        day=st.dates(),
                        point=st.builds(types_of.Point, st.integers()),
                        ratio=st.just(float("nan")),
                    )
                    def step(self, **values):
                        types_of.check(**values)
            """,
        }
    )
    machine = project.load("chaos:TypesMachine")
    result = explore(machine, runs=30, target_modules=["types_of"])
    assert kinds(result) == ["ValueError"]
    again = replay(reloaded(result.failures[0].trace, project.root), machine)
    assert (type(again), str(again)) == (ValueError, "a real bug")


LEDGER = {
    "ledger.py": """
        class Ledger:
            def __init__(self):
                self.entries = []

            def post(self, amount):
                self.entries.append(amount)
                if len(self.entries) == 6:
                    raise RuntimeError("deep bug")

            def undo(self):
                if not self.entries:
                    raise ValueError("nothing to undo")
                self.entries.pop()

            def close(self):
                if self.entries and self.entries[-1] == 0:
                    raise KeyError("zero")
    """,
    "chaos.py": """
        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, rule

        from ledger import Ledger

        class LedgerMachine(RuleBasedStateMachine):
            def __init__(self):
                super().__init__()
                self.ledger = Ledger()

            @rule(amount=st.integers(0, 9))
            def post(self, amount):
                self.ledger.post(amount)

            @rule()
            def undo(self):
                self.ledger.undo()

            @rule()
            def close(self):
                self.ledger.close()
    """,
}


def test_finding_10_each_distinct_bug_is_reported_once_and_shrinks_to_itself(project: Project) -> None:
    project.write(LEDGER)
    machine = project.load("chaos:LedgerMachine")
    result = explore(machine, runs=800, target_modules=["ledger"])
    assert kinds(result) == ["KeyError", "RuntimeError", "ValueError"]
    assert len({failure.bucket for failure in result.failures}) == 3
    assert all(failure.shrunk and not failure.flaky for failure in result.failures)
    assert sum(failure.count for failure in result.failures) > 50, "the repetitions are counted"
    by_type = {type(failure.error): failure for failure in result.failures}
    assert step_names(by_type[RuntimeError].trace) == ["post"] * 6
    assert step_names(by_type[ValueError].trace) == ["undo"]
    assert step_names(by_type[KeyError].trace) == ["post", "close"]
    for failure in result.failures:
        again = replay(reloaded(failure.trace, project.root), machine)
        assert (type(again), str(again)) == (type(failure.error), str(failure.error))
        assert f"{type(failure.error).__name__}: {failure.error}" in result.summary()


def test_finding_10_the_same_minimal_trace_has_the_same_hash_wherever_it_was_found(project: Project) -> None:
    project.write(LEDGER)
    machine = project.load("chaos:LedgerMachine")
    hashes = Counter[str]()
    for seed in (1, 2, 3):
        for failure in explore(machine, runs=100, target_modules=["ledger"], seed=seed).failures:
            if step_names(failure.trace) == ["undo"]:
                assert failure.trace is not None
                hashes[failure.trace.content_hash()] += 1
    assert list(hashes.values()) == [3]


def test_finding_11_no_value_outside_its_strategy_reaches_a_rule(project: Project) -> None:
    project.write(
        {
            "shop.py": """
                def buy(count, ratio, word, sizes, colour, payload, table):
                    for limit in (1, 2, 5, 10, 20, 40):
                        if count > limit:
                            count += 1
                    if word.startswith("a") and ratio > 0.5:
                        return sizes[0]
                    if payload[:1] > b"a" and colour == "red":
                        return len(table)
                    return None
            """,
            "chaos.py": """
                from hypothesis import strategies as st
                from hypothesis.stateful import RuleBasedStateMachine, rule

                import shop

                class ShopMachine(RuleBasedStateMachine):
                    @rule(
                        count=st.integers(0, 50),
                        ratio=st.floats(0, 1),
                        word=st.text(alphabet="abc", max_size=4),
                        sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3, unique=True),
                        colour=st.sampled_from(["red", "green"]),
                        payload=st.binary(min_size=1, max_size=3),
                        table=st.dictionaries(st.sampled_from("xy"), st.integers(-5, -1)),
                    )
                    def buy(self, count, ratio, word, sizes, colour, payload, table):
                        assert type(count) is int and 0 <= count <= 50
                        assert type(ratio) is float and 0 <= ratio <= 1
                        assert len(word) <= 4 and set(word) <= set("abc")
                        assert 1 <= len(sizes) <= 3 and set(sizes) <= {1, 2, 3} and len(set(sizes)) == len(sizes)
                        assert colour in ("red", "green")
                        assert type(payload) is bytes and 1 <= len(payload) <= 3
                        assert set(table) <= set("xy") and all(-5 <= value <= -1 for value in table.values())
                        shop.buy(count, ratio, word, sizes, colour, payload, table)

                    @rule(
                        even=st.integers(0, 20).filter(lambda n: n % 2 == 0),
                        tens=st.integers(0, 9).map(lambda n: n * 10),
                    )
                    def tidy(self, even, tens):
                        assert even in range(0, 21, 2)
                        assert tens in range(0, 91, 10)
            """,
        }
    )
    machine = project.load("chaos:ShopMachine")
    result = explore(
        machine,
        runs=500,
        target_modules=["shop"],
        checkpoint_prob=0.9,
        tuning=Tuning(seed_mutation_prob=1.0),
        shrink=False,
    )
    assert result.failures == []
    assert result.checkpoints_saved > 0, "what led to something new is what gets changed"
