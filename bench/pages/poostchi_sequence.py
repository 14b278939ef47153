"""Figures 12 to 15 of Poostchi 2017 from the records of `areal bench sequence --figure poostchi`; measured_poostchi.py shows them."""

import plot
import rules
from figure_page import Records, absent, number, ratio, size_text, spread, table

PAPERS = ("cw-b", "cw-sts", "cw-tis", "wf-tis")
STAGES = ("read", "up", "initialise", "scan", "down")
TWO = {"slots": 2, "order": "breadth"}


class Sequences:
    def __init__(self, newest):
        path, rows = newest("sequence-poostchi")
        self.records = Records(path, [row for row in rows if row["what"] == "transfer" or "stages_us" in row], "poostchi")
        rows = self.rows = [row for row in self.records.rows if row["what"] == "sequence"]
        self.default = next((row["algorithm"] for row in reversed(rows) if row["algorithm"] not in PAPERS), None)
        staged = [row for row in rows if row["order"] == "stages"]
        self.size = (staged[0]["width"], staged[0]["height"]) if staged else None

    def __bool__(self):
        return bool(self.rows)

    def find(self, algorithm, case, slots, order):
        (width, height), bins = case
        return self.records.find(what="sequence", algorithm=algorithm, width=width, height=height, bins=bins, slots=slots, order=order)

    def time(self, *like):
        row = self.find(*like)
        return row["time_us"]["median"] if row else None

    def copy(self, which, case):
        (width, height), bins = case
        return self.records.time(what="transfer", algorithm=which, width=width, height=height, bins=bins)

    def running(self):
        """Microseconds of a frame with two slots, as in the paper, by algorithm and case."""
        return {(row["algorithm"], ((row["width"], row["height"]), row["bins"])): row["time_us"]["median"]
                for row in self.rows if row["slots"] == 2 and row["order"] == "breadth"}


def total(row):
    return sum(row["stages_us"].values())


def possible(row):
    """The most that an overlap can gain over this run of one slot: only the longest stage remains."""
    return row["time_us"]["median"] / longest(row)


def rest(row):
    """The part of a frame in one slot that no stage times."""
    return row["time_us"]["median"] - total(row)


def longest(row):
    """The longest of the stages that can overlap: reading, the two directions of the link, the kernels."""
    stages = row["stages_us"]
    return max(stages["read"], stages["up"], stages["initialise"] + stages["scan"], stages["down"])


def cases_of(rows):
    return list(dict.fromkeys(((row["width"], row["height"]), row["bins"]) for row in rows))


def stages(s):
    rows = []
    for row in s.rows:
        if row["order"] == "stages":
            rows.append([f"`{row['algorithm']}`", *(number(row["stages_us"][stage]) if row["stages_us"][stage] else "" for stage in STAGES),
                         number(rest(row)), number(row["time_us"]["median"]), f"{possible(row):.2f}"])
    return table(["algorithm", *STAGES, "rest", "frame", "possible gain"], rows)


def gains(s):
    """Figure 13: microseconds of a frame, and the gain over one slot in brackets."""
    overlapped = [row for row in s.rows if (row["width"], row["height"]) == s.size and row["order"] == "breadth"]
    slots, rows = sorted({row["slots"] for row in overlapped}), []
    for algorithm in dict.fromkeys(row["algorithm"] for row in overlapped):
        for case in sorted(cases_of(overlapped), key=lambda case: case[1]):
            one = s.find(algorithm, case, 1, "breadth")
            if not one:
                continue
            alone = one["time_us"]["median"]
            cell = lambda time: "" if time is None else f"{number(time)} ({alone / time:.2f})"
            rows.append([f"`{algorithm}`", str(case[1]), number(alone), *(cell(s.time(algorithm, case, n, "breadth")) for n in slots if n != 1),
                         cell(s.time(algorithm, case, 4, "ring")), f"{possible(one):.2f}", one["floor"]])
    return table(["algorithm", "bins", "one slot", *(f"{n} slots" for n in slots if n != 1), "`HistogramSequence`", "possible gain", "longest stage"], rows)


def few_frames(row, other):
    """Why two slots are faster than the longest stage of one."""
    return (f"These runs of `{row['algorithm']}` have {row['frames']} frames in one slot and {other['frames']} in two, the first {2 * row['slots']} and {2 * other['slots']} not timed. "
            "The times of so few frames vary by more than this difference.")


def frames(s, cases):
    second, rows, notes = lambda time: number(ratio(1e6, time)), [], rules.Notes()

    def two_slots(one, two):
        text = second(two and two["time_us"]["median"])
        above = two and two["time_us"]["median"] < longest(one) and text != second(longest(one)) and two["frames"] <= 8
        return text + (notes.mark(few_frames(one, two)) if above else "")

    for algorithm in [*PAPERS, *([s.default] if s.default else [])]:
        for case in cases:
            if one := s.find(algorithm, case, 1, "breadth"):
                rows.append([f"`{algorithm}`", size_text(case[0]), str(case[1]), second(one["time_us"]["median"]), two_slots(one, s.find(algorithm, case, 2, "breadth")),
                             second(s.time(algorithm, case, 4, "ring")) if algorithm == s.default else "", second(longest(one))])
    return table(["algorithm", "size", "bins", "one slot", "two slots", "`HistogramSequence`", "bound"], rows) + notes.lines()


