"""Records as `areal bench` writes them, for the tests of the pages made from records."""


def sat_record(algorithm, lane, side, median, floor, **more):
    """A record of a summed-area table on a GPU, a square with that side; `more` adds or replaces fields."""
    return {"what": "sat", "algorithm": algorithm, "backend": "cuda", "device": "a device", "lane": lane, "width": side, "height": side,
            "bins": 0, "batch": 1, "threads": 0, "border": "none", "time_us": {"min": median, "median": median, "max": median, "rounds": 30},
            "floor": "copy", "floor_us": floor, "fraction": floor / median, "bytes": 0, "commit": "c0ffee", **more}


def sweep_case(lane, width, height, batch, border, times, chose, spread=0.1):
    """A case of `areal bench sat --table sweep`: `times` by algorithm; `auto` takes as long as its choice, or 100."""
    def row(name, median, **more):
        return {"algorithm": name, "median": median, "min": median, "between": [median - spread, median + spread], "rounds": 20, "launches": 1, **more}

    auto = times.get(chose, 100)
    return {"what": "sat", "algorithm": "auto", "backend": "cuda", "device": "a device", "lane": lane, "width": width, "height": height, "bins": 0,
            "batch": batch, "threads": 0, "border": border, "time_us": {"min": auto, "median": auto, "max": auto, "rounds": 30}, "floor": "copy", "floor_us": 80,
            "fraction": 80 / auto, "shown": "sweep", "bytes": 0, "commit": "c0ffee",
            "rows": [row("auto", auto, chose=chose), *(row(name, median) for name, median in times.items())]}
