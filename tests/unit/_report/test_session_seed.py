"""A session's seed is told so that it can be pasted back, whatever the name of the test holds."""

from __future__ import annotations

import shlex

import pytest

from ordeal._report.pytest_lines import session_seed_line, session_seed_replay


def test_the_seed_is_told_once_with_where_it_is_from() -> None:
    assert session_seed_line(255) == "ordeal seed: 0xff (replay with --ordeal-seed=0xff)"
    assert session_seed_line(0, origin="ORDEAL_SEED") == (
        "ordeal seed: 0x0, from ORDEAL_SEED (replay with --ordeal-seed=0x0)"
    )


@pytest.mark.parametrize(
    "node_id", ["tests/test_a.py::test", 'test_a.py::test[it\'s $HOME `x` "y"]', "a b.py::test[\\n;rm]", "-x.py::test"]
)
def test_a_replay_is_one_command_for_the_shell(node_id: str) -> None:
    line = session_seed_replay(node_id, 16, options=["-p", "no:randomly"])
    assert shlex.split(line.removeprefix("replay: ")) == ["pytest", node_id, "--ordeal-seed=0x10", "-p", "no:randomly"]
