"""NumPy and scikit-image as peers of `areal bench`, in rounds of random order with areal's own table and a copy, the floor, all on one thread. Prints a
JSON list of {name, version, time_us: [..], areal_us: [..], floor_us: [..]}; areal_us is missing without areal's Python package.

usage: python_peers.py WIDTH HEIGHT ROUNDS
"""

import json
import sys
import time

from rounds import time_rounds


def main():
    width, height, rounds = (int(text) for text in sys.argv[1:4])
    try:
        import numpy
    except ImportError:
        print("[]")
        return
    image = numpy.random.default_rng(1).integers(0, 256, (height, width), dtype=numpy.uint8)
    along, table, own, copied = (numpy.empty((height, width), numpy.uint32) for _ in range(4))

    def cumsums():
        numpy.cumsum(image, axis=1, dtype=numpy.uint32, out=along)
        numpy.cumsum(along, axis=0, out=table)

    runs = {"numpy.cumsum twice": cumsums, "floor": lambda: numpy.copyto(copied, image)}
    versions = {"numpy.cumsum twice": numpy.__version__}
    try:
        import skimage
        from skimage.transform import integral_image
    except ImportError:
        pass
    else:
        name = "skimage.transform.integral_image"
        runs[name], versions[name] = lambda: integral_image(image), skimage.__version__
    try:
        import areal
    except ImportError:
        pass
    else:
        plan = areal.SatPlan(image.shape, image.dtype, border="none", table_dtype="uint32", backend="cpu", threads=1)
        runs["areal"] = lambda: plan(image, out=own)

    calls = list(runs.values())

    def once(i):
        start = time.perf_counter()
        calls[i]()
        return (time.perf_counter() - start) * 1e6

    times = dict(zip(runs, time_rounds(len(calls), rounds, 1, once)))
    if "areal" in runs and not (own == table).all():
        sys.exit("python_peers.py: areal's table is not NumPy's")
    common = {f"{name}_us": times[name] for name in ("areal", "floor") if name in times}
    print(json.dumps([{"name": name, "version": version, "time_us": times[name], **common} for name, version in versions.items()]))


if __name__ == "__main__":
    main()