def doubled(s, cases):
    """A sentence about the cases of Figure 15 in which two slots gain two or more."""
    found = []
    for algorithm in [*PAPERS, *([s.default] if s.default else [])]:
        for case in cases:
            one, two = s.find(algorithm, case, 1, "breadth"), s.find(algorithm, case, 2, "breadth")
            if one and two and rules.over(one, two) >= 2:
                found.append(f"`{algorithm}` at {size_text(case[0])} with {case[1]} bins {rules.over(one, two):.2f} of {possible(one):.2f}")
    return (f" Two slots gain two or more, of the possible gain, with {'; '.join(found)}: kernels, link and the host's work take about as long, and two frames are under way while "
            "the host reads a third.") if found else ""


def pictures(newest):
    """Figures 12 and 14: when the stages ran, an algorithm's one slot and two over the same time."""
    s = Sequences(newest)
    drawn = [(row, timeline) for row in s.rows for timeline in row.get("timelines", ()) if timeline["spans"]]
    begin_of = lambda spans: min(span[3] for span in spans)
    length = {}
    for row, timeline in drawn:
        spans = timeline["spans"]
        length[row["algorithm"]] = max(length.get(row["algorithm"], 0), max(span[4] for span in spans) - begin_of(spans))
    parts = []
    for row, timeline in drawn:
        slots, spans = timeline["slots"], timeline["spans"]
        bars = [(0 if stage == "read" else slot + 1, STAGES.index(stage), f"{stage}, frame {frame}", begin - begin_of(spans), end - begin_of(spans))
                for stage, slot, frame, begin, end in spans]
        parts.append(plot.Timeline(f"{row['algorithm']}, {size_text((row['width'], row['height']))}, {row['bins']} bins, {slots} slot{'s' if slots > 1 else ''}",
                                   ["disk", *(f"slot {slot}" for slot in range(slots))], STAGES, bars, length[row["algorithm"]]))
    return {f"bench/results/{s.records.path.stem}.svg": plot.timelines(parts)} if parts else {}


def lines(s):
    if not s:
        return ["Figures 12 to 15: not measured yet."]
    figure_15 = [case for case in cases_of(row for row in s.rows if row["order"] == "breadth") if case[0] != s.size]
    out = ["Figures 12 to 15, from running pipelines: " + s.records.source()[0], *s.records.source()[1:]]
    if s.size:
        main = next(row for row in s.rows if row["order"] == "stages")
        gained = [ratio(s.time(row["algorithm"], (s.size, row["bins"]), 1, "breadth"), row["time_us"]["median"]) for row in s.rows
                  if (row["width"], row["height"]) == s.size and row["order"] == "breadth" and row["slots"] == 2]
        most = [possible(row) for row in s.rows
                if (row["width"], row["height"]) == s.size and row["order"] == "breadth" and row["slots"] == 1]
        bound_by = [row["floor"] for row in s.rows if (row["width"], row["height"]) == s.size and row["order"] == "breadth" and row["slots"] == 1]
        out += ["", f"Figures 12 and 14, {size_text(s.size)}, {main['bins']} bins: microseconds of a frame's stages in one slot. The rest is the host's work "
                "between them, which no stage times: it queues, waits, and checks the tensor before it reads the next frame. The possible gain is the frame over its longest stage; "
                "initialisation and scan are one stage, as both need the multiprocessors.", "", *stages(s),
                "", f"Figure 13, {size_text(s.size)}: microseconds of a frame, and in brackets the gain over one slot.", "", *gains(s), "",
                f"Two slots gain {spread(gained) or '-'} (the paper: 2 with 16 bins, nothing with 128), where {spread(most)} would be possible. "
                f"The link is the longest stage in {bound_by.count('link')} of {len(bound_by)} cases: its copies alone take most of a frame, and "
                "an overlap can hide only shorter stages."]
    out += ["", "Figure 15: frames a second. The bound is 1 / the longest stage in one slot. The paper's, in 4.5, adds the copies up and down, which this link carries at the same time."
            + doubled(s, figure_15), "", *frames(s, figure_15)]
    expected = [(f"`{algorithm}` of {size_text(case[0])}, {case[1]} bins in {slots} slot{'s' if slots > 1 else ''}",
                 dict(what="sequence", algorithm=algorithm, width=case[0][0], height=case[0][1], bins=case[1], slots=slots, order="breadth"))
                for case in figure_15 for algorithm in PAPERS for slots in (1, 2)]
    return out + absent(expected, s.records)
