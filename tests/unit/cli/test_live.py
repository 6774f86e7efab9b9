"""The live view: two lines, each failure when it is found, and nothing that a text of the program can break."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from typing import Any

import pytest

from ordeal._base.limits import ROWS_MAX
from ordeal.cli import terminal
from ordeal.cli.live import STOPPING, LiveView, figures
from ordeal.cli.progress import ProgressLine, progress_view
from ordeal.config.options import ExplorationOptions
from ordeal.result import FoundFailure, ProgressSnapshot, ShrinkSnapshot

OPTIONS = ExplorationOptions(max_time=60, workers=2)
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal of 100 columns gets."""
    written = io.StringIO()
    monkeypatch.setattr(terminal, "error_stream", lambda: written)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return written


def found(number: int, error: str = "ValueError: no") -> FoundFailure:
    return FoundFailure(f"{number:012x}", "bucket", error, 1, 4)


def at(elapsed: float, edges: int = 5, failures: tuple[FoundFailure, ...] = (), **changes: Any) -> ProgressSnapshot:
    values = {"lines": 3, "next_run_max": 0.5, **changes}
    return ProgressSnapshot(elapsed, 1_000, 9_000, edges, 7, len(failures), 250.0, failures, **values)


def plain(text: str) -> str:
    return ESCAPE.sub("", text)


def test_it_shows_how_far_it_is_and_the_figures(screen: io.StringIO) -> None:
    view = LiveView("tests.shop:ShopChaos", OPTIONS)
    view(at(0.5))
    view(at(42.0))
    text = plain(screen.getvalue())
    assert "ShopChaos  0:42 / 1:00" in text
    assert "2 workers  Ctrl-C stops" in text
    assert "[42s] runs=1000 steps=9000 edges=5 cps=7 fails=0 (250 runs/s) next new edge ≤ 50%" in text


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 200])
def test_a_narrow_terminal_gets_what_matters_most(
    columns: int, screen: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    view = LiveView("tests.shop:ShopChaos", OPTIONS)
    view(at(42.0, edges=12_345, next_run_max=0.0001, failures=(found(1, "y" * 300),)))
    lines = plain(screen.getvalue()).replace("\r", "").split("\n")
    assert max(map(len, lines)) < columns
    assert "0:42 / 1:00" in lines[1]
    assert ("cps=7" in lines[2]) is (columns >= 100)
    assert "fails=1" in lines[2]
    assert "0.01%, may stop" in lines[2] or columns == 40


def test_a_terminal_made_narrower_keeps_no_remains(screen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr(os, "get_terminal_size", lambda _=0: os.terminal_size((100, 30)))
    view = LiveView("tests.shop:ShopChaos", OPTIONS)
    view(at(1.0))
    monkeypatch.setattr(os, "get_terminal_size", lambda _=0: os.terminal_size((50, 30)))
    view(at(2.0))
    # Each of the two lines of up to 100 columns has become two rows.
    assert "\r\x1b[3A\x1b[J" in screen.getvalue()


def test_ctrl_c_is_answered_at_once_and_by_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, newline="") as shown, os.fdopen(writing, "w") as written:
        monkeypatch.setattr(terminal, "error_stream", lambda: written)
        view = LiveView("tests.shop:ShopChaos", OPTIONS)
        view(at(1.0))
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt), view.telling_of_interrupts():
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        with view.telling_of_interrupts():
            monkeypatch.setattr(os, "getpid", lambda: 1)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        view.close()
        written.close()
        text = shown.read()
    assert text.count(STOPPING) == 1
    assert text.endswith("\r\x1b[2A\x1b[J\x1b[?25h")


def test_a_terminal_without_unicode_gets_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(terminal, "error_stream", lambda: stream)
    monkeypatch.setenv("COLUMNS", "60")
    view = LiveView("tests.shop:ShopChaos", OPTIONS)
    view(at(30.0, next_run_max=0.25, failures=(found(1, "no ✓ here"),)))
    written = stream.buffer.getvalue()
    text = plain(written.decode("ascii"))
    assert "x 000000 no ? here  4 steps" in text
    assert "next new edge < 25%" in text


