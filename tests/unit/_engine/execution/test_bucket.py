"""Which failures count as the same one."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from ordeal._base.rule_timeout import RuleTimeoutError, timeout_error
from ordeal._engine.execution.bucket import (
    Bucketer,
    bucket_after,
    falls_into,
    is_in_bucket,
    place_of,
    step_of,
    traceback_text,
)
from ordeal.model import DivergenceError

SHOP = """
    def charge(cents):
        if cents < 0:
            raise ValueError(f"negative: {cents}")
        assert cents < 100, cents

    def refund(cents):
        charge(-cents)
"""


def module_at(path: Path, source: str) -> ModuleType:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(line[4:] for line in source.splitlines()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def raised(call: object, *arguments: object) -> BaseException:
    assert callable(call)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any exception will do
        call(*arguments)
    return caught.value


def test_the_message_and_the_line_number_do_not_matter(tmp_path: Path) -> None:
    shop = module_at(tmp_path / "shop.py", SHOP)
    bucketer = Bucketer([str(tmp_path / "shop.py")])
    before = bucketer.bucket(raised(shop.charge, -1))
    assert before == 'ValueError in charge: raise ValueError(f"negative: {cents}")'
    assert bucketer.bucket(raised(shop.refund, 7)) == before, "the innermost place in the target counts"
    moved = module_at(tmp_path / "moved.py", "\n\n" + SHOP)
    assert Bucketer([str(tmp_path)]).bucket(raised(moved.charge, -2)) == before


def test_a_library_below_the_target_is_not_the_place(tmp_path: Path) -> None:
    parser = module_at(
        tmp_path / "parser.py",
        """
    import json

    def parse(text):
        return json.loads(text)
    """,
    )
    bucket = Bucketer([str(tmp_path)]).bucket(raised(parser.parse, "{"))
    assert bucket == "json.decoder.JSONDecodeError in parse: return json.loads(text)"


@pytest.mark.parametrize("folder", ["ordeal", "hypothesis", "src/pluggy/x"])
def test_a_folder_with_the_name_of_the_machinery_is_not_machinery(tmp_path: Path, folder: str) -> None:
    shop = module_at(tmp_path / folder / "shop.py", SHOP)
    error = raised(shop.charge, -1)
    assert Bucketer([]).bucket(error) == 'ValueError in charge: raise ValueError(f"negative: {cents}")'
    assert "shop.py" in traceback_text(error)


def test_a_bucket_is_known_again_when_the_targets_are_not(tmp_path: Path) -> None:
    shop = module_at(tmp_path / "shop.py", SHOP)
    bucket = Bucketer([str(tmp_path)]).bucket(raised(shop.refund, 7))
    assert is_in_bucket(raised(shop.charge, -3), bucket)
    assert not is_in_bucket(raised(shop.charge, 100), bucket)


def test_what_broke_an_invariant_is_told_apart_from_the_place(tmp_path: Path) -> None:
    shop = module_at(tmp_path / "shop.py", SHOP)
    error, bucketer = raised(shop.charge, 100), Bucketer([str(tmp_path)])
    place, after = bucketer.bucket(error), bucketer.bucket(error, "refund")
    assert after == f"{place} [after refund]" == bucket_after(place, "refund")
    assert (place_of(after), step_of(after)) == (place, "refund")
    assert (place_of(place), step_of(place)) == (place, "")
    assert bucketer.bucket(LookupError(), "refund") == "LookupError", "what has no place was not seen to break it"


def test_a_hang_is_one_failure_wherever_its_time_was_over(tmp_path: Path) -> None:
    module = module_at(
        tmp_path / "late.py", "    def late(error):\n        raise error\n    def later(error):\n        late(error)"
    )
    bucketer = Bucketer([str(tmp_path)])
    errors = [raised(each, timeout_error("pay", 0.5)) for each in (module.late, module.later)]
    assert {bucketer.bucket(error) for error in errors} == {"ordeal.rule_timeout.RuleTimeoutError at pay"}
    assert all(is_in_bucket(error, bucketer.bucket(errors[0])) for error in errors)
    assert not is_in_bucket(raised(module.late, timeout_error("refund", 0.5)), bucketer.bucket(errors[0]))


ENDLESS = """
    def even(number):
        check(number)
        return odd(number + 1)

    def odd(number):
        check(number)
        return half(number)

    def half(number):
        return even(number)

    def check(number):
        assert isinstance(number, int)

    def below(depth):
        return below(depth - 1) if depth else odd(1)
"""


@pytest.mark.parametrize("targets", [True, False])
def test_a_recursion_without_end_is_one_failure_however_deep_it_begins(tmp_path: Path, targets: bool) -> None:
    module = module_at(tmp_path / "endless.py", ENDLESS)
    bucketer = Bucketer([str(tmp_path)] if targets else [])
    errors = [raised(module.below, depth) for depth in range(12)]
    assert {bucketer.bucket(error) for error in errors} == {"RecursionError in even: return odd(number + 1)"}
    assert all(is_in_bucket(error, bucketer.bucket(errors[0])) for error in errors)


def test_a_recursion_error_that_somebody_raises_has_its_place(tmp_path: Path) -> None:
    module = module_at(tmp_path / "limit.py", "    def late(error):\n        raise error")
    assert Bucketer([]).bucket(raised(module.late, RecursionError())) == "RecursionError in late: raise error"


def test_invariants_that_hang_are_not_told_apart_by_steps_which_takes_too_long(tmp_path: Path) -> None:
    module = module_at(tmp_path / "late.py", "    def late(error):\n        raise error")
    bucketer = Bucketer([str(tmp_path)])
    hang = bucketer.bucket(raised(module.late, RuleTimeoutError("late")), "go")
    assert hang.endswith("RuleTimeoutError in late: raise error")
    assert bucketer.bucket(raised(module.late, LookupError()), "go").endswith(" [after go]")


@pytest.mark.parametrize(
    ("seen", "bucket", "falls"),
    [
        ("E in f [after a]", "E in f [after a]", True),
        ("E in f [after a]", "E in f [after b]", False),
        ("E in f [after a]", "E in f", True),
        ("E in f", "E in f [after a]", False),
        ("E in f [after a]", "E in g", False),
        ("", "", True),
        ("", "E in f", False),
    ],
)
def test_a_bucket_without_a_step_holds_the_runs_of_all(seen: str, bucket: str, falls: bool) -> None:
    assert falls_into(seen, bucket) is falls


def test_code_without_a_file_has_a_bucket_where_the_working_directory_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, object] = {}
    exec("def fail():\n    raise LookupError('x')\n", made)  # as dataclasses make their methods
    here = Bucketer([str(tmp_path)]).bucket(raised(made["fail"]))
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert Bucketer([str(tmp_path)]).bucket(raised(made["fail"])) == here


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (RuleTimeoutError, "ordeal.rule_timeout.RuleTimeoutError"),
        (DivergenceError, "ordeal.model.DivergenceError"),
    ],
)
def test_own_exceptions_keep_the_names_that_saved_seeds_know(kind: type[Exception], name: str) -> None:
    """Seeds are found again by their bucket, so moving the file of an exception must not rename it."""
    with pytest.raises(kind) as caught:
        raise kind("x")
    assert Bucketer([]).bucket(caught.value).startswith(f"{name} in ")
