"""Errors carry a message, a hint and an exit code, and cross processes."""

from __future__ import annotations

import pickle

import pytest

from ordeal.errors import ConfigError, FaultError, MachineError, OrdealError, StoreError, TargetError, TraceError

KINDS = [ConfigError, FaultError, MachineError, StoreError, TargetError, TraceError]


def test_text_is_the_message_and_the_hint() -> None:
    error = OrdealError("max_time is -1", hint="write a positive number")
    assert str(error) == "max_time is -1\nhint: write a positive number"
    assert (error.message, error.hint) == ("max_time is -1", "write a positive number")


def test_text_without_a_hint_is_the_message() -> None:
    error = OrdealError("no such file")
    assert str(error) == "no such file"
    assert error.hint is None


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_wrong_use(kind: type[OrdealError]) -> None:
    assert issubclass(kind, OrdealError)
    assert kind("text").exit_code == 2


def test_a_fault_error_is_a_value_error() -> None:
    assert issubclass(FaultError, ValueError)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_crosses_processes_with_its_hint(kind: type[OrdealError]) -> None:
    error = pickle.loads(pickle.dumps(kind("text", hint="more")))
    assert type(error) is kind
    assert str(error) == "text\nhint: more"
