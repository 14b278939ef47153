#!/usr/bin/env python3
"""Mutation testing of a small source: faults in tested code are noticed, those in untested code survive, and the source is restored.
The table of tests and the list of equivalent faults fit the tree."""

import argparse
import collections
import fnmatch
import itertools
import pathlib
import subprocess
import sys
import tempfile
import unittest

import mutate
from faults import drawn, mutants_of

TREE = pathlib.Path(__file__).resolve().parents[2]

SUBJECT = """\
template <class T>
T limited(T index, T size) {
  if (index < size) return index;
  return size - 1;
}
inline int untested(int a) {
  return a * 3;
}
"""
TEST = """\
#include "subject.hpp"
int main() { return limited<int>(4, 4) == 3 && limited<int>(2, 4) == 2 ? 0 : 1; }
"""


class Tiny(mutate.Build):
    """One test, compiled without CMake."""

    def __init__(self, folder):
        self.tree = self.folder = folder
        (folder / "tests").mkdir()
        (folder / "subject.hpp").write_text(SUBJECT)
        (folder / "subject_test.cpp").write_text(TEST)
        self.tests, self.seconds = {"subject_test": folder / "subject_test.cpp"}, {}
        self.commands = {"subject_test": [str(folder / "subject_test")]}

    def make(self, tests):
        command = ["c++", "-std=c++20", "-o", self.folder / "subject_test", self.folder / "subject_test.cpp"]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stderr if done.returncode else ""


