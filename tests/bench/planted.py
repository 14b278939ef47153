"""Records as `areal bench` writes them, for the tests of the pages made from records."""


def sat_record(algorithm, lane, side, median, floor, **more):
    """A record of a summed-area table on a GPU, a square with that side; `more` adds or replaces fields."""
    return {"what": "sat", "algorithm": algorithm, "backend": "cuda", "device": "a device", "lane": lane, "width": side, "height": side,
            "bins": 0, "batch": 1, "threads": 0, "border": "none", "time_us": {"min": median, "median": median, "max": median},
            "floor": "copy", "floor_us": floor, "fraction": floor / median, "bytes": 0, "commit": "c0ffee", **more}