def test_it_is_drawn_five_times_a_second_at_most(screen: io.StringIO) -> None:
    view = LiveView("tests.shop:ShopChaos", OPTIONS)
    for number in range(100):
        view(at(number / 100))
    assert 4 <= screen.getvalue().count("runs/s") <= 7


def test_a_failure_is_told_at_once_and_once(screen: io.StringIO) -> None:
    view = LiveView("tests.shop:ShopChaos", OPTIONS)
    view(at(0.5))
    view(at(0.51, failures=(found(1),)))
    view(at(0.52, failures=(found(1),)))
    assert plain(screen.getvalue()).count("✗ 000000 ValueError: no  4 steps") == 1


def test_a_flood_is_counted(screen: io.StringIO) -> None:
    view = LiveView("tests.shop:ShopChaos", OPTIONS)
    view(at(0.5, failures=tuple(map(found, range(500)))))
    text = plain(screen.getvalue())
    assert text.count("✗") == ROWS_MAX
    assert "more than 200 failures" in text


def test_what_is_drawn_is_cleared_and_failures_stay(screen: io.StringIO) -> None:
    view = LiveView("tests.shop:ShopChaos", OPTIONS)
    view(at(0.5, failures=(found(1),)))
    view.shrinking(ShrinkSnapshot(2.0, 1, 2, 31, 8, 13))
    assert "shrinking failure 1 of 2: 31 -> 8 steps (13 tried)" in plain(screen.getvalue())
    view.shrinking(ShrinkSnapshot(5.0, 2, 2, 9, 3, 20))
    assert "0:03 / 0:30" in plain(screen.getvalue()), "it takes up to half as long as the search of a minute"
    view.close()
    assert screen.getvalue().endswith("\r\x1b[1A\x1b[J\x1b[?25h")
    length = len(screen.getvalue())
    view.close()
    assert len(screen.getvalue()) == length


@pytest.mark.parametrize("text", ["[red]no[/red]", "\x1b[2Jgone", "two\nlines", "x" * 10_000, ":bomb:", "[/]"])
def test_hostile_texts_stay_on_their_line(text: str, screen: io.StringIO) -> None:
    view = LiveView(f"tests.shop:{text}", OPTIONS)
    view(at(0.5, failures=(found(1, text),)))
    assert "\x1b[2J" not in screen.getvalue()
    line = next(line for line in plain(screen.getvalue()).split("\n") if "✗" in line)
    assert len(line.rstrip("\r")) <= 100
    assert text[:4].isprintable() <= (text[:4] in line)


@pytest.mark.parametrize(("chance", "style"), [(0.0005, "green"), (0.005, "yellow"), (0.5, "default")])
def test_whether_it_may_stop_has_a_colour(chance: float, style: str) -> None:
    line = figures(at(1.0, next_run_max=chance), 0.0, 200)
    assert [str(span.style) for span in line.spans][-1] == style
    assert (", may stop" in line.plain) is (style == "green")


@pytest.mark.parametrize(
    ("kind", "is_terminal", "term", "shown"),
    [
        ("auto", True, "xterm", LiveView),
        ("auto", True, "dumb", ProgressLine),
        ("auto", False, "xterm", None),
        ("plain", True, "xterm", ProgressLine),
        ("none", True, "xterm", None),
        ("live", False, "xterm", LiveView),
    ],
)
def test_who_shows_it(
    kind: str, is_terminal: bool, term: str, shown: type | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: is_terminal)
    monkeypatch.setenv("TERM", term)
    view = progress_view(kind, "tests.shop:Shop", OPTIONS, verbose=False)
    assert type(view) is (type(None) if shown is None else shown)


def test_what_draws_and_makes_pages_is_loaded_when_it_is_needed() -> None:
    # pytest itself loads pygments.
    code = (
        "import sys, ordeal, ordeal.explore, ordeal.cli.explore\n"
        "late = {'rich', 'jinja2'}\n"
        "print((late | {'pygments'}) & set(sys.modules) or 'none')\n"
        "import _ordeal_pytest\n"
        "print(late & set(sys.modules) or 'none')"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "none\nnone\n"
