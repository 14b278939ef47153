"""The part of docs/notes/scoreboard.md about calls from Python: bench/python_peers.py and bench/python_device_peers.py write the records."""

import rules

CASES = "python-peers"


def interval(row):
    """The median and, if the record has it, its 95 % interval."""
    words = rules.interval(row["time_us"], "{:.1f}".format)
    return f"{row['time_us']['median']:.1f}" + (f" ({words})" if words else "")


def lines(found):
    """The section for the newest records, {(machine, cases): (path, records)}; empty without records."""
    files = [value for (_, cases), value in sorted(found.items()) if cases == CASES]
    made = []
    for path, records in files:
        ours = [row for row in records if row["algorithm"] == "areal"]
        peers = {(row["call"], row["lane"], row["width"], row["height"], row["algorithm"]): row for row in records if row["algorithm"] != "areal"}
        devices = ", ".join(dict.fromkeys(row["device"] for row in ours))
        threads = "".join(f", {row['threads']} threads" for row in ours[:1] if row["threads"])
        commits = ", ".join(dict.fromkeys(row["commit"] for row in ours))
        made += ["", f"`bench/results/{path.name}`, commit {commits}; {devices}{threads}:", "",
                 "| instead of | types | size | areal, us | peer | us | times as fast | target |", "| --- | --- | --- | --- | --- | --- | --- | --- |"]
        for row in ours:
            peer = peers[row["call"], row["lane"], row["width"], row["height"], row["peer"]]
            over = rules.over(peer, row)
            ratio = f"{over:.2f}" if over < 100 else f"{over:.0f}"
            made.append(f"| {row['call']} | {row['lane']} | {row['width']}x{row['height']} | {interval(row)} | {row['peer']} | "
                        f"{interval(peer)} | {ratio if over >= row['at_least'] else f'**{ratio}**'} | {row['at_least']:g} |")
    return ["", "## From Python", "", "Medians of whole calls, with the same number of threads; results are checked ([bench/python_peers.py](../../bench/python_peers.py)). Records with intervals are of rounds of random "
            "order with the library that they replace and a copy of the answer; in older ones calls of both sides alternate. Times on a GPU are those on its stream.", *made] if made else []
