"""Hypothesis' own loop chooses rules by their weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from .machines import QUICK, Filling, Seen


class TestPytest:
    def test_it_finds_what_needs_weights_and_opens_the_swarm(self) -> None:
        with pytest.raises(AssertionError, match="full") as raised:
            run_state_machine_as_test(Filling, settings=settings(QUICK, max_examples=500))
        said = "\n".join(raised.value.__notes__)
        assert "(weights of this run): OpWeights(put 1, drain 1, sell 1, _nemesis 1)" in said
        assert all(name in said for name in ("(faults of this run): ['one',", "'two'", "'three'"))
        assert said.count("state.put()") == 13
        assert "state.drain()" not in said

    @pytest.mark.parametrize("swarm", [False, True, "hypothesis"])
    def test_rules_come_by_their_weights(self, swarm: Any) -> None:
        class Weighed(Seen):
            runs: ClassVar[list[Counter[str]]] = []
            weights: ClassVar[Mapping[str, int]] = {"b": 8}
            always_on: ClassVar[Collection[str]] = {"a", "b", "c"}

        Weighed.swarm = swarm
        run_state_machine_as_test(Weighed, settings=settings(QUICK, phases=[Phase.generate]))
        counts = sum(Weighed.runs, Counter[str]())
        # Near to 8 of 10: Hypothesis repeats parts of earlier runs too, and tries simple ones.
        assert counts["b"] > 0.5 * counts.total()
        assert min(counts.values()) > 0.04 * counts.total()

    @pytest.mark.nightly
    def test_subsets_of_all_sizes_come(self) -> None:
        Seen.runs.clear()
        many = settings(QUICK, max_examples=300, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
        run_state_machine_as_test(Seen, settings=many)
        alone = sum(len(run) == 1 for run in Seen.runs if run)
        assert 0.1 * len(Seen.runs) < alone < 0.55 * len(Seen.runs)
        assert sum(len(run) == 3 for run in Seen.runs) > 0.1 * len(Seen.runs)
