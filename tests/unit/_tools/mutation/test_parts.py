"""Parts of a judgement that several machines made are one again, whatever else lies in the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.parts import joined, namespace_of
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict
from ordeal.errors import StoreError

SOURCE = Source(Path("a.py"), "a.py", b"def f(a, b):\n    return a + b * 3\n")
MUTANTS = mutants_of(SOURCE, ["arithmetic", "boundary"])
NAMESPACE = namespace_of([SOURCE], MUTANTS, [], 2)
TESTS = ["t.py::one", "t.py::two"]


def part(*verdicts: Verdict, names: list[str]) -> Judgement:
    return Judgement(list(verdicts), len(names), names, seconds=2.0, cpu_seconds=1.0)


def test_the_last_part_has_all_verdicts(tmp_path: Path) -> None:
    address = f"dir://{tmp_path}"
    first, *others = MUTANTS
    one = part(Verdict(first, "survived", nearest=TESTS[0], covering=(TESTS[0],)), names=TESTS[:1])
    two = part(*(Verdict(each, "killed", TESTS[1], 1) for each in others), names=TESTS)
    whole, missing = joined(address, NAMESPACE, MUTANTS, one, 1, 2)
    assert missing == [2]
    assert {each.word for each in whole.verdicts[1:]} == {"not run"}
    whole, missing = joined(address, NAMESPACE, MUTANTS, two, 2, 2)
    assert missing == []
    assert whole.verdicts == [*one.verdicts, *two.verdicts]
    assert (whole.tests, whole.names, whole.seconds) == (2, TESTS, 4.0)


def test_of_a_part_that_is_there_twice_the_later_one_counts(tmp_path: Path) -> None:
    address = f"dir://{tmp_path}"
    joined(address, NAMESPACE, MUTANTS, part(Verdict(MUTANTS[0], "not run"), names=TESTS), 1, 2)
    whole, _ = joined(address, NAMESPACE, MUTANTS, part(Verdict(MUTANTS[0], "killed"), names=TESTS), 1, 2)
    assert whole.verdicts[0].word == "killed"


def test_another_program_is_other_work(tmp_path: Path) -> None:
    other = Source(Path("a.py"), "a.py", SOURCE.text + b"\n")
    assert len({NAMESPACE, namespace_of([other], MUTANTS, [], 2), namespace_of([SOURCE], MUTANTS, ["t"], 2)}) == 3


def test_what_is_damaged_is_left_alone(tmp_path: Path) -> None:
    address = f"dir://{tmp_path}"
    joined(address, NAMESPACE, MUTANTS, part(Verdict(MUTANTS[0], "killed"), names=TESTS), 1, 2)
    (shard,) = tmp_path.rglob("*-*")
    shard.write_bytes(shard.read_bytes()[:-3] + b"xyz")
    _, missing = joined(address, NAMESPACE, MUTANTS, part(names=TESTS), 2, 2)
    assert missing == [1]


def test_a_wrong_address_is_named() -> None:
    with pytest.raises(StoreError, match="no known address"):
        joined("nowhere", NAMESPACE, MUTANTS, part(names=TESTS), 1, 2)
