"""Every command in the guide of many machines is one that ordeal takes. `tests/clusters` runs them, in the night."""

from __future__ import annotations

import click
import pytest
from tests.clusters import guide

from ordeal.cli import _ordeal as group


@pytest.mark.parametrize("words", guide.commands(), ids=" ".join)
def test_a_command_of_the_guide_is_taken(words: list[str]) -> None:
    context = click.Context(group, info_name="ordeal")
    _, command, rest = group.resolve_command(context, words)
    assert command is not None
    # `status|logs|stop` stands for three.
    rest = [each.partition("|")[0] for each in rest]
    command.make_context(words[0], rest, parent=context)


def test_the_guide_has_a_command_for_each_place() -> None:
    places = {words[words.index("--on") + 1].partition(":")[0] for words in guide.commands() if "--on" in words}
    assert places >= {"local", "dask", "ray", "slurm", "kubernetes"}


def test_what_tells_of_fleets_is_run_at_night_too() -> None:
    looks = {words[1].partition("|")[0] for words in guide.commands() if words[0] == "fleet"}
    # Each is run by `tests/clusters/test_guide.py`; another one needs a line there.
    assert looks == {"status"}
    assert {words[0] for words in guide.commands()} == {"explore", "fleet", "seeds"}
