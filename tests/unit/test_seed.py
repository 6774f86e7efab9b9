"""The seed of a session: how it is read, what is derived from it, and where it comes from outside of pytest."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordeal import seed
from ordeal._base.limits import SEED_MAX
from ordeal.errors import ConfigError

COMMIT = "615d1f1b046078bb46078c13bb55d328a2c43a7c"


@pytest.fixture
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A process in which nobody has asked for a seed yet."""
    for variable in seed.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    before = seed.enter_session(0)
    seed.leave_session((None, False))
    yield
    seed.leave_session(before)


# Reading


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("1234", 1234),
        ("0007", 7),
        ("0x1F", 31),
        ("0X1f", 31),
        ("0o17", 15),
        ("0b101", 5),
        (" 12\n", 12),
        ("18446744073709551615", 2**64 - 1),
        ("0xffffffffffffffff", 2**64 - 1),
    ],
)
def test_number_is_read(text: str, number: int) -> None:
    assert seed.parse(text) == number
    assert not seed.is_commit(text)


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "1.5", "1_000", "0x", "0xg", "0o8", "0b2", "deadbeef", "615d1f1", "١٢"]
)
def test_what_is_no_seed(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        seed.parse(text)
    assert caught.value.message == f"{text!r} is not a seed"
    assert caught.value.hint == (
        "write a whole number from 0 to 2**64 - 1, for example 0x1234, or a whole git commit (`git rev-parse HEAD`)"
    )


@pytest.mark.parametrize("text", ["18446744073709551616", "0x10000000000000000", "0b1" + "0" * 64])
def test_too_large_a_number(text: str) -> None:
    with pytest.raises(ConfigError, match="is too large for a seed"):
        seed.parse(text)


def test_long_text_is_cut() -> None:
    with pytest.raises(ConfigError) as caught:
        seed.parse("9" * 5000)
    assert caught.value.message == f"'{'9' * 100}…' is not a seed"


@pytest.mark.parametrize("commit", [COMMIT, "1" * 40, "ab" * 32])
def test_commit_is_a_seed(commit: str) -> None:
    assert seed.is_commit(commit)
    assert seed.parse(commit) == seed.parse(f" {commit.upper()}\n")
    assert 0 <= seed.parse(commit) <= SEED_MAX
    assert seed.parse(commit) != seed.parse("2" * 40)


# Derivation


def test_derivation_never_changes() -> None:
    assert seed.derive(0, "random", "") == 13534348364312103747
    assert seed.derive(0x1234, "ordeal_rng", "tests/test_a.py::test_one[é]") == 3269085037143683046
    assert seed.derive(2**64 - 1, "child", "\udc80") == 5262786953619745735
    assert seed.derived_rng(1, "child", "x").getrandbits(64) == 7180901531038135327
    assert seed.parse(COMMIT) == 8528049904352077445


def test_derivation_depends_on_each_part() -> None:
    assert len({seed.derive(*parts) for parts in [(1, "a", "b"), (2, "a", "b"), (1, "b", "b"), (1, "a", "a")]}) == 4
    assert seed.derive(1, "a", "bc") != seed.derive(1, "ab", "c")


def test_no_two_names_share_a_seed() -> None:
    count = 100_000
    assert (
        len({seed.derive(7, "ordeal_rng", f"tests/test_many.py::test[{number}]") for number in range(count)}) == count
    )


# Asking


def test_children_belong_to_the_session() -> None:
    before = seed.enter_session(1234)
    try:
        assert seed.asked() is None
        assert seed.current() == 1234 == seed.asked()
        worker = seed.for_("worker-3")
        assert worker == seed.for_("worker-3") == seed.derive(1234, "child", "worker-3")
        assert worker != seed.for_("worker-4")
        assert [seed.rng("worker-3").random() for _ in range(2)] == [
            seed.derived_rng(1234, "child", "worker-3").random()
        ] * 2
    finally:
        seed.leave_session(before)


def test_variables_in_their_order(nothing_chosen: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert seed.environment() is None
    monkeypatch.setenv("TEST_SEED", " 0b11 ")
    assert seed.environment() == ("TEST_SEED", "0b11")
    assert seed.current() == 3
    monkeypatch.setenv("ORDEAL_SEED", "4")
    assert seed.environment() == ("ORDEAL_SEED", "4")
    assert seed.current() == 3, "it stays what it is"


def test_empty_variable_counts_as_not_set(nothing_chosen: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDEAL_SEED", "")
    monkeypatch.setenv("TEST_SEED", "5")
    assert seed.current() == 5


@pytest.mark.parametrize(
    ("variable", "way_out"),
    [("ORDEAL_SEED", ""), ("TEST_SEED", "; where TEST_SEED is not meant for ordeal, set ORDEAL_SEED=fresh")],
)
def test_variable_that_holds_no_seed(
    nothing_chosen: None, monkeypatch: pytest.MonkeyPatch, variable: str, way_out: str
) -> None:
    monkeypatch.setenv(variable, "soon")
    with pytest.raises(ConfigError) as caught:
        seed.for_("x")
    assert caught.value.message == f"the environment variable {variable}: 'soon' is not a seed"
    assert caught.value.hint is not None
    assert caught.value.hint.endswith(f"(`git rev-parse HEAD`){way_out}")
    assert seed.asked() is None


def test_last_is_for_pytest(nothing_chosen: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDEAL_SEED", "last")
    with pytest.raises(ConfigError, match="'last' is not a seed"):
        seed.current()


@pytest.mark.parametrize("given", [None, "fresh"])
def test_new_seed_is_announced_once(
    nothing_chosen: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: str | None
) -> None:
    if given is not None:
        monkeypatch.setenv("ORDEAL_SEED", given)
    number = seed.current()
    assert seed.current() == number
    assert capsys.readouterr() == ("", f"ordeal seed: {number:#x} (replay with ORDEAL_SEED={number:#x})\n")


def test_new_seeds_differ() -> None:
    seeds = {seed.fresh() for _ in range(10)}
    assert len(seeds) == 10
    assert all(0 <= number <= SEED_MAX for number in seeds)


def test_same_in_another_process(nothing_chosen: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDEAL_SEED", "77")
    monkeypatch.setenv("PYTHONPATH", str(Path(seed.__file__).parents[1]))
    program = "from ordeal import seed; print(seed.for_('a'), seed.rng('a').random())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(seed.for_("a")), str(seed.rng("a").random())]
    assert done.stderr == ""
