"""Says at the end what the tests of clusters measured, such as how soon work was taken up again."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures of each test, which must not fail for them: other work of the machine counts in."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties if report.when == "call" else ():
            terminalreporter.write_line(f"{report.nodeid}: {name} {value}")
