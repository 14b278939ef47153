"""What holds for every run of the package's tests and examples."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# The same examples in every run; AREAL_TEST_FULL=1 draws others, and more.
settings.register_profile("same", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("full", max_examples=5000, deadline=None, print_blob=True)
settings.load_profile("full" if os.environ.get("AREAL_TEST_FULL") == "1" else "same")

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
