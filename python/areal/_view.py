"""areal.view: an array as a page in a notebook, on which regions answer while they are dragged."""

from __future__ import annotations

import base64
import functools
import json
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, MutableSequence
from typing import Any, NamedTuple, overload

import numpy as np

from . import _core
from ._arrays import Array, on_host
from ._display import png
from ._errors import InvalidArgument, Unavailable
from ._view_still import drawing, table

LARGEST_FILE = 1 << 22  # pixels of a page in a file
MOST_CHANNELS = 64
MOST_ASKED = 64
PERCENTS = (1, 50, 99)


class Region(NamedTuple):
    """A region on the page."""

    name: str
    x: int
    y: int
    width: int
    height: int


def page_of(source: str) -> str:
    """The page in one file, which the build made."""
    file = pathlib.Path(_core.__file__).parent / f"_view_{source}.html"
    if not file.is_file():
        raise Unavailable("areal.view: this build has no page, as Leaflet (Debian package libjs-leaflet) was missing when it was made")
    return file.read_text(encoding="utf-8")


def finite(value: Any) -> Any:
    """JSON has no NaN and no infinity."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def exact(value: Any) -> Any:
    """JavaScript's integers end at 2^53."""
    return str(value) if isinstance(value, int) and abs(value) > 1 << 53 else finite(value)


def size_of(pixel_size: float | tuple[float, float] | None) -> dict[str, Any] | None:
    """As picture.json has it."""
    if pixel_size is None:
        return None
    x, y = pixel_size if isinstance(pixel_size, tuple | list) else (pixel_size, pixel_size)
    if not (0 < x < np.inf and 0 < y < np.inf):
        raise InvalidArgument(f"pixel_size {pixel_size!r}: must be lengths above 0, in micrometres")
    return {"x": float(x), "y": float(y), "unit": "µm"}


