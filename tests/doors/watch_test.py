#!/usr/bin/env python3
"""A watch of the doors test finds a process that sleeps or computes for ever, and not one that waits for a processor."""

import argparse
import os
import signal
import subprocess
import sys
import time
import unittest

from watch import Watch, work


class Readings:
    """What a process would do: readings of ten seconds each."""

    def __init__(self, *readings):
        self.readings, self.at = readings, 0

    def hangs(self, limit=120):
        """The reading after which the process hangs; None where it does not."""
        watch = Watch(0, limit, read=lambda pid: self.readings[self.at], clock=lambda: self.at * 10.0)
        for self.at in range(1, len(self.readings)):
            if watch.hangs():
                return self.at
        return None


class AWatch(unittest.TestCase):
    def test_finds_one_that_sleeps(self):
        self.assertEqual(Readings(*[(7, False)] * 40).hangs(), 14)

    def test_finds_one_that_computes(self):
        self.assertEqual(Readings(*[(n * 1000, True) for n in range(40)]).hangs(), 14)

    def test_finds_one_that_falls_asleep(self):
        self.assertEqual(Readings(*[(n, True) for n in range(20)], *[(19, False)] * 20).hangs(), 32)

    def test_leaves_one_that_waits_for_a_processor(self):
        self.assertIsNone(Readings(*[(0, True)] * 1000).hangs())

    def test_leaves_one_that_gets_a_hundredth_of_a_processor(self):
        self.assertIsNone(Readings(*[(n * 10, False) for n in range(1000)]).hangs())

    def test_begins_anew_at_an_answer(self):
        now, ticks = [0.0], [0]
        watch = Watch(0, 10, read=lambda pid: (ticks[0], False), clock=lambda: now[0])
        for _ in range(5):
            now[0], ticks[0] = now[0] + 9, ticks[0] + 900
            self.assertFalse(watch.hangs())
            watch.restart()
        for hangs in (False, True):  # the first reading after an answer is where the next ones measure from
            now[0] += 11
            self.assertEqual(watch.hangs(), hangs)

    def test_reads_nothing_of_one_that_answers(self):
        watch = Watch(0, read=lambda pid: self.fail("a reading"))
        watch.restart()


class AProcess(unittest.TestCase):
    """Readings of real processes, awaited without a limit of time."""

    def await_hang(self, line):
        process = subprocess.Popen(line, start_new_session=True)
        try:
            watch = Watch(process.pid, 0.3)
            while not watch.hangs():
                time.sleep(0.05)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def test_that_sleeps_is_found(self):
        self.await_hang(["sleep", "1000000"])

    def test_that_computes_is_found(self):
        self.await_hang([sys.executable, "-c", "while True: pass"])

    def test_whose_child_computes_is_found(self):
        self.await_hang(["sh", "-c", f"{sys.executable} -c 'while True: pass'; true"])

    def test_counts_the_work_of_children(self):
        child = "import time\nwhile time.process_time() < 0.2: pass\nprint(flush=True); time.sleep(1000000)"
        parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
        process = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, start_new_session=True)
        process.stdout.readline()
        self.assertGreaterEqual(work(process.pid)[0], 20)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def test_that_has_ended_does_nothing(self):
        process = subprocess.Popen(["true"])
        process.wait()
        self.assertEqual(work(process.pid), (0, False))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree")
    parser.add_argument("--build")
    parser.parse_known_args()
    unittest.main(argv=sys.argv[:1])
