"""The measured part of docs/algorithms/poostchi-2017.md; report.py calls it."""

import math

import plot
import poostchi_cluster
import poostchi_sequence
import rules
from figure_page import Records, absent, answers, number, ratio, size_text, spread, table

PAGE = "docs/algorithms/poostchi-2017.md"
PAPERS = {"cw-b": 0, "cw-sts": 0, "cw-tis": 64, "wf-tis": 64}  # with the tile, if any: the paper's best
TILES = {16: 256, 32: 512, 64: 512}  # with the default number of threads
BLOCKS = {16: (64, 128, 256), 32: (128, 256, 512, 1024), 64: (128, 256, 512, 1024)}  # Figures 9 and 10
PHASES = ("initialisation", "horizontal", "transpose", "vertical", "wave-front", "last transpose", "own")
BROKEN_DOWN = ((512, 512), (1024, 1024))  # Figure 8
MOST_CPU = 2048 * 2048  # pixels of the paper's largest image on the CPU


class Measured:
    """The records, by case and by figure. A case is a size and a number of bins."""

    def __init__(self, records, running):
        self.records = records
        self.running = running
        self.default = records.default(PAPERS)
        self.shown = [*PAPERS, *([self.default] if self.default else [])]
        cases = list(dict.fromkeys(((row["width"], row["height"]), row["bins"]) for row in records.rows))
        most = lambda part: max((case[part] for case in cases), key=lambda one: sum(case[part] == one for case in cases))
        self.size, self.bins = most(0), most(1)
        self.by_size = [case for case in cases if case[1] == self.bins]
        self.by_bins = sorted((case for case in cases if case[0] == self.size), key=lambda case: case[1])
        self.cases = cases

    def like(self, case, **more):
        return {"width": case[0][0], "height": case[0][1], "bins": case[1], **more}

    def tensor(self, algorithm, tile=None, threads=None):
        tile = PAPERS.get(algorithm, 0) if tile is None else tile
        block = {"tile": tile, "tile_threads": threads or TILES[tile]} if tile else {}
        return {"what": "histogram", "backend": "cuda", "algorithm": algorithm, **block}

    def time(self, algorithm, case, tile=None, threads=None):
        return self.records.time(**self.like(case, **self.tensor(algorithm, tile, threads)))

    def occupancy(self, algorithm, case, tile, threads):
        """The lowest occupancy of the launches that scan."""
        row = self.records.find(**self.like(case, **self.tensor(algorithm, tile, threads)))
        return min((launch["occupancy"] for launch in row.get("launches", []) if launch["phase"] != "initialisation"), default=None) if row else None

    def phases(self, algorithm, case):
        row = self.records.find(**self.like(case, **self.tensor(algorithm)))
        found = {}
        for launch in row.get("launches", []) if row else []:
            found[launch["phase"]] = found.get(launch["phase"], 0) + launch["time_us"]["median"]
        return found

    def as_printed(self, algorithm, case):
        """The time without the transpose back, which the paper's algorithms do not have."""
        execute, phases = self.time(algorithm, case), self.phases(algorithm, case)
        return execute - phases.get("last transpose", 0) if execute is not None and phases else None

    def copy(self, which, case):
        return self.records.time(**self.like(case, what="transfer", algorithm=which))

    def transfers(self, case):
        up, down = self.copy("image up", case), self.copy("tensor down", case)
        return None if up is None or down is None else up + down

    def frame(self, algorithm, case):
        """The time of a frame with two buffers, if such a pipeline was run; else the paper's bound: the longer of copies and execute."""
        if (algorithm, case) in self.running:
            return self.running[algorithm, case]
        execute, transfers = self.time(algorithm, case), self.transfers(case)
        return None if execute is None or transfers is None else max(execute, transfers)

    def on_cpu(self, case):
        """Name and measured time of the CPU's versions."""
        return {f"`{row['algorithm']}`, {row['threads']}": row["time_us"]["median"] for row in self.records.rows
                if row["what"] == "histogram" and row["backend"] == "cpu" and (row["width"], row["height"]) == case[0]
                and row["bins"] == case[1]}

    def initialised(self, case):
        """Times of the initialisation: on the device, with the image's copy up; on the host, the fastest, with the tensor's copy up."""
        device, up = self.records.time(**self.like(case, what="initialisation", algorithm="device")), self.copy("image up", case)
        host = [row["time_us"]["median"] for row in self.records.rows if row["what"] == "initialisation" and row["algorithm"] == "host"
                and (row["width"], row["height"]) == case[0] and row["bins"] == case[1]]
        tensor_up = self.copy("tensor up", case)
        return (None if device is None or up is None else device + up, None if not host or tensor_up is None else min(host) + tensor_up)


