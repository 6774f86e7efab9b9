"""Seeds as files, and what replaying one says: nothing that a seed or its class does stops the next one."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ordeal._engine.seed_corpus.corpus import SeedCorpus, SeedReplay, SeedReplayer, SeedStatus, replay_seed
from ordeal._engine.seed_corpus.paths import SeedError
from ordeal.explore import Explorer
from ordeal.trace import Trace

from ...samples.monitored import MakeModule
from ...samples.traced import Counter, failing

MACHINE = """
    import os, sys, time
    from hypothesis import assume, strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
    from ordeal import ChaosTest

    HIGHEST, MAY_ADD = 9, True

    def check(total):
        if total > 20:
            raise ValueError(f"{total} is too much")

    class Till(ChaosTest):
        rule_timeout = 0.2

        def __init__(self):
            super().__init__()
            self.total = 0

        @precondition(lambda self: MAY_ADD)
        @rule(by=st.deferred(lambda: st.integers(0, HIGHEST)))
        def add(self, by):
            self.total += by
            check(self.total)
"""
Till = tuple[ModuleType, Path]


@pytest.fixture
def till(make_module: MakeModule, tmp_path: Path) -> Till:
    """A module with a machine, and a seed of it."""
    module = make_module(MACHINE, "till")
    return module, SeedCorpus(tmp_path / "seeds").save(failing(module.Till))


class TestSaving:
    def test_the_same_failure_is_the_same_file_whatever_run_met_it(self, tmp_path: Path) -> None:
        corpus, trace = SeedCorpus(tmp_path), failing(Counter)
        first = corpus.save(trace)
        written = first.stat().st_mtime_ns
        trace.run_id, trace.seed, trace.edges_discovered = 99, 7, 12
        assert corpus.save(trace) == first
        assert first.stat().st_mtime_ns == written
        assert first == tmp_path / "Counter" / f"seed-{trace.content_hash()}.json"
        assert corpus.paths() == corpus.paths_of("elsewhere:Counter") == [first]
        assert Trace.load(first).content_hash() == trace.content_hash()

    def test_two_classes_of_one_name_in_two_modules_do_not_collide(
        self, make_module: MakeModule, tmp_path: Path
    ) -> None:
        corpus = SeedCorpus(tmp_path / "seeds")
        modules = [make_module(MACHINE, name) for name in ("left", "right")]
        left, right = (corpus.save(failing(module.Till)) for module in modules)
        assert left.parent == right.parent
        assert left != right
        modules[0].check = int  # type: ignore[attr-defined]
        assert [replay_seed(path).status for path in (left, right)] == [SeedStatus.FIXED, SeedStatus.REPRODUCED]

    def test_a_damaged_seed_is_written_again(self, tmp_path: Path) -> None:
        corpus, trace = SeedCorpus(tmp_path), failing(Counter)
        path = corpus.save(trace)
        path.write_bytes(path.read_bytes()[:100])
        assert corpus.save(trace) == path
        assert Trace.load(path).content_hash() == trace.content_hash()

    @pytest.mark.parametrize("name", ["m:../../X", "m:..", "m:", "m:a/b", "m:" + "x" * 5_000, "m:f.<locals>.X", "m:\0"])
    def test_no_class_name_leads_out_of_the_corpus(self, tmp_path: Path, name: str) -> None:
        trace = failing(Counter)
        trace.test_class = name
        corpus = SeedCorpus(tmp_path / "seeds")
        path = corpus.save(trace)
        assert path.resolve().parent.parent == (tmp_path / "seeds").resolve()
        assert corpus.paths() == [path]

    def test_a_corpus_that_cannot_be_written_is_an_error_with_a_hint(self, tmp_path: Path) -> None:
        (tmp_path / "Counter").write_text("in the way")
        with pytest.raises(SeedError, match=r"Not a directory|File exists") as caught:
            SeedCorpus(tmp_path).save(failing(Counter))
        assert "`corpus_dir` in [report]" in str(caught.value.hint)

    def test_removing_tells_what_stayed(self, tmp_path: Path) -> None:
        seed, gone, folder = tmp_path / "seed-1.json", tmp_path / "seed-2.json", tmp_path / "seed-3.json"
        seed.write_text("")
        folder.mkdir()
        removed, errors = SeedCorpus(tmp_path).remove([seed, gone, folder])
        assert removed == [seed, gone]
        assert not seed.exists()
        (error,) = errors
        assert str(folder) in error.message

    def test_another_process_writing_at_the_same_time_is_never_seen_half_way(self, tmp_path: Path) -> None:
        corpus, trace = SeedCorpus(tmp_path), failing(Counter)
        path = corpus.save(trace)

        def rewrite() -> None:
            for _ in range(50):
                trace.save(path)

        writers = [threading.Thread(target=rewrite) for _ in range(2)]
        for writer in writers:
            writer.start()
        while any(writer.is_alive() for writer in writers):
            assert corpus.paths() == [path]
            assert replay_seed(path, Counter).status is SeedStatus.REPRODUCED
        for writer in writers:
            writer.join()
        assert os.listdir(path.parent) == [path.name]  # noqa: PTH208 - hidden leftovers count


class TestReplaying:
    def test_a_failure_that_comes_again(self, till: Till) -> None:
        replay = replay_seed(till[1])
        assert (replay.status, replay.fails, replay.reason) == (SeedStatus.REPRODUCED, True, "")
        assert isinstance(replay.error, ValueError)
        assert replay.trace is not None
        assert replay.name == f"seed-{replay.trace.content_hash()}"

    def test_another_failure(self, till: Till) -> None:
        def check(total: int) -> None:
            raise KeyError(total)

        till[0].check = check  # type: ignore[attr-defined]
        replay = replay_seed(till[1])
        assert (replay.status, replay.fails) == (SeedStatus.FAILS_DIFFERENTLY, True)
        assert isinstance(replay.error, KeyError)

    def test_none(self, till: Till) -> None:
        till[0].check = int  # type: ignore[attr-defined]
        replay = replay_seed(till[1])
        assert (replay.status, replay.fails, replay.error, replay.reason) == (SeedStatus.FIXED, False, None, "")

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"MAY_ADD": False}, "step 1, `add`, cannot run"),
            ({"check": "assume"}, "an assume() in it rejects the run now"),
        ],
    )
    def test_what_did_not_run_as_it_did_is_never_called_fixed(
        self, till: Till, change: dict[str, object], reason: str
    ) -> None:
        module, path = till
        for name, value in change.items():
            setattr(module, name, (lambda _: module.assume(False)) if value == "assume" else value)
        replay = replay_seed(path)
        assert (replay.status, replay.fails) == (SeedStatus.NO_LONGER_APPLIES, False)
        assert reason in replay.reason

    @pytest.mark.parametrize(
        ("source", "reason"),
        [
            (MACHINE.replace("def add", "def put"), "it has no rule 'add'"),
            (MACHINE.replace("by", "amount"), "it has no argument 'by'"),
            (MACHINE.replace("HIGHEST))", "1))"), "no longer fit what the rules draw"),
        ],
    )
    def test_a_class_that_has_changed_beyond_the_seed(
        self, till: Till, make_module: MakeModule, source: str, reason: str
    ) -> None:
        del sys.modules["till"]
        make_module(source, "till", import_it=False)
        replay = replay_seed(till[1])
        assert replay.status is SeedStatus.NO_LONGER_APPLIES
        assert reason in replay.reason

    @pytest.mark.parametrize(
        ("source", "reason"),
        [
            ("import sys\nsys.exit(0)", "importing `till` raised SystemExit"),
            ("def broken(:", "SyntaxError"),
            ("import no_such_module", "No module named 'no_such_module'"),
            (
                MACHINE + "\n        def setup_state():\n            pass\n",
                "till:Till cannot be replayed: AttributeError",
            ),
            ("", "`till` has no `Till`"),
            (MACHINE.replace("def add(self, by)", "def add(self, by, more)"), "argument 'more'"),
        ],
    )
    def test_a_class_that_cannot_be_used(self, till: Till, make_module: MakeModule, source: str, reason: str) -> None:
        del sys.modules["till"]
        make_module(source, "till", import_it=False)
        replay = replay_seed(till[1])
        assert replay.status is SeedStatus.CLASS_UNUSABLE
        assert reason in replay.reason

    @pytest.mark.parametrize("now", ['"xyz"', '["b", "a"]'])
    def test_a_strategy_that_makes_another_value_of_the_same_choices_shows_no_repair(
        self, tmp_path: Path, make_module: MakeModule, now: str
    ) -> None:
        machine = """
            from hypothesis import strategies as st
            from hypothesis.stateful import RuleBasedStateMachine, rule

            class Tags(RuleBasedStateMachine):
                @rule(tags=st.lists(st.sampled_from(LETTERS), min_size=1))
                def tag(self, tags):
                    assert "a" not in tags
        """
        module = make_module(machine.replace("LETTERS", '"ab"'), "tags")
        path = SeedCorpus(tmp_path / "seeds").save(failing(module.Tags))
        assert replay_seed(path).status is SeedStatus.REPRODUCED
        del sys.modules["tags"]
        make_module(machine.replace("LETTERS", now), "tags", import_it=False)
        replay = replay_seed(path)
        assert replay.status is SeedStatus.NO_LONGER_APPLIES
        assert re.fullmatch(r"step 1 ran as tag\(tags=\['.'\]\), the trace has tag\(tags=\['a'\]\)", replay.reason)

    def test_what_the_failing_step_draws_beyond_its_record_does_not_count_against_a_repair(
        self, tmp_path: Path, make_module: MakeModule
    ) -> None:
        machine = """
            from hypothesis import strategies as st
            from hypothesis.stateful import RuleBasedStateMachine, rule

            BROKEN = True

            class Drawing(RuleBasedStateMachine):
                @rule(data=st.data())
                def go(self, data):
                    data.draw(st.integers(3, 9))
                    assert not BROKEN
                    data.draw(st.text(min_size=1))
                    data.draw(st.integers(3, 9))
        """
        module: Any = make_module(machine, "drawing")
        path = SeedCorpus(tmp_path / "seeds").save(failing(module.Drawing))
        module.BROKEN = False
        assert replay_seed(path).status is SeedStatus.FIXED

    def test_the_limit_of_the_exploration_holds_unless_another_is_given(
        self, tmp_path: Path, make_module: MakeModule
    ) -> None:
        machine = """
            import sys
            from hypothesis.stateful import RuleBasedStateMachine, rule

            class Slow(RuleBasedStateMachine):
                @rule()
                def wait(self):
                    sys.modules["time"].sleep(0.3)
        """
        module = make_module(machine, "slow")
        trace = Explorer(module.Slow, rule_timeout=0.1).run(max_runs=1).failures[0].trace
        assert trace is not None
        path = SeedCorpus(tmp_path / "seeds").save(trace)
        assert SeedReplayer().replay(path).status is SeedStatus.REPRODUCED
        assert SeedReplayer(rule_timeout=5.0).replay(path).status is SeedStatus.FIXED

    def test_a_class_that_cannot_be_imported_is_tried_once(self, till: Till, make_module: MakeModule) -> None:
        del sys.modules["till"]
        make_module("import sys\nsys.tries = getattr(sys, 'tries', 0) + 1\nraise OSError", "till", import_it=False)
        replayer = SeedReplayer()
        assert len({replayer.replay(till[1]).reason for _ in range(3)}) == 1
        tries: int = vars(sys).pop("tries")
        assert tries == 1


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


class TestBadFiles:
    @pytest.mark.parametrize(
        ("make", "reason"),
        [
            (lambda path: path.write_bytes(path.read_bytes()[:-40]), "seed"),
            (lambda path: path.write_bytes(b"\xff\x00" * 40), "seed"),
            (lambda path: path.write_bytes(b""), "seed"),
            (lambda path: path.write_bytes(b"[" * 10**5), "seed"),
            (lambda path: path.write_bytes(path.read_bytes().replace(b'"choices"', b'"chances"')), "choices|damaged"),
            (lambda path: os.truncate(path, 2**34), "larger than"),
            (lambda path: path.unlink(), "No such file"),
            (lambda path: (path.unlink(), path.mkdir()), "Is a directory"),
            (make_pipe, "not a regular file"),
            (lambda path: (path.unlink(), path.symlink_to(path.name)), "Too many levels"),
        ],
    )
    def test_what_cannot_be_read_is_told_by_file(
        self, tmp_path: Path, make: Callable[[Path], object], reason: str
    ) -> None:
        path = SeedCorpus(tmp_path).save(failing(Counter))
        make(path)
        replay = replay_seed(path)
        assert (replay.status, replay.fails, replay.trace) == (SeedStatus.UNREADABLE, False, None)
        assert str(path) in replay.reason
        assert re.search(reason, replay.reason), replay.reason

    def test_a_trace_without_a_failure_is_no_seed(self, tmp_path: Path) -> None:
        trace = failing(Counter)
        trace.failure = None
        trace.save(tmp_path / "seed-1.json")
        replay = replay_seed(tmp_path / "seed-1.json")
        assert replay.status is SeedStatus.UNREADABLE
        assert replay.reason.endswith("records no failure, so it is not a seed")


class TestContainment:
    @staticmethod
    def replay_with(till: Till, check: Callable[[int], object]) -> SeedReplay:
        till[0].check = check  # type: ignore[attr-defined]
        return replay_seed(till[1])

    def test_leaving_the_folder(self, till: Till, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert self.replay_with(till, lambda _: os.chdir("/")).status is SeedStatus.FIXED
        assert Path.cwd() == tmp_path

    def test_deleting_the_folder(self, till: Till, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "gone").mkdir()
        monkeypatch.chdir(tmp_path / "gone")

        def leave_nothing(_: int) -> None:
            os.chdir(tmp_path)
            shutil.rmtree("gone", ignore_errors=True)

        self.replay_with(till, leave_nothing)
        assert Path.cwd() == tmp_path

    def test_ending_the_process(self, till: Till) -> None:
        assert isinstance(self.replay_with(till, sys.exit).error, SystemExit)

    def test_asking_to_be_skipped(self, till: Till) -> None:
        replay = self.replay_with(till, lambda _: pytest.skip("no database"))
        assert replay.status is SeedStatus.NO_LONGER_APPLIES
        assert "no database" in replay.reason

    def test_hanging(self, till: Till) -> None:
        replay = self.replay_with(till, lambda _: till[0].time.sleep(30))
        assert replay.status is SeedStatus.FAILS_DIFFERENTLY
        assert "add" in str(replay.error)

    def test_ctrl_c_gets_out(self, till: Till) -> None:
        def interrupt(_: int) -> None:
            signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt):
            self.replay_with(till, interrupt)

    @pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit, BaseException])
    def test_whatever_the_program_raises_by_itself_is_its_failure(self, till: Till, error: type[BaseException]) -> None:
        def fail(_: int) -> None:
            raise error

        replay = self.replay_with(till, fail)
        assert replay.status is SeedStatus.FAILS_DIFFERENTLY
        assert type(replay.error) is error


def test_an_explorer_finds_what_its_own_seeds_fail_with(till: Till, tmp_path: Path) -> None:
    (failure,) = Explorer(till[0].Till, corpus_dir=tmp_path / "seeds").run(max_runs=1).failures
    assert failure.seed_path == str(till[1])


def test_a_seed_that_passes_with_another_machine_is_not_fixed(make_module: MakeModule, tmp_path: Path) -> None:
    checks = MACHINE.replace("check(self.total)", "check(self.total)  # of this machine")
    module = make_module(checks, "till")
    seed = SeedCorpus(tmp_path / "seeds").save(failing(module.Till))
    del sys.modules["till"]
    assert replay_seed(seed, make_module(MACHINE, "till").Till).status is SeedStatus.REPRODUCED
    del sys.modules["till"]
    replay = replay_seed(seed, make_module(MACHINE.replace("> 20", "> 2_000"), "till").Till)
    assert replay.status is SeedStatus.FIXED, "only the program has changed"
    del sys.modules["till"]
    replay = replay_seed(seed, make_module(MACHINE.replace("check(self.total)", "pass"), "till").Till)
    assert (replay.status, replay.reason) == (
        SeedStatus.NO_LONGER_APPLIES,
        "it passes; the machine changed since",
    )
