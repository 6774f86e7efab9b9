"""A small project with saved seeds, and pytest run inside it with the plugin."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from typing import Any

import hypothesis.core
import pytest
from tests.warm_python import warm_python

import _ordeal_pytest
import ordeal._engine.seed_corpus.corpus  # noqa: F401 - a run in this process forgets the modules that it was first to import
from ordeal._base.trace_file import ChoiceValue, Trace, TraceFailure, TraceStep
from ordeal.assertions import tracker

TIME_LIMIT_S = 600.0
PLUGINS = ("_ordeal_pytest", "_hypothesis_pytestplugin")
# This process has imported the plugin long ago, and so has the one that is forked for a pytest.
IN_PROCESS = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
TEST_CLASS = "tests.test_bank:BankChaos"

FILES = {
    "bank.py": """
        class Account:
            def __init__(self):
                self.balance = 0

            def withdraw(self, amount):
                if self.balance < amount:
                    raise ValueError("balance negative")
                self.balance -= amount

            def close(self):
                raise KeyError("no such account")
    """,
    "tests/test_bank.py": """
        from hypothesis import strategies as st
        from ordeal import ChaosTest, rule
        from bank import Account


        class BankChaos(ChaosTest):
            def __init__(self):
                super().__init__()
                self.account = Account()

            @rule(amount=st.integers(0, 1000))
            def withdraw(self, amount):
                print("withdrawing", amount)
                self.account.withdraw(amount)

            @rule()
            def close(self):
                self.account.close()


        def test_opens():
            assert Account().balance == 0
    """,
    "pytest.ini": """
        [pytest]
        pythonpath = .
    """,
}


@dataclass(frozen=True)
class Project:
    """A folder in which pytest runs with the plugin."""

    pytester: pytest.Pytester

    @property
    def root(self) -> Path:
        return self.pytester.path

    def write(self, files: dict[str, str]) -> None:
        """Write files by path; the text may be indented as a whole."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that must be there."""
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def save_seed(
        self,
        *steps: tuple[str, dict[str, ChoiceValue]],
        error: str,
        message: str,
        test_class: str = TEST_CLASS,
        folder: str = ".ordeal/seeds",
    ) -> str:
        """Save a seed and return its name."""
        trace = Trace(
            run_id=1,
            seed=42,
            test_class=test_class,
            steps=[
                TraceStep(
                    "rule",
                    name,
                    choices={key: [value] for key, value in drawn.items()},
                    text={key: repr(value) for key, value in drawn.items()},
                )
                for name, drawn in steps
            ],
            failure=TraceFailure(error, message, len(steps)),
            program=[f"state.{name}({', '.join(f'{k}={v!r}' for k, v in drawn.items())})" for name, drawn in steps],
        )
        name = f"seed-{trace.content_hash()}"
        trace.save(self.root / folder / test_class.rpartition(":")[2] / f"{name}.json")
        return name

    def overdrawn(self, amount: int = 1) -> str:
        """Save the seed of a withdrawal from an empty account."""
        return self.save_seed(("withdraw", {"amount": amount}), error="ValueError", message="balance negative")

    def closed(self) -> str:
        """Save the seed of closing an account."""
        return self.save_seed(("close", {}), error="KeyError", message="'no such account'")

    def fix_close(self) -> None:
        """Correct what the seed of closing an account has found."""
        self.edit("bank.py", 'raise KeyError("no such account")', "self.balance = 0")

    def fix_withdraw(self) -> None:
        """Correct what the seed of a withdrawal has found."""
        self.edit("bank.py", 'raise ValueError("balance negative")', "return")

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in this process."""
        return self.pytester.runpytest_inprocess(*_with_plugins(PLUGINS), *IN_PROCESS, *arguments)

    def run_apart(self, *arguments: str, plugins: tuple[str, ...] = PLUGINS) -> pytest.RunResult:
        """Run pytest in a separate process."""
        base = self.root / f"runpytest-{sum(1 for _ in self.root.glob('runpytest-*'))}"
        words = ("-m", "pytest", f"--basetemp={base}", *_with_plugins(plugins), *arguments, *IN_PROCESS)
        began = time.perf_counter()
        done = warm_python().run(words, Path.cwd(), os.environ, TIME_LIMIT_S)
        sys.stdout.write(done.stdout)
        sys.stderr.write(done.stderr)
        lines = (done.stdout.splitlines(), done.stderr.splitlines())
        return pytest.RunResult(done.returncode, *lines, time.perf_counter() - began)

    def run_new(self, *arguments: str, plugins: tuple[str, ...] = PLUGINS) -> pytest.RunResult:
        """Run pytest in an interpreter that has imported nothing before."""
        return self.pytester.runpytest_subprocess(*_with_plugins(plugins), *arguments)

    def run_workers(self, *arguments: str) -> pytest.RunResult:
        """Run pytest with two workers."""
        return self.run_apart("-n", "2", *arguments, plugins=(*PLUGINS, "xdist.plugin"))


def _with_plugins(names: tuple[str, ...]) -> list[str]:
    return [word for name in names for word in ("-p", name)]


def section(result: pytest.RunResult, title: str) -> list[str]:
    """The lines of one section of the summary, [] when it is not there."""
    lines = iter(result.outlines)
    if not any(line.startswith("=") and f" {title} " in line for line in lines):
        return []
    # With -q, the counts that end a run have no frame.
    own = takewhile(lambda line: not line.startswith("=") and not re.match(r"\d+ \w+.* in [\d.]+s$", line), lines)
    return [line for line in own if line]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project with two bugs and no seeds yet."""
    # Whether ordeal is installed or used from its sources, it is these plugins that run.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(Path(_ordeal_pytest.__file__).absolute().parent))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    # Hypothesis' own option sets it for good.
    monkeypatch.setattr(hypothesis.core, "global_force_seed", hypothesis.core.global_force_seed)
    # The machines of all projects have one name, under which Hypothesis would find the examples of another.
    hypothesis.settings.register_profile("project", hypothesis.settings.get_profile("patient"), database=None)
    hypothesis.settings.load_profile("project")
    made = Project(pytester)
    made.write(FILES)
    # What its modules declare, in a run in this process, is not for the runs of other tests.
    before = tracker.snapshot()
    yield made
    tracker.restore(before)
    # Nor is the profile that they choose.
    hypothesis.settings.load_profile("patient")


def attributes(element: Any, *names: str) -> tuple[str, ...]:
    """Attributes of an XML element."""
    return tuple(element.attrib[name] for name in names)
