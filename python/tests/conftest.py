"""What holds for every run of the package's tests and examples."""

from __future__ import annotations

import os

import pytest

_ABSENT = ("could not import", "not installed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    # Where CI=true everything is installed, so that what is absent is a mistake: nothing would test it.
    if os.environ.get("CI", "") not in ("true", "1"):
        return
    absent = [report for report in terminalreporter.getreports("skipped") if any(word in str(report.longrepr) for word in _ABSENT)]
    for report in absent:
        terminalreporter.write_line(f"FAILED {report.nodeid}: skipped, as something is not installed")
    if absent:
        terminalreporter._session.exitstatus = pytest.ExitCode.TESTS_FAILED  # noqa: SLF001
