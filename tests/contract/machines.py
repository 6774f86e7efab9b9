"""The base of the machines in the checks: it keeps a history that outlives the run."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine

from . import landmarks


class LoggedMachine(RuleBasedStateMachine):
    """Writes down what a run does.

    The history is an attribute of the machine, so a restored machine has the one of the run that it continues.
    At teardown it goes to ``histories``, one entry per machine that ran; each subclass has a list of its own.
    Every entry reaches the landmark of its depth, which makes the state worth a checkpoint.
    """

    histories: ClassVar[list[str]] = []

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.histories = []

    def __init__(self) -> None:
        super().__init__()
        self.history = ""

    def log(self, letter: str) -> None:
        """Add one letter to the history."""
        self.history += letter
        landmarks.reach(len(self.history))

    def values(self, bundle: str) -> list[Any]:
        """The values in a bundle, oldest first."""
        return [self.names_to_values[reference.name] for reference in self.bundle(bundle)]

    def teardown(self) -> None:
        """Hand the history over."""
        super().teardown()
        type(self).histories.append(self.history)
