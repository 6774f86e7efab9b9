"""Data goes to stdout as it is, talk to stderr, coloured only where somebody sees colours."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from ordeal.cli import terminal
from ordeal.cli.terminal import has_screen
from ordeal.errors import ConfigError


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_data_is_not_changed_and_talk_is_apart(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.write("a\x1b[1mb")
    terminal.say("talk")
    terminal.say("more", newline=False)
    assert capsys.readouterr() == ("a\x1b[1mb", "talk\nmore")


@pytest.mark.parametrize(
    ("on_terminal", "variables", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_colours(monkeypatch: pytest.MonkeyPatch, on_terminal: bool, variables: dict[str, str], expected: bool) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert terminal.has_colours(on_terminal=on_terminal) is expected


def test_an_error_has_its_hint_as_a_paragraph(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show_error(ConfigError("seed is 'x': no number", hint="write `seed=1`"))
    assert capsys.readouterr().err == "error: seed is 'x': no number\n\nhint: write `seed=1`\n"
    terminal.show_error(ConfigError("no"))
    assert capsys.readouterr().err == "error: no\n"


def test_a_message_of_the_program_cannot_rewrite_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say_error("a\x1b[2J\nerror: b")
    assert capsys.readouterr().err == "error: a\\x1b[2J\\nerror: b\n"


def test_an_ascii_stream_escapes_what_it_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("w", encoding="ascii") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(UnicodeEncodeError):
            terminal.write("日")
        with terminal.kept_streams():
            terminal.write("日\ud800")
    assert path.read_bytes() == b"\\u65e5\\ud800"


@pytest.mark.parametrize(
    ("environment", "has"), [({}, False), ({"DISPLAY": ":0"}, True), ({"WAYLAND_DISPLAY": "wayland-0"}, True)]
)
def test_a_browser_needs_a_screen(environment: dict[str, str], has: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert has_screen(environment) is has