class Planting(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="areal-mutation-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.kept = self.folder / "original.json"
        self.build = Tiny(self.folder)

    def test_notices_faults_where_a_test_runs_and_no_others(self):
        self.build.measure({"subject_test"})
        self.assertEqual(list(self.build.seconds), ["subject_test"])
        judged = collections.defaultdict(list)
        for mutant in mutants_of("subject.hpp", SUBJECT):
            with mutate.planted(self.folder, self.kept, mutant):
                self.assertNotEqual((self.folder / "subject.hpp").read_text(), SUBJECT)
                judged[self.build.judge(["subject_test"])].append(mutant.change)
            self.assertEqual((self.folder / "subject.hpp").read_text(), SUBJECT)
        self.assertEqual({how: sorted(of) for how, of in judged.items()}, {
            "subject_test: exit 1": ["- 1;  ->  - 0;", "- 1;  ->  - 2;", "if (index < size)  ->  if (!(index < size))",
                                     "index < size  ->  index <= size", "size - 1  ->  size + 1"],
            "": ["* 3;  ->  * 2;", "* 3;  ->  * 4;", "a * 3  ->  a / 3"],
        })  # fmt: skip
        self.assertFalse(self.kept.exists())

    def test_tells_a_fault_that_does_not_compile(self):
        mutant = mutate.Mutant("subject.hpp", "constant", SUBJECT.index("1;"), "1", "nothing", 4, 17, "", "")
        with mutate.planted(self.folder, self.kept, mutant):
            self.assertIsNone(self.build.judge(["subject_test"]))

    def test_tells_a_crash(self):
        (self.folder / "subject_test.cpp").write_text("int main() { __builtin_trap(); }")
        self.assertRegex(self.build.judge(["subject_test"]), "^subject_test: signal [0-9]+$")

    def test_leaves_out_a_test_that_fails_without_a_fault(self):
        (self.folder / "subject_test.cpp").write_text("int main() { return 1; }")
        self.build.measure({"subject_test"})
        self.assertEqual(self.build.tests, {})

    def test_restores_the_source_on_control_c_and_after_a_kill(self):
        mutant = mutants_of("subject.hpp", SUBJECT)[0]
        with self.assertRaises(KeyboardInterrupt), mutate.planted(self.folder, self.kept, mutant):
            raise KeyboardInterrupt
        self.assertEqual((self.folder / "subject.hpp").read_text(), SUBJECT)
        script = (
            f"import os, sys; sys.path.insert(0, {str(mutate.HERE)!r}); import mutate\n"
            f"folder, mutant = mutate.Path({str(self.folder)!r}), mutate.mutants_of('subject.hpp', {SUBJECT!r})[0]\n"
            "with mutate.planted(folder, folder / 'original.json', mutant): os._exit(1)"
        )
        subprocess.run([sys.executable, "-c", script])
        self.assertNotEqual((self.folder / "subject.hpp").read_text(), SUBJECT)
        mutate.restore(self.kept)
        self.assertEqual((self.folder / "subject.hpp").read_text(), SUBJECT)


class Faults(unittest.TestCase):
    def changes(self, text):
        return [mutant.change for mutant in mutants_of("a.cpp", text)]

    def of_body(self, text, kind):
        return [m.change for m in mutants_of("a.cpp", f"void f() {{\n{text}\n}}\n") if m.kind == kind]

    def test_leave_alone_what_is_no_code(self):
        for text in (
            "// a < 1\n", "/* a < 1\n b + 2 */\n", 'auto s = "a < 1";\n', "auto c = '1';\n", 'auto r = R"x(a < 1 " + 2)x";\n', "#include <vector>\n",
            "#define F(x) ((x) < 1 ? \\\n  2 : x - 3)\n", "template <class T>\n", "std::vector<std::pair<A, B>> v;\n", "T* const p = &a;\n",
            "T&& r = -b;\n", "bool operator<(A, B);\n", "virtual void f() = 0;\n", "static_assert(sizeof(T) <= 16);\n",
            "auto m = std::numeric_limits<T>::max();\n", "#ifdef __CUDACC__\nint a = b < 1;\n#endif\n",
        ):  # fmt: skip
            self.assertEqual(self.changes(text), [], text)

    def test_of_every_kind(self):
        for text, kind, expected in (
            ("a = b <= c;", "comparison", "b <= c  ->  b < c"),
            ("a = b == c;", "comparison", "b == c  ->  b != c"),
            ("a = b & c;", "arithmetic", "b & c  ->  b | c"),
            ("a += b;", "arithmetic", "a += b  ->  a -= b"),
            ("f(a, true);", "constant", ", true)  ->  , false)"),
            ("if (auto n = f(); n && m) g();", "condition", "if (auto n = f(); n && m)  ->  if (auto n = f(); !(n && m))"),
            ("while (f(x)) g();", "condition", "while (f(x))  ->  while (!(f(x)))"),
            ("a = std::min(b, c);", "extreme", "::min(b  ->  ::max(b"),
            ("if (a) m.sync();", "wait dropped", "m.sync();  ->  {}"),
            ("m.template wait_copies<2>();", "wait dropped", "m.template wait_copies<2>();  ->  {}"),
            ("std::scoped_lock lock(mutex_);", "wait dropped", "std::scoped_lock lock(mutex_);  ->  {}"),
            ('require(a.size() < n, "too many");', "check dropped", 'require(a.size() < n, "too many");  ->  {}'),
            ("m.put(a, x);\nm.sync();", "order", "m.put(a, x); m.sync();  ->  m.sync(); m.put(a, x);"),
            ("x += b;\nx *= c;", "order", "x += b; x *= c;  ->  x *= c; x += b;"),
            ("out.add(a);\nout.add(b);", "order", "out.add(a); out.add(b);  ->  out.add(b); out.add(a);"),
            ("a = b;\nc = a;", "order", "a = b; c = a;  ->  c = a; a = b;"),
        ):  # fmt: skip
            self.assertIn(expected, self.of_body(text, kind), text)

    def test_swap_no_statements_whose_order_is_nothing(self):
        for text in ("a = b;\nc = d;", "t.a = x;\nt.b = y;", "int a = b;\na = c;", "return a;\na = b;", "if (a) b = c;\nb = d;",
                     "x += b;\nx += c;", "f(a);\nf(b);"):
            self.assertEqual(self.of_body(text, "order"), [], text)

    def test_are_drawn_alike_for_a_seed_and_over_all_folders(self):
        found = {f"src/{folder}/a.cpp": mutants_of(f"src/{folder}/a.cpp", SUBJECT) for folder in ("cpu/sat", "cpu/query", "api")}
        lines = dict.fromkeys(found, 8)
        one, two, other = ([str(m) for m in drawn(found, lines, seed)] for seed in (1, 1, 2))
        self.assertEqual(one, two)
        self.assertNotEqual(one, other)
        self.assertEqual(sorted(one), sorted(str(m) for of in found.values() for m in of))
        self.assertEqual({m.file for m in itertools.islice(drawn(found, lines, 1), 12)}, set(found))


class Tree(unittest.TestCase):
    def test_has_the_folders_and_tests_of_the_table(self):
        tests = {source.stem for source in TREE.glob("tests/*/*_test.cpp")}
        for folder, patterns in mutate.COVERING.items():
            self.assertTrue((TREE / folder).exists(), folder)
            for pattern in patterns.split():
                self.assertTrue(any(fnmatch.fnmatch(test, pattern) for test in tests), f"{folder}: {pattern}")

    def test_has_tests_for_every_folder(self):
        for folder in sorted({source.parent.relative_to(TREE) for source in TREE.glob("src/**/*.[ch]pp")}):
            if str(folder) != "src/cuda":  # which needs a GPU
                self.assertTrue(any(f"{folder}/".startswith(f"{prefix}/") for prefix in mutate.COVERING), folder)

    def test_reads_the_list_of_equivalent_faults(self):
        text = "# a comment\n\nsrc/a.cpp\nreturn a < b;\na < b  ->  a <= b\nA sentence\nof two lines.\n"
        self.assertEqual(mutate.explained(text), {("src/a.cpp", "return a < b;", "a < b  ->  a <= b"): "A sentence of two lines."})
        with self.assertRaisesRegex(ValueError, "a sentence"):
            mutate.explained("src/a.cpp\nreturn a < b;\na < b  ->  a <= b\n")

    def test_has_the_code_of_equivalent_faults(self):
        for file, code, change in mutate.explained((mutate.HERE / "equivalent.txt").read_text()):
            self.assertTrue((TREE / file).exists(), file)
            keys = {mutate.key(mutant) for mutant in mutants_of(file, (TREE / file).read_text())}
            self.assertIn((file, code, change), keys, "equivalent.txt explains a fault that is no longer in the tree")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree")
    parser.add_argument("--build")
    parser.parse_known_args()
    unittest.main(argv=sys.argv[:1])