def planes_of(x: Any, axes: str, channel: int | None) -> tuple[Array, list[str], Array | None]:
    """The channels in C order, their names, and the luma of three channels."""
    array = np.asarray(on_host(x))
    letters = axes or {2: "HW", 3: "HWC"}.get(array.ndim, "")
    if letters not in ("HW", "HWC", "CHW") or len(letters) != array.ndim:
        raise InvalidArgument(f"axes {axes or 'of an array of ' + str(array.ndim) + ' dimensions'}: may be HW, HWC or CHW")
    planes = array[np.newaxis] if letters == "HW" else np.moveaxis(array, letters.index("C"), 0)
    if not 1 <= len(planes) <= MOST_CHANNELS:
        raise InvalidArgument(f"array of {len(planes)} channels: a page shows 1 to {MOST_CHANNELS}")
    if channel is not None:
        if not 0 <= channel < len(planes):
            raise InvalidArgument(f"channel {channel}: the array has {len(planes)}")
        return np.ascontiguousarray(planes[channel : channel + 1]), [f"channel {channel}"], None
    planes = np.ascontiguousarray(planes)
    if len(planes) != 3:
        return planes, ["gray"] if len(planes) == 1 else [f"channel {c}" for c in range(len(planes))], None
    if planes.dtype != np.uint8:  # the luma of other types would need rounding rules of their own
        return planes, [f"channel {c}" for c in range(3)], None
    red, green, blue = planes.astype(np.int32)
    return planes, ["red", "green", "blue"], ((299 * red + 587 * green + 114 * blue + 500) // 1000).astype(np.uint8)


class Viewer:
    """Answers the page's messages (docs/view.md, "Messages"), without a notebook."""

    def __init__(self, x: Any, *, bins: int, range: tuple[float, float] | None, axes: str, channel: int | None, memory: int, pixel_size: float | tuple[float, float] | None = None) -> None:
        self._array, self._axes, self._channel, self._options = x, axes, channel, (bins, range, memory)
        self._pixel_size = size_of(pixel_size)
        self.read()
        self.regions = _core.ViewRegions(self.picture.width, self.picture.height)
        self.broadcast: Callable[[dict[str, Any]], None] = lambda message: None

    def read(self) -> None:
        """Takes the array's pixels as they are now."""
        self._planes, names, self._luma = planes_of(self._array, self._axes, self._channel)
        self.picture = _core.view_picture(self._planes, names, self._luma, *self._options)

    def facts(self, name: str = "array") -> dict[str, Any]:
        """picture.json."""
        picture = self.picture
        return {"name": name, "kind": "picture", "width": picture.width, "height": picture.height, "type": picture.type, "channels": picture.names, "colour": picture.colour,
                "levels": picture.levels, "pixel_size": self._pixel_size, "range": picture.range, "drawn": picture.drawn, "bins": picture.bins, "generation": 1, "page": False, "notes": []}

    def told(self) -> dict[str, Any]:
        return {"regions": [{"id": i, "name": name, "box": box} for i, name, box in self.regions.all()], "revision": self.regions.revision}

    def answers(self, channel: int, boxes: Iterable[Iterable[int]], reference: int | None = None) -> list[dict[str, Any]]:
        found = []
        tuples: Any = self.picture.answers(channel, [list(box) for box in boxes], reference)
        for (pixels, nan, total, mean, std, least, most, under, over, percentiles, histogram), distances in tuples:
            answer = {"pixels": pixels, "nan": nan, "sum": None if nan else total, "mean": finite(mean), "std": finite(std), "min": exact(least), "max": exact(most),
                      "percentiles": [[percent, finite(value)] for percent, value in zip(PERCENTS, percentiles, strict=True)], "histogram": histogram, "under": under, "over": over}
            if distances is not None:
                answer["distances"] = dict(zip(_core.view_measures(), distances, strict=True))
            found.append(answer)
        return found

    def set(self, id: int, name: str, box: Iterable[int]) -> int:
        known = self.regions.set(id, name, list(box))
        self.broadcast(self.told())
        return known

    def remove(self, id: int) -> None:
        self.regions.remove(id)
        self.broadcast(self.told())

    def handle(self, message: Any) -> tuple[dict[str, Any], list[bytes]]:
        """A reply with the message's n, and its buffers. Wrong messages give a sentence."""
        n = message.get("n") if isinstance(message, dict) else None
        try:
            if not isinstance(n, int):
                raise InvalidArgument("n: must be a number")
            reply, buffers = self._reply(message)
        except (InvalidArgument, TypeError, KeyError, ValueError) as error:
            text = str(error) if isinstance(error, InvalidArgument) else f"the message is wrong: {type(error).__name__}"
            return {"n": n, "error": text.splitlines()[0]}, []
        return {"n": n, **reply}, buffers

    def _reply(self, message: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        what = message.get("do")
        if what == "picture":
            return {"picture": self.facts()}, []
        if what == "tile":
            return {}, [self.picture.tile(message["channel"], message["level"], message["column"], message["row"])]
        if what == "ask":
            regions = message["regions"]
            if len(regions) > MOST_ASKED:
                raise InvalidArgument(f"regions: must be a list of at most {MOST_ASKED}")
            ids = [region[0] for region in regions]
            reference, channel = message.get("reference"), message.get("channel", 0)
            answers = self.answers(channel, [region[1:] for region in regions], None if reference is None else ids.index(reference))
            return {"final": message.get("final", False), "channel": channel, "range": self.picture.range, "regions": [{"id": i, **answer} for i, answer in zip(ids, answers, strict=True)]}, []
        if what == "set":
            return {"id": self.set(message.get("id") or 0, message.get("name") or "", message["box"])}, []
        if what == "remove":
            self.remove(message["id"])
            return {"id": message["id"]}, []
        if what == "range":
            low, high = (float(end) for end in message["range"])
            self.picture.set_range((low, high))
            self._options = (self._options[0], (low, high), self._options[2])  # also after `refresh`
            self.broadcast({"range": [low, high]})
            return {}, []
        raise InvalidArgument(f"do {what!r}: may be picture, tile, ask, set, remove or range")

    def still(self) -> tuple[bytes, str]:
        """A PNG with the regions, and a table of them; of the whole array without any."""
        regions = self.regions.all()
        whole = ("array", [0, 0, self.picture.width, self.picture.height])
        named = [(name or str(i), box) for i, name, box in regions] or [whole]
        return png(drawing(self._planes, self.picture.drawn, [(i, box) for i, _, box in regions])), table([name for name, _ in named], self.answers(0, [box for _, box in named]))

    def page(self, name: str) -> str:
        """The page in one file."""
        picture = self.picture
        if picture.width * picture.height > LARGEST_FILE:
            raise InvalidArgument(f"array of {picture.width}x{picture.height} pixels: a page in a file has at most {LARGEST_FILE}")
        planes = list(self._planes) if self._luma is None else [self._luma, *self._planes]
        stored = "32f" if picture.type == "16f" else picture.type
        pixels = [base64.b64encode(np.ascontiguousarray(plane, np.float32 if picture.type == "16f" else None).tobytes()).decode() for plane in planes]
        data = {"picture": self.facts(name), "regions": self.told()["regions"], "edges": picture.edges, "stored": stored, "planes": pixels}
        text = json.dumps(data).replace("<", "\\u003c")
        return page_of("embedded").replace("<!--DATA-->", f'<script type="application/json" id="picture-data">{text}</script>', 1)


class Regions(MutableSequence[Region]):
    """The regions on the page, in the order in which they were made. Changes show at once, here and there."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer

    def _all(self) -> list[tuple[int, Region]]:
        return [(i, Region(name, *box)) for i, name, box in self._viewer.regions.all()]

    @staticmethod
    def _region(value: Any) -> tuple[str, list[int]]:
        items = tuple(value)
        name, box = (items[0], items[1:]) if len(items) == 5 else ("", items)
        if len(box) != 4 or not isinstance(name, str):
            raise InvalidArgument(f"region {value!r}: must be (x, y, width, height) or (name, x, y, width, height)")
        return name, [int(side) for side in box]

    @overload
    def __getitem__(self, index: int) -> Region: ...
    @overload
    def __getitem__(self, index: slice) -> list[Region]: ...
    def __getitem__(self, index: int | slice) -> Region | list[Region]:
        found = [region for _, region in self._all()]
        return found[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            raise InvalidArgument("regions: change one at a time")
        name, box = self._region(value)
        self._viewer.set(self._all()[index][0], name, box)

    def __delitem__(self, index: Any) -> None:
        ids = [i for i, _ in self._all()][index]
        for one in ids if isinstance(index, slice) else [ids]:
            self._viewer.remove(one)

    def insert(self, index: int, value: Any) -> None:
        """Only at the end: ids on the page rise."""
        if index < len(self):
            raise InvalidArgument("regions: new ones come last; use append")
        name, box = self._region(value)
        self._viewer.set(0, name, box)

    def __len__(self) -> int:
        return len(self._viewer.regions.all())

    def __iter__(self) -> Iterator[Region]:
        return iter([region for _, region in self._all()])

    def __repr__(self) -> str:
        return repr(list(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """N x 4: x, y, width, height."""
        return np.array([region[1:] for region in self], dtype or np.int64).reshape(-1, 4)


BRIDGE = """
export default {
  render({model, el}) {
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.title = 'areal view';
    frame.style.cssText = `width: 100%; height: ${model.get('height')}px; border: 1px solid #8886; border-radius: 8px`;
    let port = null;
    const greet = ({source}) => {
      if (source !== frame.contentWindow) return;
      const channel = new MessageChannel();
      port = channel.port1;
      port.onmessage = ({data}) => model.send(data);
      frame.contentWindow.postMessage('areal', '*', [channel.port2]);
      model.send({do: 'regions', n: 0});
    };
    const take = (message, buffers) => {
      if (message.reload) return void (frame.srcdoc = page);
      const data = buffers?.[0];
      const buffer = data ? new Uint8Array(data.buffer ?? data, data.byteOffset ?? 0, data.byteLength).slice().buffer : null;
      port?.postMessage({message, buffer});
    };
    addEventListener('message', greet);
    model.on('msg:custom', take);
    frame.srcdoc = page;
    el.append(frame);
    return () => {
      removeEventListener('message', greet);
      model.off('msg:custom', take);
    };
  },
};
"""


@functools.cache
def widget_class() -> Any:
    """Made at the first call: the package does without anywidget."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise Unavailable("areal.view needs anywidget: pip install 'areal[view]'") from None

    class View(anywidget.AnyWidget):
        _esm = f"const page = {json.dumps(page_of('widget'))};\n{BRIDGE}"
        height = traitlets.Int(480).tag(sync=True)

        def __init__(self, x: Any, **options: Any) -> None:
            super().__init__(height=options.pop("height"))
            self._calls: list[Callable[[Any], None]] = []
            self._viewer = Viewer(x, **options)
            self._viewer.broadcast = self._told
            self.regions = Regions(self._viewer)
            self.on_msg(self._take)

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            """The widget; for notebooks without a kernel a picture and a table."""
            bundle = super()._repr_mimebundle_(**kwargs)
            if bundle is None:  # no front end shows widgets
                return None
            data, *metadata = bundle if isinstance(bundle, tuple) else (bundle,)
            picture, text = self._viewer.still()
            data = {**data, "image/png": base64.b64encode(picture).decode(), "text/plain": text}
            return (data, *metadata) if metadata else data

        def _told(self, message: dict[str, Any]) -> None:
            self.send(message)
            if "regions" in message:
                for call in self._calls:
                    call(self)

        def _take(self, _: Any, message: Any, __: Any) -> None:
            if isinstance(message, dict) and message.get("do") == "regions":  # a page that begins
                self.send(self._viewer.told())
                return
            reply, buffers = self._viewer.handle(message)
            self.send(reply, buffers)

        def stats(self, channel: int = 0) -> list[dict[str, Any]]:
            """The page's statistics of each region, by name: pixels, nan, sum, mean, std, min, max, under, over. Integers' sums are ints."""
            found = []
            for region, answer in zip(self.regions, self._answers(channel), strict=True):
                total = answer["sum"]
                number = None if total is None else float(total) if self._viewer.picture.type.endswith("f") else int(total)
                kept = {key: answer[key] for key in ("pixels", "nan", "mean", "std", "under", "over")}
                ends = {key: int(answer[key]) if isinstance(answer[key], str) else answer[key] for key in ("min", "max")}
                found.append({"name": region.name, **kept, **ends, "sum": number})
            return found

        def histograms(self, channel: int = 0) -> Array:
            """Regions x bins."""
            return np.array([answer["histogram"] for answer in self._answers(channel)], np.uint64).reshape(-1, self._viewer.picture.bins)

        def _answers(self, channel: int) -> list[dict[str, Any]]:
            return self._viewer.answers(channel, [region[1:] for region in self.regions])

        def refresh(self) -> None:
            """Shows the array's pixels after they have changed in place."""
            self._viewer.read()
            self.send({"reload": True})

        def on_change(self, call: Callable[[Any], None]) -> None:
            """Calls ``call(view)`` after each change of the regions, here or on the page."""
            self._calls.append(call)

        def save(self, file: str | os.PathLike[str]) -> None:
            """Saves the page as one HTML file with the pixels, at most 4 MP."""
            pathlib.Path(file).write_text(self._viewer.page(pathlib.Path(file).stem), encoding="utf-8")

    return View


def view(x: Any, *, regions: Iterable[Any] = (), bins: int = 256, range: tuple[float, float] | None = None, axes: str = "", channel: int | None = None, pixel_size: float | tuple[float, float] | None = None,
         height: int = 480) -> Any:
    """A widget with the page of ``areal view``: drag rectangles over an array, and read their statistics and histograms.

    ``x``: an array on the host with axes HW, HWC or CHW. ``regions``: (x, y, width, height) or (name, x, y, width, height) to begin with. ``bins`` and
    ``range`` of the histograms: see ``areal view --help``. ``pixel_size``: width and height of a pixel in micrometres, or one number. ``height`` of the page in CSS pixels. Needs the extra ``areal[view]``.

    The result has ``regions`` (a list of Region, live both ways), ``stats()``, ``histograms()``, ``on_change(f)``, ``refresh()`` and ``save(file)``.
    """
    shown = widget_class()(x, bins=bins, range=range, axes=axes, channel=channel, pixel_size=pixel_size, memory=1 << 29, height=height)
    for region in regions:
        shown.regions.append(region)
    return shown