def case_text(case):
    return f"{size_text(case[0])}, {case[1]} bins"


def times(m, cases, heads):
    rows = [[f"`{algorithm}`", *(number(m.time(algorithm, case)) for case in cases)] for algorithm in m.shown]
    floors = [m.records.floor(**m.like(case, what="histogram", backend="cuda")) for case in cases]
    return table(["algorithm", *heads], [*rows, ["memset of the tensor", *map(number, floors)]])


def breakdown(m):
    lines = []
    for case in [case for case in m.by_size if case[0] in BROKEN_DOWN] or m.by_size[:1]:
        rows = []
        for algorithm in m.shown:
            if found := m.phases(algorithm, case):
                rows.append([f"`{algorithm}`", *(number(found[p]) if p in found else "" for p in PHASES), number(sum(found.values())),
                             number(m.time(algorithm, case))])
        lines += ["", f"{case_text(case)}:", "", *table(["algorithm", *PHASES, "all", "execute"], rows)]
    return lines


def blocks(m):
    """Kernels of the main case: threads of a block, occupancy and time; on tiles with the default number of threads."""
    case, rows = (m.size, m.bins), []
    for row in m.records.rows:
        if row["what"] != "histogram" or row["backend"] != "cuda" or ((row["width"], row["height"]), row["bins"]) != case:
            continue
        if row.get("tile_threads") != TILES.get(row.get("tile")):
            continue
        for launch in row.get("launches", []):
            if launch["phase"] != "initialisation" or row["algorithm"] == "cw-b":
                rows.append([f"`{row['algorithm']}`", str(row.get("tile") or ""), launch["phase"], f"`{launch['kernel']}`",
                             str(launch["launches"]), str(launch["threads"]), f"{launch['occupancy']:.2f}", number(launch["time_us"]["median"])])
    return table(["algorithm", "tile", "phase", "kernel", "launches", "threads", "occupancy", "us"], rows)


def sweep(m):
    """Figures 9 and 10: microseconds, and the occupancy in brackets, over the threads of a block on each tile."""
    case, rows = (m.size, m.bins), []
    columns = sorted({threads for block in BLOCKS.values() for threads in block})
    for algorithm in ("cw-tis", "wf-tis"):
        for tile, block in BLOCKS.items():
            cells = []
            for threads in columns:
                occupancy = m.occupancy(algorithm, case, tile, threads) if threads in block else None
                cells.append("" if threads not in block else
                             number(m.time(algorithm, case, tile, threads)) + ("" if occupancy is None else f" ({occupancy:.2f})"))
            rows.append([f"`{algorithm}`", str(tile), *cells])
    return table(["algorithm", "tile", *map(str, columns)], rows)


def best_and_worst(m):
    """The fastest and slowest blocks of `wf-tis` on each tile; only tiles for which all blocks ran."""
    case, parts = (m.size, m.bins), []
    for tile, block in BLOCKS.items():
        tried = {threads: m.time("wf-tis", case, tile, threads) for threads in block}
        if None not in tried.values():
            ends = [f"{threads}" for threads in (min(tried, key=tried.get), max(tried, key=tried.get))]
            parts.append(f"{ends[0]} and {ends[1]} on tiles of {tile}, factor {number(max(tried.values()) / min(tried.values()))}")
    return "; ".join(parts)


def tiles(m):
    rows = [[f"`{algorithm}`", str(tile), *(number(m.time(algorithm, case, tile)) for case in m.by_size)]
            for algorithm in ("cw-tis", "wf-tis") for tile in TILES]
    return table(["algorithm", "tile", *(size_text(case[0]) for case in m.by_size)], rows)


def transfers(m):
    rows = [[size_text(case[0]), number(m.copy("image up", case)), number(m.copy("tensor down", case)),
             *(number(m.time(algorithm, case)) for algorithm in m.shown)] for case in m.by_size]
    return table(["size", "image up", "tensor down", *(f"`{algorithm}`" for algorithm in m.shown)], rows)


def initialisation(m):
    rows = []
    for case in m.by_size:
        device, host = m.initialised(case)
        rows.append([size_text(case[0]), number(device), number(host), number(ratio(host, device))])
    return table(["size", "image up, on the device", "on the host, tensor up", "host / device"], rows)


