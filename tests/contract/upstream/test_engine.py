"""A weak point of the public project of the same name, turned round: values keep to their strategies."""

from __future__ import annotations

from ordeal.config.options import Tuning

from ..projects import Project, explore


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
