"""Parameters whose types are classes: what they are given, and that handles come from the calls that return them."""

from __future__ import annotations

import ast
import sys
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from textwrap import dedent
from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from ordeal._hypothesis.machines import define_machine
from ordeal._tools.scaffold.trying import ClassTry, TriedMethod, try_classes
from ordeal._tools.scaffold.values import Draws, bundle_name, hints_of, is_own, known_values, typed
from ordeal._tools.scaffold.writing import with_answers, written
from ordeal.explore import Explorer

BANK = """
    from __future__ import annotations

    from dataclasses import dataclass, field
    from datetime import date
    from decimal import Decimal
    from enum import Enum
    from typing import TypedDict

    class Kind(Enum):
        GIRO = "giro"
        SAVINGS = "savings"

    @dataclass
    class Rule:
        amount: Decimal
        day: date | None

    @dataclass
    class Address:
        street: str
        kinds: list[Kind] = field(default_factory=list)

    class Letter(TypedDict):
        street: str
        day: date

    class Sealed:
        def __init__(self) -> None:
            raise RuntimeError("nobody makes me")

    class Account:
        def __init__(self, kind: Kind) -> None:
            assert isinstance(kind, Kind)
            self.kept = []

        def book(self, amount: Decimal, day: date | None) -> Rule:
            if amount < -50:
                raise ValueError("too much")
            assert day is None or isinstance(day, date)
            self.kept.append(Rule(amount + Decimal(1), day))
            return self.kept[-1]

        def undo(self, entry: Rule) -> None:
            assert any(entry is each for each in self.kept)

        def move(self, to: Address, also: list[Address]) -> None:
            assert isinstance(to, Address) and all(isinstance(each, Address) for each in also)

        def post(self, letter: Letter) -> None:
            assert set(letter) == {"street", "day"} and isinstance(letter["day"], date)

        def open(self, seal: Sealed) -> None:
            pass

        def note(self, seal: Sealed | None = None, to: Address | None = None, kind: Kind = Kind.GIRO) -> None:
            assert seal is None and to is None and isinstance(kind, Kind)
"""


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> ClassTry:
    folder = tmp_path_factory.mktemp("project")
    (folder / "typed_bank.py").write_text(dedent(BANK))
    return try_classes(["typed_bank:Account"], [folder])["typed_bank:Account"]


@pytest.mark.slow
def test_each_parameter_gets_objects_of_its_type(account: ClassTry) -> None:
    assert (account.reason, account.working) == ("", ["book", "undo", "move", "post", "note"])
    left_out = {each.name: each.left_out for each in account.methods if each.left_out}
    assert left_out == {"open": "it takes a Sealed, which could not be made"}
    strategies = {each.name: [one.strategy for one in each.parameters] for each in account.methods}
    assert strategies["book"] == ["AMOUNTS", "st.none() | DAYS"]
    assert strategies["undo"] == ["rules_"], "`rules` is taken by machines"
    assert strategies["note"] == ["st.sampled_from(Kind)"], "what may be left out is, unless it is a choice"
    assert strategies["post"] == ['st.fixed_dictionaries({"day": DAYS, "street": NAMES})']
    assert strategies["move"] == ["st.builds(Address, NAMES)", "st.lists(st.builds(Address, NAMES), max_size=4)"]


@pytest.mark.slow
def test_what_a_call_takes_another_has_returned(account: ClassTry) -> None:
    text = written(account, "tests/test_ordeal_account.py")
    ast.parse(text)
    assert "from ordeal import Bundle, ChaosTest, initialize, invariant, multiple, rule\n" in text
    assert "from datetime import date\nfrom decimal import Decimal\nfrom typing import Any\n\nfrom hypothesis" in text
    assert "from typed_bank import Account, Address, Kind, Rule\n" in text
    assert '    rules_ = Bundle("rules_")\n' in text
    assert "    @rule(target=rules_, amount=AMOUNTS, day=st.none() | DAYS)\n" in text
    assert "            return self.account.book(amount, day)\n        return multiple()\n" in text
    assert "    @rule(entry=rules_)\n    def undo(self, entry: Rule) -> None:\n" in text


