"""What --chaos and its companions change in a pytest run: which tests run, buggify, seeds, properties, time limits."""

from __future__ import annotations

import os
import re

import pytest

from .conftest import Project, section

pytest_plugins = ["pytester"]

RESULTS = "Ordeal Property Results"

MARKED = """
    import pytest
    from ordeal.assertions import reachable, sometimes, tracker
    from ordeal.buggify import buggify, is_active

    @pytest.mark.chaos
    def test_chaos():
        assert is_active() and tracker.active
        sometimes(True, "seen")

    def test_plain():
        pass
"""

PROPERTIES = """
    from ordeal.assertions import always, declare, reachable, sometimes

    declare("far away", "reachable")

    def test_one():
        always(True, "holds")
        sometimes(True, "happens")

    def test_two():
        always(True, "holds")
        sometimes(False, "never happens", reason="tried once")
"""


def test_marked_tests_are_skipped_and_counted(project: Project) -> None:
    project.write({"tests/test_marked.py": MARKED})
    result = project.run("-q", "-rs", "--strict-markers")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=2, skipped=1)
    assert section(result, "Ordeal Warning") == ["WARNING: 1 chaos test(s) SKIPPED — run with --chaos to include them"]
    assert any(line.endswith(": chaos tests require --chaos flag") for line in result.outlines)


def test_marked_tests_run_with_chaos(project: Project) -> None:
    project.write({"tests/test_marked.py": MARKED})
    result = project.run("-q", "--chaos")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=3)
    assert section(result, "Ordeal Warning") == []
    assert section(result, RESULTS) == [
        "  PASS  seen (sometimes: true in 1 of 1 hit)",
        "  1/1 properties passed",
        "  Config: assertion types used: sometimes",
    ]


def test_failed_properties_fail_the_run(project: Project) -> None:
    project.write({"tests/test_properties.py": PROPERTIES})
    result = project.run("-q", "--chaos", "--chaos-seed=3")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3)
    assert section(result, RESULTS) == [
        "  PASS  happens (sometimes: true in 1 of 1 hit)",
        "  PASS  holds (always: 2 hits)",
        "  FAIL  far away (reachable: never reached)",
        "  FAIL  never happens (sometimes: never true in 1 hit)  {'reason': 'tried once'}",
        "  2/4 properties FAILED",
        "  The tests pass, but not all properties do: the run fails.",
        "  Config: seed=3, assertion types used: always, reachable, sometimes",
    ]


def test_properties_of_all_workers_together(project: Project) -> None:
    project.write({"tests/test_properties.py": PROPERTIES})
    result = project.run_workers("-q", "--chaos")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    lines = section(result, RESULTS)
    assert "  PASS  holds (always: 2 hits)" in lines
    assert "  FAIL  far away (reachable: never reached)" in lines
    assert "  2/4 properties FAILED" in lines


def test_properties_of_a_program_that_tracks_on_its_own(project: Project) -> None:
    project.write({"tests/test_properties.py": PROPERTIES, "conftest.py": "import ordeal\nordeal.auto_configure()\n"})
    result = project.run_apart("-q")
    assert result.ret == pytest.ExitCode.OK
    lines = section(result, RESULTS)
    assert lines[lines.index("  2/4 properties FAILED") + 1] == "  Without --chaos this does not fail the run."


def test_fixture_is_for_one_test(project: Project) -> None:
    project.write(
        {
            "tests/test_fixture.py": """
                from ordeal import buggify
                from ordeal.assertions import report, sometimes, tracker

                def test_before():
                    assert not buggify.is_active() and not tracker.active

                def test_inside(chaos_enabled):
                    assert buggify.is_active() and tracker.active
                    assert buggify()
                    sometimes(False, "never")
                    assert report()["failed"]

                def test_after():
                    assert not buggify.is_active() and not tracker.active
                    assert not report()["failed"]
            """
        }
    )
    result = project.run("-q", "--buggify-prob=1", "tests/test_fixture.py")
    result.assert_outcomes(passed=3)
    assert result.ret == pytest.ExitCode.OK
    # With --chaos all of it is on anyway, and what the test tracks counts for the run.
    result = project.run("-q", "--chaos", "--buggify-prob=1", "-k", "test_inside")
    assert "  FAIL  never (sometimes: never true in 1 hit)" in section(result, RESULTS)


DRAWS = """
    import random
    from hypothesis import given, settings, strategies as st
    from ordeal.buggify import buggify

    drawn = []

    @settings(database=None, max_examples=5)
    @given(st.integers(0, 10**9))
    def test_hypothesis(number):
        drawn.append(number)

    def test_others():
        decisions = "".join("10"[buggify(0.5)] for _ in range(40))
        print(f"DREW {drawn} {decisions} {random.random()}")
"""


