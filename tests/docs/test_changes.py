"""The changelog is short, and each change since the last release is one bullet in a file."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BULLET = re.compile(r"- (?:[^\n]+\n)(?:  [^\n]+\n)*")


def problem(name: str, text: str) -> str:
    """Return what is wrong with the file of a change; nothing if it is one bullet."""
    if not re.fullmatch(r"[a-z0-9-]+\.md", name):
        return "its name has other characters than a-z, 0-9 and -"
    if not BULLET.fullmatch(text):
        return "it is not one bullet: '- ', and further lines indented by two blanks"
    return "it has more than 35 words" if len(text.split()) > 36 else ""


def test_each_change_is_one_bullet() -> None:
    files = [path for path in sorted((ROOT / "changes").iterdir()) if path.name != "README.md"]
    assert [(path.name, why) for path in files if (why := problem(path.name, path.read_text("utf-8")))] == []


def test_a_version_has_at_most_25_bullets() -> None:
    for version in (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1:]:
        assert len(re.findall(r"^- ", version, re.MULTILINE)) <= 25, version.splitlines()[0]


def test_other_texts_are_refused() -> None:
    assert problem("faster-shrinking.md", "- Shrinking takes half as long\n  for long traces.\n") == ""
    assert "not one bullet" in problem("two.md", "- One.\n- Two.\n")
    assert "not one bullet" in problem("prose.md", "Shrinking is faster.\n")
    assert "35 words" in problem("long.md", f"- {'word ' * 36}\n")
    assert "name" in problem("Fix 12.md", "- One.\n")