@pytest.mark.slow
def test_what_no_call_returns_is_no_rule(account: ClassTry) -> None:
    # As if it had returned objects of two classes.
    methods = [replace(each, gives="") if each.name == "book" else each for each in account.methods]
    text = written(replace(account, methods=methods), "tests/test_ordeal_account.py")
    assert "Bundle" not in text
    assert "rules_" not in text
    assert "def undo(" not in text
    assert "undo: takes what no other call returns" in text


@pytest.mark.slow
def test_the_machine_runs(account: ClassTry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "typed_bank.py").write_text(dedent(BANK))
    monkeypatch.syspath_prepend(str(tmp_path))
    space: dict[str, object] = {"__name__": "machine_of_bank"}
    exec(written(account, "tests/test_ordeal_account.py"), space)
    case = space["TestAccount"]()  # type: ignore[operator]
    case.runTest()
    del sys.modules["typed_bank"]


ODD = """
    import re
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import IO

    class Index:
        def __init__(self):
            self.rows = []

        def bundle(self, target: int, targets: int) -> None:
            self.rows.append(target)

        def rule(self, pattern: re.Pattern[str]) -> None:
            self.rows = [row for row in self.rows if not pattern.match(str(row))]

        def swarm(self, file: IO[str]) -> None:
            self.rows += file.read().split()

        def teardown(self, path: Path) -> None:
            self.rows.append(path.name)

        def st(self, items: Iterator[int]) -> None:
            self.rows += [next(items, 0)]

        def islice(self, lock: AbstractContextManager) -> None:
            with lock:
                self.rows.append(1)
"""


@pytest.mark.slow
def test_methods_named_as_something_of_a_machine_are_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd.py").write_text(dedent(ODD), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    text = written(try_classes(["odd:Index"], [tmp_path])["odd:Index"], "test_odd.py")
    assert "Left out" not in text
    space: dict[str, Any] = {"__name__": "test_odd"}
    exec(compile(text, "test_odd.py", "exec"), space)
    machine = space["IndexChaos"]
    assert {each.name for each in define_machine(machine).rules} >= {"rule_", "swarm_", "bundle_", "st_", "teardown_"}
    result = Explorer(machine, workers=1).run(max_runs=20)
    assert not result.failures
    sys.modules.pop("odd")


DEFAULTS = """
    from contextlib import contextmanager


    class Heap:
        def __init__(self, items=None, size: int = 9):
            self.items = dict(items or {})
            self.hooks = []

        def pop(self, key, default=...):
            return self.items.pop(key) if default is ... else self.items.pop(key, default)

        def setdefault(self, key, default=None):
            return self.items.setdefault(key, default)

        def least(self):
            return min(self.items.values(), default=0)

        def encoded(self, encoding="utf-8") -> bytes:
            return repr(self.items).encode(encoding)

        def on_end(self, hook):
            self.hooks.append(hook)

        def end(self):
            for hook in self.hooks:
                hook()

        @contextmanager
        def frozen(self):
            yield self.items


    class Bag:
        def __init__(self):
            self.kinds = {}

        def add(self, key: str) -> None:
            self.kinds[key] = self.kinds.get(key, 0) + 1

        def __iter__(self):
            return iter(self.kinds)

        def __contains__(self, key):
            return key in self.kinds

        def __len__(self):
            return sum(self.kinds.values())


    class Pairs(Bag):
        def __iter__(self):
            return iter(self.kinds.items())


    class Counts(Bag):
        def items(self):
            return [(key, None) for key, count in self.kinds.items() for _ in range(count)]
"""