def speed_ups(m, cases):
    """Times of the CPU over those of the GPU, with transfers, and without them in brackets."""
    names = list(dict.fromkeys(name for case in cases for name in m.on_cpu(case)))
    rows = []
    for algorithm in m.shown:
        for case in cases:
            cells = []
            for name in names:
                cpu = m.on_cpu(case).get(name)
                cells.append(f"{number(ratio(cpu, m.frame(algorithm, case)))} ({number(ratio(cpu, m.time(algorithm, case)))})")
            rows.append([f"`{algorithm}`", case_text(case), *cells])
    return table(["algorithm", "of", *names], rows) if names else ["Not measured."]


def frames(m):
    case = next((case for case in m.by_size if case[0] == (640, 480)), m.by_size[0])
    second = lambda time: number(ratio(1e6, time))
    rows = [[f"`{algorithm}`", second(m.frame(algorithm, case)), second(m.time(algorithm, case))]
            for algorithm in ("wf-tis", m.default) if algorithm]
    rows += [[f"CPU, {name}", "", second(time)] for name, time in m.on_cpu(case).items()]
    return [f"{case_text(case)}, one GPU and one CPU; the paper compares several of each and the Cell/B.E., for which the text gives only the numbers above:", "", *table(["", "frames a second", "without transfers"], rows)]


def questions(m):
    over = lambda a, b: spread([ratio(m.as_printed(a, case), m.as_printed(b, case)) for case in m.by_size])
    main = (m.size, m.bins)
    transposed = m.phases("cw-sts", main)
    share = ratio(transposed.get("transpose"), sum(time for phase, time in transposed.items() if phase != "last transpose"))
    others = [ratio(m.as_printed("cw-b", case), m.as_printed(algorithm, case)) for case in m.by_size for algorithm in PAPERS if algorithm != "cw-b"]
    fastest = []
    for case in m.by_size:
        tried = {tile: m.time("wf-tis", case, tile) for tile in TILES}
        if None not in tried.values():
            fastest.append(f"{min(tried, key=tried.get)} for {size_text(case[0])}")
    bound = []
    for algorithm in m.shown:
        known = [case for case in m.by_size if m.transfers(case) is not None and m.time(algorithm, case) is not None]
        if known:
            bound.append(f"`{algorithm}` {sum(m.transfers(case) > m.time(algorithm, case) for case in known)} of {len(known)}")
    initialised = spread([ratio(host, device) for device, host in map(m.initialised, m.by_size)])
    serial = spread([ratio(m.on_cpu(case).get("`serial`, 1"), m.frame("wf-tis", case)) for case in m.by_size])
    counts = [row["threads"] for row in m.records.rows if row["algorithm"] == "parallel"]
    most = max(counts, default=0)
    parallel = spread([ratio(m.on_cpu(case).get(f"`parallel`, {most}"), m.frame("wf-tis", case)) for case in m.by_bins])
    winning = []
    for case in m.cases:
        papers = [m.time(algorithm, case, tile) for algorithm, best in PAPERS.items() for tile in (TILES if best else (0,))]
        own = m.time(m.default, case) if m.default else None
        winning.append(None if own is None or None in papers else min(papers) / own)
    return ["The paper's claims (in brackets) and the measurements:", "", *answers([
        ("The time of `cw-b` over those of the others, all without the transposes back (the paper: more than 30):",
         spread(others)),
        ("The time of `cw-sts`, without its transpose back, over that of `cw-tis` (2 to 3):", over("cw-sts", "cw-tis")),
        ("The time of `cw-tis` over that of `wf-tis` (up to 1.5):", over("cw-tis", "wf-tis")),
        (f"The share of the transpose in `cw-sts`, without the transpose back, at {case_text(main)}, in per cent (20 at 512x512 x 32):",
         None if share is None else number(100 * share)),
        (f"The fastest and the slowest number of threads for `wf-tis` at {case_text(main)}, and their ratio (512 and 1024, "
         "both at full occupancy):", best_and_worst(m)),
        ("The fastest tile of `wf-tis` (64):", ", ".join(fastest)),
        ("Sizes at which the transfers take longer than the execute (all, except with `cw-b`):", ", ".join(bound)),
        ("The time of an initialisation on the host over that on the device, transfers included (the device is \"more efficient\"):", initialised),
        ("The time of `serial` over that of `wf-tis`, transfers included (about 60):", serial),
        (f"The same for `parallel` on {most} threads, over the bins of {size_text(m.size)} (8 to 30 on 16):", parallel),
        (f"The time of the paper's fastest, on its best tile, over that of areal's own `{m.default}`, both for one execute:"
         if m.default else "areal's own algorithm:", spread(winning)),
    ])]


