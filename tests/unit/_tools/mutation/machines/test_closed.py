"""The file of the tests that close survivors."""

from __future__ import annotations

from ordeal._tools.mutation.machines.closed import one_file


def test_tests_of_several_survivors_are_one_file() -> None:
    head = '"""Head."""\n\nfrom b import B\nfrom a import A\n\n\n'
    found = one_file([f"{head}def test_{name}():\n    A(B)\n" for name in ("one", "two")])
    assert found.split("\n", 2)[2] == (
        "from a import A\nfrom b import B\n\n\ndef test_one():\n    A(B)\n\n\ndef test_two():\n    A(B)\n"
    )
