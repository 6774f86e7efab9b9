"""What the trial of a class finds out, and that it does no harm; in processes, as it sets limits and an audit hook."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._tools.scaffold.trying import ClassTry, try_classes
from ordeal._tools.scaffold.writing import machine_name, snake, written

VAULT = '''
    import os, sqlite3, subprocess, time
    from pathlib import Path

    class VaultError(Exception):
        """What the vault says."""

    class Vault:
        """Keeps coins."""

        def __init__(self, size: int, *, name: str = "v", _private=None):
            self.coins = {}
            self.size = size
            if size < 0:
                raise ValueError("size")

        def put(self, key, value: int) -> None:
            if len(self.coins) > self.size:
                raise VaultError("full")
            self.coins[key] = value

        def take(self, key):
            return self.coins.pop(key)

        def names(self):
            yield from self.coins

        def wipe(self):
            Path("precious").unlink()

        def dump(self):
            Path("made").write_text("x")

        def call(self):
            subprocess.run(["true"])

        def hang(self):
            while True:
                pass

        def end(self):
            raise SystemExit

        async def later(self): ...

        def broken(self):
            raise AttributeError("never works")

        def _hidden(self): ...

        @property
        def worth(self):
            return sum(self.coins.values())

        def __len__(self):
            return len(self.coins)

        def __iter__(self):
            return iter(self.coins)

    class Chain:
        """Made of another one, if there is one."""

        def __init__(self, other: "Chain | dict" = ()):
            self.links = {}
            self.extend(other)

        def extend(self, other: "Chain") -> None:
            self.links.update(getattr(other, "links", other))

    class Needs:
        def __init__(self, there: "Unknown"):
            there.go()

    class Spans:
        def __init__(self):
            self.spans = []

        def add(self, begin, end):
            self.spans.append((begin, end))

        def merge(self, data_reducer=None, strict=True):
            assert strict in (True, False)
            if len(self.spans) > 3:
                self.spans = [(0, data_reducer(self.spans) if data_reducer else 1)]

        def discard(self, span):
            if len(self.spans) > 2:
                self.spans.remove((span.begin, span.end))

    class Purse(dict):
        def __or__(self, value, /):
            return dict.__or__(self, value)

    class Recent:
        """Keeps two entries. Mistake: what was forgotten is still in the order."""

        def __init__(self):
            self.entries, self.order = {}, []

        def put(self, key: str, value: int) -> None:
            if key in self.entries:
                self.order.remove(key)
            elif len(self.entries) > 1:
                del self.entries[self.order.pop(0)]
            self.entries[key] = value
            self.order.append(key)

        def forget(self, key: str) -> None:
            del self.entries[key]

    class Pool:
        """Mistake: what is released twice is free twice."""

        def __init__(self):
            self.free, self.used = [1, 2], set()

        def acquire(self) -> None:
            if not self.free:
                raise RuntimeError("all are in use")
            number = self.free.pop()
            if number in self.used:
                raise AssertionError("in use")
            self.used.add(number)

        def release(self, number: int) -> None:
            self.free.append(number)

    class Days:
        """Mistake: a day may be left without an event."""

        def __init__(self):
            self.days = {}

        def add(self, day: int, event: str) -> None:
            self.days.setdefault(day, []).append(event)

        def move(self, day: int, other: int) -> None:
            if day in self.days and other != day:
                self.days.setdefault(other, []).extend(self.days[day])
                self.days[day].clear()

        def first(self) -> str | None:
            return self.days[min(self.days)][0] if self.days else None

    class Table:
        def __init__(self, place: str = ":memory:"):
            self.rows = sqlite3.connect(place)
            self.rows.execute("create table numbers(n)")

        def add(self, n: int) -> None:
            self.rows.execute("insert into numbers values(?)", (n % 100,))

        def save(self) -> None:
            sqlite3.connect("made.db")

        def close(self, reason: str = "") -> None:
            self.rows.close()

    class Notes:
        def __init__(self, directory=None, limit: int = 3):
            self.folder = Path(directory or "made")
            self.folder.mkdir(exist_ok=True)

        def write(self, name: str) -> None:
            (self.folder / name).write_text("x")

        def wipe(self) -> None:
            Path("precious").unlink()

        def leave(self) -> None:
            (self.folder.parent.parent / "made").write_text("x")

        def link(self) -> None:
            (self.folder / "link").symlink_to("/etc")
'''


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ClassTry]:
    folder = tmp_path_factory.mktemp("project")
    (folder / "vault.py").write_text(dedent(VAULT))
    (folder / "precious").write_text("x")
    names = ("Vault", "Chain", "Needs", "Table", "Spans", "Purse", "Notes", "Recent", "Pool", "Days")
    found = try_classes([*(f"vault:{name}" for name in names), "no_module:X"], [folder], seconds=60)
    assert (folder / "precious").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["precious", "vault.py"]
    return found


@pytest.mark.slow
def test_a_class_is_tried(tried: dict[str, ClassTry]) -> None:
    vault = tried["vault:Vault"]
    assert (vault.module, vault.name, vault.reason) == ("vault", "Vault", "")
    assert [each.name for each in vault.parameters] == ["size", "name"]
    assert vault.working == ["put", "take", "names"]
    methods = {each.name: each for each in vault.methods}
    assert "vault:VaultError" in methods["put"].answers
    assert ":KeyError" in methods["take"].answers
    assert methods["names"].iterates
    assert {name: each.left_out for name, each in methods.items() if each.left_out} == {
        "wipe": "deletes files",
        "dump": "writes files",
        "call": "starts a process",
        "hang": "takes long",
        "end": "ends the process",
        "later": "is a coroutine",
        "broken": "AttributeError: never works",
    }
    assert [(each.name, each.answers) for each in vault.methods if each.form == "property"] == [("worth", [])]
    assert vault.protocol == {"len": True, "counts": True, "contains": False, "repr": True}
    chain = tried["vault:Chain"]
    assert (chain.reason, chain.working) == ("", ["extend"])
    assert [each.strategy for each in chain.methods[0].parameters] == ["OTHERS"]
    assert tried["vault:Needs"].reason.startswith("no object could be made: AttributeError: ")
    table = tried["vault:Table"]
    assert (table.reason, [each.name for each in table.methods if each.ends]) == ("", ["close"])
    assert [each.left_out for each in table.methods if each.left_out] == ["opens a database"]
    assert tried["no_module:X"].reason == "it imports `no_module`, which is not installed"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("Recent", {"put": [], "forget": [":KeyError"]}),
        ("Pool", {"acquire": [":RuntimeError"], "release": []}),
        ("Days", {"add": [], "move": [], "first": []}),
    ],
)
def test_what_no_call_asked_for_is_a_mistake(
    tried: dict[str, ClassTry], name: str, answers: dict[str, list[str]]
) -> None:
    assert {each.name: each.answers for each in tried[f"vault:{name}"].methods} == answers


@pytest.mark.slow
def test_its_machine_is_python_that_says_what_it_left_out(tried: dict[str, ClassTry]) -> None:
    plain = tried["vault:Vault"]
    text = written(plain, "tests/test_ordeal_vault.py")
    ast.parse(text)
    assert machine_name(plain) == "VaultChaos"
    assert "from vault import Vault, VaultError\n" in text
    assert "        with suppress(AttributeError, KeyError, TypeError):\n            self.vault.take(key)\n" in text
    assert "        list(self.vault.names())\n" in text
    assert "    #   wipe: deletes files\n" in text
    assert text.endswith("\n\nTestVault = VaultChaos.TestCase\n")


@pytest.mark.slow
def test_guesses_that_turn_out_wrong_are_no_rules(tried: dict[str, ClassTry]) -> None:
    spans = tried["vault:Spans"]
    assert spans.working == ["add", "merge"]
    merge, discard = spans.methods[1:]
    assert [(each.name, each.keyword) for each in merge.parameters] == [("strict", True)]
    assert discard.left_out == "AttributeError: 'int' object has no attribute 'begin'"


@pytest.mark.slow
def test_an_operator_gets_what_it_takes(tried: dict[str, ClassTry]) -> None:
    (unite,) = (each for each in tried["vault:Purse"].methods if each.name == "__or__")
    assert not unite.left_out
    assert [each.type for each in unite.parameters] == ["Purse"]


@pytest.mark.slow
def test_what_ends_an_object_is_called_when_its_run_ends(tried: dict[str, ClassTry]) -> None:
    text = written(tried["vault:Table"], "tests/test_table.py")
    assert "    def add(self, n: int) -> None:\n        self.table.add(n)\n" in text
    assert "    def close" not in text
    assert (
        "    def teardown(self) -> None:\n"
        '        if hasattr(self, "table"):\n'
        "            self.table.close()\n"
        "        super().teardown()\n"
    ) in text


@pytest.mark.slow
def test_what_keeps_files_gets_a_folder_of_its_own(tried: dict[str, ClassTry]) -> None:
    notes = tried["vault:Notes"]
    assert [each.strategy for each in notes.parameters] == ["FOLDER", "st.integers(1, 8)"]
    assert {each.name: each.left_out for each in notes.methods} == {
        "write": "",
        "wipe": "deletes files",
        "leave": "writes files",
        "link": "makes links",
    }
    text = written(notes, "tests/test_notes.py")
    ast.parse(text)
    assert "from tempfile import TemporaryDirectory\n" in text
    assert (
        '    @initialize(options=st.fixed_dictionaries({}, optional={"limit": st.integers(1, 8)}))\n'
        "    def create(self, options: dict[str, Any]) -> None:\n"
        "        self.folder = TemporaryDirectory()  # for what it keeps in files\n"
        "        self.notes = Notes(self.folder.name, **options)\n"
    ) in text
    assert '        if hasattr(self, "notes"):\n            self.folder.cleanup()\n' in text


@pytest.mark.parametrize(("name", "variable"), [("LRUCache", "lru_cache"), ("Signal", "signal"), ("_A1B", "a1_b")])
def test_a_class_gives_a_variable_its_name(name: str, variable: str) -> None:
    assert snake(name) == variable


def test_a_long_import_takes_nothing_from_the_trial(tmp_path: Path) -> None:
    """An import of FastAPI and SQLAlchemy took all the time, and no method was tried."""
    source = "import time\ntime.sleep(0.3)\nclass Box:\n    def put(self, item: int):\n        self.item = item\n"
    (tmp_path / "box.py").write_text(source, "utf-8")
    tried = try_classes(["box:Box"], [tmp_path], seconds=1.0)  # a quarter for each class
    assert tried["box:Box"].working == ["put"]