def papers_own(m, sequences, cluster):
    """The numbers of the paper's text, and those measured in the same cases."""
    second = lambda time: None if time is None else f"{number(ratio(1e6, time))} frames/s"
    small, square, large = ((640, 480), 32), ((512, 512), 32), ((8192, 8192), 128)

    def running(case):
        cells = [f"`{name}` {second(m.running.get((name, case)))}" for name in ("wf-tis", m.default) if (name, case) in m.running]
        return ", ".join(cells) or None

    def figure_17(size, algorithm, devices):
        found = [row for row in cluster.rows("figure-17") if (row["width"], row["height"], row["bins"]) == size and row["algorithm"] == algorithm and row["devices"] == devices]
        return found[-1] if found else None

    def over_cpu(size, algorithm, threads):
        gpu, cpu = figure_17(size, "wf-tis", "cuda:0"), figure_17(size, algorithm, f"cpu:{threads}")
        return number(rules.over(cpu, gpu)) if gpu and cpu else None

    whole = figure_17((8192, 8192, 128), "wf-tis", "cuda:0")
    serial, most = m.on_cpu(small).get("`serial`, 1"), max((row["threads"] for row in m.records.rows if row["algorithm"] == "parallel"), default=0)
    hd = ((1280, 720), 16)
    one, two = (sequences.find("wf-tis", hd, slots, "breadth") for slots in (1, 2))
    by_bins = spread([ratio(m.on_cpu(case).get(f"`parallel`, {most}"), m.frame("wf-tis", case)) for case in m.by_bins])
    rows = [["frames of 640x480, 32 bins", "300.4 frames/s", "GTX Titan X", running(small)], ["frames of 512x512, 32 bins", "351 frames/s", "GTX Titan X", running(square)],
            ["the same", "135 frames/s", "Tesla K40c", running(square)],
            ["640x480, 32 bins, over one thread", "about 120", "GTX Titan X", number(ratio(serial, m.frame("wf-tis", small))) if serial else None],
            ["512x512, over 16 threads, by bins", "8 to 30", "Tesla K40c", by_bins if most == 16 else None],
            ["two slots over one, 1280x720, 16 bins", "2", "GTX 480", f"{rules.over(one, two):.2f}" if one and two else None],
            [f"{size_text(large[0])}, 128 bins (32 GiB)", "0.73 frames/s", "four GTX 480", second(whole["time_us"]["median"]) if whole else None],
            ["the same, over one thread", "153", "four GTX 480", over_cpu((8192, 8192, 128), "serial", 1)], ["the same, over 16 threads", "45", "four GTX 480", over_cpu((8192, 8192, 128), "parallel", 16)],
            ["1280x720, 128 bins, over one thread", "3", "four GTX 480", over_cpu((1280, 720, 128), "serial", 1)]]
    return ["", "The numbers of the paper's text for `wf-tis`, with copies of the tensors to the host, and ours in the same cases. Ours are of one GPU and this machine's CPU: speed-ups over another CPU are not "
            "comparable.", "", *table(["what", "paper", "on", "here"], [[what, paper, on, here or "not measured"] for what, paper, on, here in rows])]


def times_panel(m, title, cases, x_name, x_of):
    cases = sorted(cases, key=x_of)

    def cpu(algorithm, case):
        """The paper's version; with several threads the one with the most."""
        rows = [row for row in m.records.rows if row["what"] == "histogram" and row["backend"] == "cpu" and row["algorithm"] == algorithm
                and (row["width"], row["height"]) == case[0] and row["bins"] == case[1]]
        return rows[-1]["time_us"]["median"] if rows else None

    curves = {"memset": lambda case: m.records.floor(**m.like(case, what="histogram", backend="cuda"))}
    curves |= {name: lambda case, name=name: m.time(name, case) for name in m.shown}
    curves |= {"transfers": m.transfers, "CPU, serial": lambda case: cpu("serial", case), "CPU, parallel": lambda case: cpu("parallel", case)}
    return plot.Panel(title, x_name, "microseconds", [x_of(case) for case in cases],
                      [(name, {x_of(case): time(case) for case in cases}) for name, time in curves.items()])


def sweep_panel(m):
    """Figures 9 and 10: microseconds over the threads of a block."""
    case = (m.size, m.bins)
    curves = [(f"{algorithm}, tile {tile}", {threads: m.time(algorithm, case, tile, threads) for threads in block})
              for algorithm in ("cw-tis", "wf-tis") for tile, block in BLOCKS.items()]
    return plot.Panel(f"{case_text(case)}, by blocks", "threads of a block", "microseconds of an execute",
                      sorted({threads for block in BLOCKS.values() for threads in block}), curves, bound=False)