@pytest.mark.slow
def test_an_argument_with_a_default_is_given_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "heaps.py").write_text(dedent(DEFAULTS), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    found = try_classes(["heaps:Heap"], [tmp_path])["heaps:Heap"]
    text = written(found, "test_heap.py")
    assert "Left out" not in text
    methods = {method.name: method for method in found.methods}
    assert [(each.name, each.optional) for each in methods["pop"].parameters] == [("key", False), ("default", True)]
    assert methods["encoded"].parameters == [], "a word is one of few that a function knows"
    assert ":KeyError" in methods["pop"].answers, "without a default it says what is missing"
    assert methods["least"].answers == []
    (_, kept) = methods["setdefault"].parameters
    assert not kept.optional, "without a value it keeps None, which `least` cannot compare"
    assert '    @rule(key=KEYS, options=st.fixed_dictionaries({}, optional={"default": VALUES}))\n' in text
    assert "            self.heap.pop(key, **options)\n" in text
    assert "        with self.heap.frozen():\n            pass\n" in text
    # A function that is called fails now and then.
    assert "        with suppress(CallbackError):\n            self.heap.end()\n" in text
    space: dict[str, Any] = {"__name__": "test_heap"}
    exec(compile(text, "test_heap.py", "exec"), space)
    assert not Explorer(space["HeapChaos"], workers=1).run(max_runs=200).failures
    sys.modules.pop("heaps")


@pytest.mark.slow
def test_iterating_may_yield_something_else_than_what_is_counted_and_asked_for(tmp_path: Path) -> None:
    (tmp_path / "heaps.py").write_text(dedent(DEFAULTS), "utf-8")
    tried = try_classes(["heaps:Bag", "heaps:Counts", "heaps:Pairs"], [tmp_path])
    assert tried["heaps:Bag"].protocol == {"len": True, "counts": True, "contains": True, "repr": True}
    assert not tried["heaps:Counts"].protocol["counts"], "its items are as many"
    assert not tried["heaps:Pairs"].protocol["contains"], "it is asked for keys, and yields pairs"


def test_what_is_known_by_its_name_is_not_repeated_here() -> None:
    def build(_: type) -> None:
        return None

    assert (
        typed(int, build) == typed(list[int], build) == typed(str | None, build) == typed(dict[str, int], build) == []
    )
    assert not any(map(is_own, (int, list[int], str, Path, Decimal)))


def test_annotations_that_cannot_be_evaluated_are_none() -> None:
    def take(x: nowhere.Thing) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    assert hints_of(take) == {}
    assert hints_of(3) == {}


@pytest.mark.parametrize(
    ("name", "bundle"), [("Transfer", "transfers"), ("DataEntry", "data_entries"), ("Bus", "buses"), ("Rule", "rules_")]
)
def test_a_bundle_is_called_by_what_it_holds(name: str, bundle: str) -> None:
    assert bundle_name(type(name, (), {})) == bundle


def test_values_of_the_standard_library_are_drawn() -> None:
    for kind in (date, time, Decimal, Fraction, UUID):
        (found,) = typed(kind, lambda _: None)
        assert isinstance(found.draw(Draws(1)), kind)
        several, alone = typed(list[kind], lambda _: None)  # type: ignore[valid-type]
        assert isinstance(several.draw(Draws(1)), list)
        assert len(alone.draw(Draws(1))) == 1
        (by_name,) = typed(dict[str, kind], lambda _: None)  # type: ignore[valid-type]
        assert isinstance(by_name.draw(Draws(1)), dict)
        (maybe,) = typed(kind | None, lambda _: None)
        assert maybe.strategy == f"st.none() | {found.strategy}"


@pytest.mark.slow
def test_a_type_variable_is_what_it_is_bound_to(tmp_path: Path) -> None:
    (tmp_path / "events.py").write_text(
        "from collections.abc import Callable\n"
        "from typing import Any, TypeVar\n\n"
        "Handler = TypeVar('Handler', bound=Callable[..., Any])\n\n\n"
        "class Events:\n"
        "    def __init__(self):\n        self.found = []\n\n"
        "    def on(self, f: Handler) -> Handler:\n        self.found.append(f)\n        return f\n\n"
        "    def keep(self, thing):\n        self.kept = thing\n\n"
        "    def emit(self) -> int:\n        return len([f() for f in self.found])\n"
    )
    found = try_classes(["events:Events"], [tmp_path])["events:Events"]
    methods = {method.name: method for method in found.methods}
    assert [each.strategy for each in methods["on"].parameters] == ["FUNCTIONS"]
    # What a method takes that says nothing about it is a guess, which a later call may not like.
    assert {name for name, method in methods.items() if ":TypeError" in method.answers} == {"keep"}


@pytest.mark.parametrize("annotation", ["Dict[str, Any]", "typing.Dict[str, int]", "dict[str, int]"])
def test_the_old_names_of_typing_are_known(annotation: str) -> None:
    assert [each.strategy for each in known_values(annotation)] == ["DICTS", "RECORDS"]
    assert [each.strategy for each in known_values("List[str]")] == ["st.lists(NAMES, max_size=4)"]


GUESSES = """
    from functools import cached_property


    class Headers:
        def __init__(self, key):
            self.lines = [key]
            self.hooks = []

        def add(self, key, value):
            self.lines.append(key)

        def on_end(self, hook):
            self.hooks.append(hook)

        def end(self):
            return [each.begin for each in self.hooks]

        @cached_property
        def size(self):
            return len(self.lines)

        def upper(self):
            return self.lines[0].upper()

        def lower(self):
            return self.lines[0].lower()

        def title(self):
            return self.lines[0].title()

        def strip(self):
            return self.lines[0].strip()

        def split(self):
            return self.lines[0].split()

        def __repr__(self):
            return "".join(self.lines)


    class Door:
        def __init__(self, is_open: bool):
            if is_open:
                raise ValueError("it is open")

        def knock(self) -> int:
            return 1
"""


@pytest.mark.slow
def test_what_is_guessed_fits_or_its_errors_are_answers(tmp_path: Path) -> None:
    (tmp_path / "guesses.py").write_text(dedent(GUESSES))
    found = try_classes(["guesses:Headers"], [tmp_path])["guesses:Headers"]
    methods = {method.name: method for method in found.methods}
    # Numbers would be taken as well, but then hardly a method works, and the object cannot be shown.
    assert [each.strategy for each in found.parameters] == ["NAMES"]
    assert methods["add"].parameters[0].strategy == "NAMES"
    # What an earlier call stored is of the wrong kind.
    assert methods["end"].answers == [":AttributeError"]
    assert (methods["size"].form, methods["upper"].answers) == ("property", [])
    assert "        _ = self.headers.size\n" in written(found, "tests/test_headers.py")


@pytest.mark.slow
def test_a_constructor_may_refuse_arguments(tmp_path: Path) -> None:
    (tmp_path / "guesses.py").write_text(dedent(GUESSES))
    (tmp_path / "doors").mkdir()
    (tmp_path / "doors/__init__.py").write_text("")
    (tmp_path / "doors/base.py").write_text(dedent(GUESSES))
    (tmp_path / "doors/wide.py").write_text("from doors.base import Door\n\n\nclass Gate(Door): ...\n")
    tried = try_classes(["guesses:Door", "doors.wide:Gate"], [tmp_path])
    assert tried["doors.wide:Gate"].sources == ["doors.wide", "doors.base"], "the search is guided by these"
    found = tried["guesses:Door"]
    assert (
        "        try:\n            self.door = Door(is_open)\n"
        "        except ValueError:\n            reject()  # these arguments make no object\n"
    ) in written(found, "tests/test_door.py")


@pytest.mark.parametrize(
    ("bucket", "code", "answers"),
    [
        ("RuntimeError in refuse: raise RuntimeError(1)", "raise RuntimeError(1)", [":RuntimeError"]),
        ("KeyError in Door.knock: self.x[1]", "self.x[1]", []),
        ("shop.errors.Full in put: lock.put(1)", "lock.put(1)", ["shop.errors:Full"]),
        ("shop.Lock.Full in put: raise Lock.Full", "", []),
        ("AssertionError in put: raise AssertionError", "raise AssertionError", []),
    ],
)
def test_what_the_first_run_sees_raised_on_purpose_is_an_answer(bucket: str, code: str, answers: list[str]) -> None:
    knock = TriedMethod("__call__", "item", [], [], "", False, False, False, 1, False)
    raised = {"bucket": bucket, "place": {"kind": "rule", "name": "call", "raised_at": {"code": code}}}
    tried = with_answers(ClassTry("", name="Door", methods=[knock]), [raised])
    assert [each.answers for each in tried.methods] == [answers]
    made = {"bucket": bucket, "place": {"kind": "initialize", "name": "create", "raised_at": {"code": code}}}
    assert with_answers(tried, [made]).refusals == answers