def test_same_seed_same_draws(project: Project) -> None:
    project.write({"tests/test_draws.py": DRAWS})

    def drawn(*options: str) -> str:
        result = project.run_apart("-q", "-s", "--chaos", "tests/test_draws.py", *options)
        result.assert_outcomes(passed=2)
        (line,) = [line for line in result.outlines if "DREW" in line]
        return line

    first = drawn("--chaos-seed=5")
    assert drawn("--chaos-seed=5") == first
    parts = zip(first.rsplit(maxsplit=2), drawn("--chaos-seed=6").rsplit(maxsplit=2), strict=True)
    assert all(one != other for one, other in parts)


def test_machines_run_under_chaos(project: Project) -> None:
    project.edit("tests/test_bank.py", "def test_opens", "TestBank = BankChaos.TestCase\n\ndef test_opens")
    result = project.run_apart("-q", "--chaos", "--chaos-seed=1")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert any("state.close()" in line for line in result.outlines)
    project.fix_close()
    project.fix_withdraw()
    assert project.run_apart("-q", "--chaos", "--chaos-seed=1").ret == pytest.ExitCode.OK


def test_a_precondition_that_raises_is_named_in_any_machine(project: Project) -> None:
    source = """
        from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

        class Plain(RuleBasedStateMachine):
            @precondition(lambda self: self.missing)
            @rule()
            def go(self): ...

        TestPlain = Plain.TestCase
    """
    project.write({"plain_test.py": source})
    result = project.run_apart("-q", "--chaos", "plain_test.py")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        ["E*MachineError: a precondition of Plain.go raised AttributeError: *(plain_test.py:5)"]
    )


def test_tracebacks_of_machines_end_in_the_line_that_failed_and_show_no_frame_of_ordeal(project: Project) -> None:
    source = """
        import threading
        from ordeal import ChaosTest, invariant, precondition, rule

        class Conditions(ChaosTest):
            @precondition(lambda self: self.missing)
            @rule()
            def go(self): ...

        class Rules(ChaosTest):
            @rule()
            async def go(self):
                raise ValueError("planted")

        class Invariants(ChaosTest):
            @rule()
            def go(self): ...

            @invariant()
            def holds(self):
                raise ValueError("planted")

        class Ends(ChaosTest):
            @rule()
            def go(self): ...

            def teardown(self):
                raise ValueError("planted")

        class Threads(ChaosTest):
            @rule()
            def go(self):
                thread = threading.Thread(target=self.fail)
                thread.start()
                thread.join()

            def fail(self):
                raise ValueError("planted")

        TestConditions, TestRules, TestInvariants = Conditions.TestCase, Rules.TestCase, Invariants.TestCase
        TestEnds, TestThreads = Ends.TestCase, Threads.TestCase
    """
    project.write({"machines_test.py": source})
    lines = project.run_apart("-q", "machines_test.py").outlines
    places = [line for line in lines if re.fullmatch(r"machines_test\.py:\d+: \w+", line)]
    errors = [(6, "MachineError"), *((number, "ValueError") for number in (13, 21, 28, 38))]
    assert places == [f"machines_test.py:{number}: {name}" for number, name in errors]
    assert not [line for line in lines if "/ordeal/" in line]


SLOW = """
    import time
    from hypothesis import settings
    from ordeal import ChaosTest, rule

    class Slow(ChaosTest):
        @rule()
        def wait(self):
            time.sleep(0.3)

    class OwnLimit(Slow):
        rule_timeout = 20.0

    for machine in (Slow, OwnLimit):
        machine.TestCase.settings = settings(max_examples=1, stateful_step_count=1, database=None, deadline=None)

    TestSlow = Slow.TestCase
    TestOwnLimit = OwnLimit.TestCase
"""


@pytest.mark.parametrize(
    ("options", "config", "failed"),
    [
        ([], "", 0),
        (["--rule-timeout=0.05"], "", 2),
        ([], "rule_timeout = 0.05", 2),
        (["--no-ordeal-seeds"], "rule_timeout = 0.05", 2),
        (["--rule-timeout=0"], "rule_timeout = 0.05", 0),
        (["--rule-timeout=9"], "rule_timeout = 0.05", 0),
    ],
)
def test_rule_timeout(project: Project, options: list[str], config: str, failed: int) -> None:
    project.write({"tests/test_slow.py": SLOW, "ordeal.toml": f"[explorer]\n{config}\n"})
    result = project.run("-q", "tests/test_slow.py", *options)
    result.assert_outcomes(passed=2 - failed, failed=failed)