def pictures(newest):
    path, rows = newest("histogram-poostchi")
    records, made = Records(path, rows, "poostchi"), poostchi_sequence.pictures(newest)
    if records:
        m = Measured(records, {})
        panels = [times_panel(m, f"{m.bins} bins", m.by_size, "side of a square image of as many pixels", lambda case: round(math.sqrt(case[0][0] * case[0][1]))),
                  times_panel(m, size_text(m.size), m.by_bins, "bins", lambda case: case[1]), sweep_panel(m)]
        made[f"bench/results/{path.stem}.svg"] = plot.svg("Poostchi et al. 2017, Figures 7, 9 to 11 and 19", panels)
    return made


def lines(newest):
    records = Records(*newest("histogram-poostchi"), "poostchi")
    sequences, cluster = poostchi_sequence.Sequences(newest), poostchi_cluster.Cluster(newest)
    pipelines = ["", *poostchi_sequence.lines(sequences), "", *poostchi_cluster.lines(cluster)]
    if not records:
        return ["Not measured yet.", *(pipelines if sequences or cluster else [])]
    m = Measured(records, sequences.running())
    ran = [case_text(case) for case in m.cases if ("wf-tis", case) in m.running]
    frame = "A frame's time is the longer of execute and transfers"
    if ran:
        frame = "A frame's time is that in a running pipeline of two slots" if len(ran) == len(m.cases) else \
            f"A frame's time is that in a running pipeline of two slots ({'; '.join(ran)}), else the longer of execute and transfers"
    cpus = ", ".join(dict.fromkeys(row["device"] for row in records.rows if row["backend"] == "cpu"))
    out = [*records.source(), *papers_own(m, sequences, cluster), "",
           "Each cell: microseconds of one execute. It begins with the initialisation and, for `cw-b` and `cw-sts`, ends with the transpose back. "
           f"Tiles are of 64. Figure 7, {m.bins} bins:", "", *times(m, m.by_size, [size_text(case[0]) for case in m.by_size]),
           "", f"{size_text(m.size)}, by bins:", "", *times(m, m.by_bins, [str(case[1]) for case in m.by_bins]),
           "", "Figure 8: microseconds of the launches. Events between the launches make them a little longer; `execute` is timed without them.", *breakdown(m),
           "", f"Figures 9 and 10, {case_text((m.size, m.bins))}: microseconds of one execute, over the threads of a block on each tile; in "
           "brackets the occupancy.", "", *sweep(m),
           "", "The kernels of all algorithms in that case, on tiles with the default number of threads: threads of a block, occupancy, and microseconds "
           "of the launches.", "", *blocks(m), "", f"Section 4.2.2, {m.bins} bins: microseconds by tile.", "", *tiles(m),
           "", f"Figure 11, {m.bins} bins: microseconds of the transfers, with pinned memory, and of one execute.", "", *transfers(m),
           "", "Section 3.1: microseconds of the initialisation on the device and on the host.", "", *initialisation(m),
           "", f"Figure 19: speed-up over the CPU ({cpus or 'not measured'}) in frames a second. {frame}; "
           "the speed-up without transfers is in brackets. The number after each CPU version is its threads.",
           "", *speed_ups(m, m.by_size), "", *(speed_ups(m, m.by_bins) if len(m.by_bins) > 1 else []),
           "", "Figure 20, " + frames(m)[0], *frames(m)[1:], "", *questions(m), *pipelines]
    expected = [(f"`{algorithm}`{f' on tiles of {tile}' if tile else ''} of {case_text(case)}", m.like(case, **m.tensor(algorithm, tile)))
                for case in m.cases for algorithm, best in {**PAPERS, **({m.default: 0} if m.default else {})}.items()
                for tile in (TILES if best else (0,))]
    expected += [(f"`{algorithm}` on tiles of {tile} by {threads} threads of {case_text((m.size, m.bins))}",
                  m.like((m.size, m.bins), **m.tensor(algorithm, tile, threads)))
                 for algorithm in ("cw-tis", "wf-tis") for tile, block in BLOCKS.items() for threads in block if threads != TILES[tile]]
    expected += [(f"the CPU's `serial` of {case_text(case)}", m.like(case, what="histogram", algorithm="serial"))
                 for case in m.cases if case[0][0] * case[0][1] <= MOST_CPU]
    expected += [(f"transfers of {case_text(case)}", m.like(case, what="transfer", algorithm="tensor down")) for case in m.cases]
    return out + absent(expected, records)
