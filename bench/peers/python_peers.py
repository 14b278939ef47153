"""NumPy and scikit-image as peers of `areal bench`: prints a JSON list of {name, version, time_us: [..]}.

usage: python_peers.py WIDTH HEIGHT REPETITIONS
"""

import json
import sys
import time


def timed(run, repetitions):
    run()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e6)
    return times


def main():
    width, height, repetitions = (int(text) for text in sys.argv[1:4])
    rows = []
    try:
        import numpy
    except ImportError:
        print("[]")
        return
    image = numpy.random.default_rng(1).integers(0, 256, (height, width), dtype=numpy.uint8)
    along = numpy.empty((height, width), numpy.uint32)
    table = numpy.empty((height, width), numpy.uint32)

    def cumsums():
        numpy.cumsum(image, axis=1, dtype=numpy.uint32, out=along)
        numpy.cumsum(along, axis=0, out=table)

    rows.append({"name": "numpy.cumsum twice", "version": numpy.__version__, "time_us": timed(cumsums, repetitions)})
    try:
        import skimage
        from skimage.transform import integral_image
    except ImportError:
        pass
    else:
        rows.append(
            {
                "name": "skimage.transform.integral_image",
                "version": skimage.__version__,
                "time_us": timed(lambda: integral_image(image), repetitions),
            }
        )
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
