"""Records as `areal bench` writes them, planted by the tests of the pages that are made of them."""


def sat_record(algorithm, lane, side, median, floor, **more):
    """Of a summed-area table on a GPU, a square of that side; `more` adds to it or stands in its place."""
    return {"what": "sat", "algorithm": algorithm, "backend": "cuda", "device": "a device", "lane": lane, "width": side, "height": side,
            "bins": 0, "batch": 1, "threads": 0, "border": "none", "time_us": {"min": median, "median": median, "max": median},
            "floor": "copy", "floor_us": floor, "fraction": floor / median, "bytes": 0, "commit": "c0ffee", **more}