def test_seeds_do_not_count_as_properties_of_the_run(project: Project) -> None:
    project.overdrawn()
    project.edit("bank.py", "    def close", "    def unused(self): ...\n\n    def close")
    project.edit("bank.py", "class Account", "from ordeal.assertions import sometimes\n\nclass Account")
    project.edit("bank.py", "        if self.balance", '        sometimes(True, "asked")\n        if self.balance')
    result = project.run_apart("-q", "--chaos")
    result.assert_outcomes(passed=1, failed=1)
    assert section(result, RESULTS) == []


# Wrong use


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--chaos-seed=x", "`x` is not a whole number from 0 to 2**64 - 1; write for example `--chaos-seed 42`"),
        ("--buggify-prob=2", "`2` is not a number from 0 to 1; write for example `--buggify-prob 0.1`"),
        ("--rule-timeout=-1", "`-1` is not a number of seconds, 0 or more; write for example `--rule-timeout 5`"),
    ],
)
def test_value_that_cannot_be_used(project: Project, option: str, message: str) -> None:
    result = project.run(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert any(line.endswith(f"argument {option.partition('=')[0]}: {message}") for line in result.errlines)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "[report\n",
            "ordeal.toml cannot be read: Expected ']' at the end of a table declaration (at line 1, column 8)",
            "correct the file",
        ),
        (
            "[report]\ncorpus_dir = 7\n",
            "ordeal.toml has 7 as `corpus_dir` in [report]",
            'write a folder path, for example `corpus_dir = ".ordeal/seeds"`, or remove the line',
        ),
        (
            '[explorer]\nrule_timeout = "x"\n',
            "ordeal.toml has 'x' as `rule_timeout` in [explorer]",
            "write a number of seconds, for example `rule_timeout = 30.0`, or remove the line",
        ),
    ],
)
def test_configuration_that_cannot_be_used(project: Project, text: str, message: str, hint: str) -> None:
    project.write({"ordeal.toml": text})
    unused = project.run()
    assert unused.ret == pytest.ExitCode.OK
    assert f"ordeal: {message}; nothing in it is used" in unused.outlines
    assert project.run("--help").ret == pytest.ExitCode.OK
    (project.root / ".ordeal/seeds").mkdir(parents=True)
    assert project.run("--help").ret == pytest.ExitCode.OK
    result = project.run("-q")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[:2] == [
        f"ERROR: {message}",
        f"hint: {hint}; `--no-ordeal-seeds` runs the tests without it",
    ]
    assert project.run("-q", "--no-ordeal-seeds").ret == pytest.ExitCode.OK
    assert project.run("-q", "--chaos", "--no-ordeal-seeds").errlines[:2] == [f"ERROR: {message}", f"hint: {hint}"]


def test_configuration_that_has_no_end_is_not_waited_for(project: Project) -> None:
    os.mkfifo(project.root / "ordeal.toml")
    assert (
        "ordeal: ordeal.toml cannot be read: it is not a regular file; nothing in it is used" in project.run().outlines
    )
    (project.root / "ordeal.toml").unlink()
    with (project.root / "ordeal.toml").open("wb") as file:
        file.truncate(1 << 36)
    told = "ordeal: ordeal.toml cannot be read: it is larger than 1048576 bytes; nothing in it is used"
    assert told in project.run().outlines


@pytest.mark.slow
def test_without_the_plugin_marked_tests_are_as_any_other(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    project.overdrawn()
    marked = MARKED.replace("assert is_active() and tracker.active", "assert not is_active() and not tracker.active")
    project.write({"tests/test_marked.py": marked})
    result = project.run_apart("-q", "-p", "no:ordeal", plugins=())
    assert result.ret == pytest.ExitCode.OK
    # Neither skipped, nor with seeds beside them: two here, and one of the project's own.
    result.assert_outcomes(passed=3)
    assert section(result, "Ordeal Warning") == []


@pytest.mark.parametrize(
    ("mode", "chaos", "outcome"),
    [
        ("fail", (), {"failed": 1}),
        ("fail", ("--chaos",), {"failed": 1}),
        ("warn", (), {"passed": 1, "warnings": 3}),
        ("ignore", (), {"passed": 1}),
    ],
)
def test_the_settings_say_what_a_failure_outside_of_the_steps_means(
    project: Project, mode: str, chaos: tuple[str, ...], outcome: dict[str, int]
) -> None:
    source = """
        import threading
        from hypothesis import settings
        from ordeal import ChaosTest, rule

        class Threaded(ChaosTest):
            @rule()
            def act(self):
                thread = threading.Thread(target=lambda: 1 / 0)
                thread.start()
                thread.join()

        TestThreaded = Threaded.TestCase
        TestThreaded.settings = settings(max_examples=3, stateful_step_count=3, database=None)
    """
    project.write({"thread_test.py": source, "ordeal.toml": f'[explorer]\noutside = "{mode}"\n'})
    result = project.run_apart("-q", "-pno:threadexception", *chaos, "thread_test.py")
    result.assert_outcomes(**outcome)
