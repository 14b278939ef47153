"""What areal_trace says of a paper's case: the requests of each warp, in their order."""

from collections import namedtuple

Launch = namedtuple("Launch", "kernel blocks threads shuffles")
Asked = namedtuple("Asked", "launch block warp met what array lanes elements")
Touch = namedtuple("Touch", "launch block thread element")


class Log:
    """One run. `array` of a request is a name, or "shared"; its elements are numbers in that array, one for each lane."""

    def __init__(self, data):
        self.name = data["name"]
        self.launches = [Launch(*launch) for launch in data["launches"]]
        names = [name for name, _, _ in data["arrays"]]
        self.size = {name: (width, rows) for name, width, rows in data["arrays"]}
        self.asked = [Asked(launch, block, warp, met, what, names[array] if array >= 0 else "shared",
                            [lane for lane in range(32) if lanes >> lane & 1], elements)
                      for launch, block, warp, met, what, array, lanes, elements in data["asked"]]

    def requests(self, array, what, launch=None):
        """`launch`: a number, a range of them, or None for all."""
        these = range(len(self.launches)) if launch is None else launch if isinstance(launch, range) else (launch,)
        return [asked for asked in self.asked if (asked.array, asked.what) == (array, what) and asked.launch in these]

    def touches(self, array, what, launch=None):
        """Element by element, with the thread of the block."""
        return [Touch(asked.launch, asked.block, 32 * asked.warp + lane, element)
                for asked in self.requests(array, what, launch) for lane, element in zip(asked.lanes, asked.elements)]

    def once(self, array, what, launch=None):
        """Touch by element, each of which is touched once."""
        touches = self.touches(array, what, launch)
        found = {touch.element: touch for touch in touches}
        width, rows = self.size[array]
        assert len(found) == len(touches) == width * rows, f"{self.name}: {array} not touched once each"
        return found

    def times(self, array, what):
        """How often each element is touched, all launches together."""
        counted = {}
        for touch in self.touches(array, what):
            counted[touch.element] = counted.get(touch.element, 0) + 1
        return counted

    def rectangles(self, array, what, launch=None, part=lambda touch: touch.block, rows=None):
        """By launch, part and plane of so many rows: x, y, width, height of what that part touched, all of it and nothing else."""
        width, all_rows = self.size[array]
        rows = rows or all_rows
        found = {}
        for touch in self.touches(array, what, launch):
            y, x = divmod(touch.element, width)
            found.setdefault((touch.launch, part(touch), y // rows), set()).add((x, y % rows))
        boxes = {}
        for key, places in found.items():
            x, y = min(x for x, _ in places), min(y for _, y in places)
            w, h = max(x for x, _ in places) + 1 - x, max(y for _, y in places) + 1 - y
            assert len(places) == w * h, f"{self.name}: {array} is not touched in rectangles"
            boxes[key] = (x, y, w, h)
        return boxes


def read(data):
    """All runs of a case, by name."""
    return {run["name"]: Log(run) for run in data["runs"]}
