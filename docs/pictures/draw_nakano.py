"""The pictures of docs/algorithms/nakano-2013.md: the prefix-sums, step by step, with what each cell holds."""

from collections import namedtuple

from svg import BLUE, DARK, GREY, PALE, Svg

CASES = ("nakano",)
WRITTEN, SUMMED = "#d5efc2", "#fde3c8"  # elements, cells of the workspace

Request = namedtuple("Request", "step thread writes cell first last")


class Run:
    """One program: requests of threads; what is read or written is the sum of the elements from `first` to `last`."""

    def __init__(self, data):
        self.name, self.n, self.k, self.levels = data["name"], data["n"], data["k"], data["levels"]
        self.requests = [Request(*request) for request in data["requests"]]
        self.steps = 1 + max(request.step for request in self.requests)

    def of_step(self, step, writes):
        return [request for request in self.requests if request.step == step and request.writes == writes]

    def holds(self):
        """What each cell holds before each step, and after the last."""
        held = [{i: (i, i) for i in range(self.n)}]
        for step in range(self.steps):
            held.append({**held[-1], **{r.cell: (r.first, r.last) for r in self.of_step(step, 1)}})
        return held

    def level(self, cell):
        return sum(cell >= first for first, _ in self.levels)

    def kind(self, step):
        """up, down or carry."""
        read, written = ({self.level(r.cell) for r in self.of_step(step, writes)} for writes in (0, 1))
        return "carry" if read == written == {0} else "up" if max(written) > min(read) else "down"

    def arrows(self, step):
        """From each cell that is read to those that the same thread writes, where its value is part of what is written."""
        return sorted({(r.cell, w.cell) for w in self.of_step(step, 1) for r in self.of_step(step, 0)
                       if r.thread == w.thread and w.first <= r.first and r.last <= w.last})


def check(runs):
    for run in runs.values():
        levels, groups = run.k.bit_length() - 1, run.n // run.k  # for powers of two
        kinds = [run.kind(step) for step in range(run.steps)]
        assert kinds == ((["up"] * levels + ["down"] * levels + ["carry"]) * groups)[:-1], f"{run.name}: the steps are {kinds}"
        assert len(run.requests) == groups * (7 * (run.k - 1) - 2 * levels) + 3 * (groups - 1), f"{run.name}: {len(run.requests)} requests"
        held = run.holds()
        assert all(held[-1][i] == (0, i) for i in range(run.n)), f"{run.name}: not the prefix-sums"
        assert len(held[-1]) == run.n + run.k - 1, f"{run.name}: the workspace is not k - 1 cells"
        for step in range(run.steps):
            for request in run.of_step(step, 0):
                assert held[step].get(request.cell) == (request.first, request.last), f"{run.name}: step {step} reads what was not there"
            sums = [r for r in run.of_step(step, 1) if sum(w == r.cell for _, w in run.arrows(step)) == 2]
            assert sums or run.kind(step) == "down", f"{run.name}: step {step} adds nothing"


def steps_picture(run, pitch, title):
    """A line before each step and after the last; a cell of a level stands where the elements that it sums up end."""
    wide, high, left, top = 40, 15, 72, 44
    svg = Svg(left + run.n * wide + 10, top + run.steps * pitch + high + 54)
    svg.text(10, 18, title, size=13)
    held, group = run.holds(), 0

    def x(cell):
        level = run.level(cell)
        if level == 0:
            return left + cell * wide
        first = run.levels[level - 1][0]
        return left + (group * run.k + ((cell - first + 1) << level) - 1) * wide

    for line in range(run.steps + 1):
        y = top + line * pitch
        read = {r.cell for r in run.of_step(line, 0)}
        written = {r.cell for r in run.of_step(line - 1, 1)}
        shown = read | written | (set(range(run.n)) if line in (0, run.steps) else set())
        assert len({x(cell) for cell in shown}) == len(shown), f"{run.name}: two cells in one place"
        for fill, cells in ((PALE, shown - written), (WRITTEN, {c for c in written if c < run.n}), (SUMMED, {c for c in written if c >= run.n})):
            svg.rects([(x(c), y, wide - 3, high) for c in sorted(cells)], fill, GREY, 0.6)
        svg.rects([(x(c), y, wide - 3, high) for c in sorted(read)], "none", BLUE, 1.6)
        svg.texts([(x(c) + wide / 2 - 1, y + high - 4, "-".join(map(str, sorted(set(held[line][c]))))) for c in sorted(shown)], size=10)
        if line < run.steps:
            svg.text(10, y + (pitch + high) / 2 + 4, f"{line + 1}: {run.kind(line)}")
            starts = {cell: x(cell) + wide / 2 - 1 for cell in read}
            group += run.kind(line) == "carry"
            svg.lines([(starts[a], y + high, x(b) + wide / 2 - 1, y + pitch - 1) for a, b in run.arrows(line)], DARK, 0.8)
    svg.legend(left, top + run.steps * pitch + high + 14, [(WRITTEN, "an element of the line, written in the step before; 0-3 is the sum of the elements 0 to 3"),
                                                           (SUMMED, f"a cell of the workspace, of which there are {run.k - 1}, written in the step before")])
    svg.rect(left + 520, top + run.steps * pitch + high + 14, 10, 10, PALE, BLUE)
    svg.text(left + 536, top + run.steps * pitch + high + 23, "read in the next step")
    return svg.done()


def pictures(runs):
    return {
        "nakano-optimal.svg": steps_picture(runs["optimal"], 40, "optimal prefix-sums of 16 elements: up the levels of sums, and down again"),
        "nakano-sequential.svg": steps_picture(runs["sequential-parallel"], 28, "sequential-parallel, groups of k = 4: one after another, in the workspace of one"),
    }


def read(data):
    runs = {run["name"]: Run(run) for run in data["runs"]}
    check(runs)
    return runs
