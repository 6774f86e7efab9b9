"""What a replay executes of the targets is told by step."""

from __future__ import annotations

from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.triage.executed import EdgesByStep, Watch
from ordeal._hypothesis import GlobalRandoms

from ...samples.one_place_machines import MODULES, Iterating
from ...samples.triaged import setup_for, tape_for

PUT = ("put", {"key": [0], "value": [0]})


def test_each_step_has_the_edges_that_it_executes() -> None:
    setup = setup_for(Iterating)
    watch = Watch(resolve_targets(MODULES))
    observer = EdgesByStep(watch.take)
    with watch.watching():
        watch.anew()
        Replayer(setup.driver, setup.bucketer(), GlobalRandoms()).run(
            tape_for(setup.driver, PUT, "items", PUT, "values"), observer
        )
    making, put, items, again, values = observer.parts
    assert making
    assert put == again
    assert items == values
    assert not put & items
