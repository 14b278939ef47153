"""areal.Cascade and areal.cv2.CascadeClassifier beside OpenCV 4's, over cascades made at random and OpenCV's own."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import zlib
from typing import Any

import numpy as np
import pytest

import areal
from areal import cv2 as ours


def built() -> bool:
    try:
        areal.Cascade.parse("")
    except areal.Unavailable:
        return False
    except areal.InvalidArgument:
        pass
    return True


pytestmark = pytest.mark.skipif(not built(), reason="areal was built without pugixml")
KINDS = ["haar", "tilted", "lbp"]


def made_at_random(rng: np.random.Generator, kind: str, nodes: int) -> str:
    """A cascade whose stages pass some windows of noise."""
    width, height = (int(n) for n in rng.integers(9, 20, 2))
    features = []
    while len(features) < 20:
        x, y, w, h = (int(n) for n in rng.integers((0, 0, 1, 1), (width, height, 8, 8)))
        if kind == "lbp":
            if x + 3 * w <= width and y + 3 * h <= height:
                features.append(f"<_><rect>{x} {y} {w} {h}</rect></_>")
        elif kind == "tilted":
            if x - h >= 0 and x + w <= width and y + w + h <= height:
                features.append(f"<_><rects><_>{x} {y} {w} {h} -1.</_></rects><tilted>1</tilted></_>")
        elif x + 2 * w <= width and y + h <= height:
            features.append(f"<_><rects><_>{x} {y} {2 * w} {h} -1.</_><_>{x} {y} {w} {h} 2.</_></rects></_>")
    stages = []
    for _ in range(3):
        trees = []
        for _ in range(3):
            count = int(rng.integers(1, nodes + 1))
            text = ""
            for i in range(count):  # a chain: each node's left child is the next one
                left = i + 1 if i + 1 < count else -count
                rule = " ".join(str(int(v)) for v in rng.integers(-2**31, 2**31, 8)) if kind == "lbp" else repr(float(rng.normal(0, 0.1)))
                text += f" {left if count > 1 else 0} {-i if count > 1 else -1} {int(rng.integers(20))} {rule}"
            leaves = " ".join(repr(float(v)) for v in rng.normal(0, 1, count + 1))
            trees.append(f"<_><internalNodes>{text}</internalNodes><leafValues>{leaves}</leafValues></_>")
        stages.append(f"<_><stageThreshold>{float(rng.normal(-1.5, 0.3))!r}</stageThreshold><weakClassifiers>{''.join(trees)}</weakClassifiers></_>")
    return ("<?xml version='1.0'?><opencv_storage><cascade type_id='opencv-cascade-classifier'><stageType>BOOST</stageType>"
            f"<featureType>{'LBP' if kind == 'lbp' else 'HAAR'}</featureType><height>{height}</height><width>{width}</width>"
            f"<stageParams><maxWeakCount>3</maxWeakCount></stageParams><featureParams><maxCatCount>{256 if kind == 'lbp' else 0}</maxCatCount></featureParams>"
            f"<stageNum>3</stageNum><stages>{''.join(stages)}</stages><features>{''.join(features)}</features></cascade></opencv_storage>")


def picture(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    coarse = rng.integers(0, 256, (height // 4 + 1, width // 4 + 1), np.uint8)
    return np.kron(coarse, np.ones((4, 4), np.uint8))[:height, :width] // 2 + rng.integers(0, 100, (height, width), np.uint8)


# cv2 of another version than the suite's may be needed, so that it runs in a process of its own.
PEER = """
import pathlib, sys
import numpy as np
import cv2
cv2.setNumThreads(1)
for path in sorted(pathlib.Path(sys.argv[1]).glob("given-*.npz")):
    given = np.load(path)
    cascade = cv2.CascadeClassifier(str(given["xml"]))
    boxes, counts = cascade.detectMultiScale2(given["image"], float(given["factor"]), int(given["least"]), 0, (24, 24), (200, 200))
    np.savez(path.with_name(path.name.replace("given", "found")), boxes=np.reshape(boxes, (-1, 4)), counts=np.reshape(counts, -1))
"""

def path_of_peer() -> str | None:
    """The folder of an OpenCV that has cascades: None for that of the environment."""
    try:
        import cv2  # noqa: PLC0415
        if hasattr(cv2, "CascadeClassifier"):
            return ""
    except ImportError:
        pass
    folder = pathlib.Path(__file__).parents[2] / ".venv" / "opencv4"
    return str(folder) if (folder / "cv2").is_dir() else None


def peer(folder: pathlib.Path, calls: list[tuple[str, np.ndarray, float, int]]) -> list[Any]:
    """OpenCV's boxes and counts, of an XML, an image, a scale factor and a number of neighbours."""
    found = path_of_peer()
    if found is None:
        pytest.skip("no OpenCV with CascadeClassifier is installed")
    for i, (xml, image, factor, least) in enumerate(calls):
        np.savez(folder / f"given-{i:03}.npz", xml=xml, image=image, factor=factor, least=least)
    program = f"import sys; sys.path.insert(0, {found!r})\n{PEER}" if found else PEER
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, timeout=120)  # noqa: S603
    return [np.load(folder / f"found-{i:03}.npz") for i in range(len(calls))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nodes", [1, 4])
def test_boxes_are_opencvs(kind: str, nodes: int, tmp_path: pathlib.Path) -> None:
    seed = zlib.crc32(f"{kind} {nodes}".encode())
    print(f"seed {seed}")  # noqa: T201: pytest shows it where a test fails
    rng = np.random.default_rng(seed)
    calls = []
    for i, (least, factor) in enumerate(((0, 1.1), (1, 1.05), (2, 1.3))):
        path = tmp_path / f"{i}.xml"
        path.write_text(made_at_random(rng, kind, nodes))
        calls.append((str(path), picture(rng, int(rng.integers(60, 160)), int(rng.integers(60, 200))), factor, least))
    total = 0
    for (xml, image, factor, least), want in zip(calls, peer(tmp_path, calls), strict=True):
        found = areal.Cascade(xml).detect(image, scale_factor=factor, min_neighbors=least, min_size=24, max_size=(200, 200))
        assert [list(box[:4]) for box in found] == want["boxes"].tolist()
        assert [box.neighbors for box in found] == want["counts"].tolist()
        mine, numbers = ours.CascadeClassifier(xml).detectMultiScale2(image, factor, least, 0, (24, 24), (200, 200))
        assert np.array_equal(np.reshape(mine, (-1, 4)), want["boxes"])
        assert np.array_equal(np.reshape(numbers, -1), want["counts"])
        total += len(found)
    assert total > 0


def test_opencvs_own_cascades(tmp_path: pathlib.Path) -> None:
    folder = path_of_peer()
    if folder is None:
        pytest.skip("no OpenCV with CascadeClassifier is installed")
    if folder:
        files = sorted((pathlib.Path(folder) / "cv2" / "data").glob("*.xml"))
    else:
        import cv2  # noqa: PLC0415
        files = sorted(pathlib.Path(cv2.data.haarcascades).glob("*.xml"))
    if not files:
        pytest.skip("this OpenCV has no cascades")
    data = pytest.importorskip("skimage.data")
    colour = data.astronaut()[:220, 100:330, ::-1].copy()
    calls = [(str(path), colour, 1.2, 2) for path in files]
    boxes = 0
    for path, want in zip(files, peer(tmp_path, calls), strict=True):
        found, numbers = ours.CascadeClassifier(str(path)).detectMultiScale2(colour, 1.2, 2, 0, (24, 24), (200, 200))
        assert np.array_equal(np.reshape(found, (-1, 4)), want["boxes"]), path.name
        assert np.array_equal(np.reshape(numbers, -1), want["counts"]), path.name
        boxes += len(want["boxes"])
    assert boxes > 3


@pytest.mark.sanitize
def test_arrays_however_they_lie(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(3)
    cascade = areal.Cascade.parse(made_at_random(rng, "haar", 2))
    image = picture(rng, 80, 90)
    found = cascade.detect(image, min_neighbors=0)
    assert found
    wide = np.full((80, 200), 9, np.uint8)
    wide[:, 7:97] = image
    for other in (np.asfortranarray(image), wide[:, 7:97], image[::-1].copy()[::-1], np.repeat(image, 2, 1)[:, ::2]):
        assert cascade.detect(other, min_neighbors=0) == found
    assert cascade.detect(image, min_neighbors=0, threads=1) == found
    assert cascade.detect(image[:5], min_neighbors=0) == []
    assert cascade.detect(np.zeros((0, 0), np.uint8)) == []
    assert repr(cascade).startswith("<areal.Cascade: 20 haar features in 3 stages, windows from ")
    assert (cascade.stages, cascade.features, cascade.kind) == (3, 20, "haar")
    path = tmp_path / "a.xml"
    path.write_text(made_at_random(rng, "lbp", 1))
    assert areal.Cascade(path).kind == "lbp"


@pytest.mark.sanitize
def test_refusals(tmp_path: pathlib.Path) -> None:
    rng = np.random.default_rng(4)
    text = made_at_random(rng, "haar", 1)
    cascade = areal.Cascade.parse(text)
    image = picture(rng, 60, 60)
    with pytest.raises(areal.InvalidArgument, match="image type 16u: it may be 8u"):
        cascade.detect(image.astype(np.uint16))
    with pytest.raises(areal.InvalidArgument):
        cascade.detect(np.zeros((60, 60, 3), np.uint8))
    with pytest.raises(areal.InvalidArgument, match="scale_factor 1: it may be any finite number above 1"):
        cascade.detect(image, scale_factor=1)
    with pytest.raises(areal.InvalidArgument, match="min_size 'x': it may be the width and height"):
        cascade.detect(image, min_size="x")  # type: ignore[arg-type]
    with pytest.raises(areal.InvalidArgument, match="stageType NONE: it may be BOOST"):
        areal.Cascade.parse(text.replace("BOOST", "NONE"))
    with pytest.raises(areal.IoError):
        areal.Cascade(tmp_path / "none.xml")

    assert ours.CascadeClassifier().empty()
    assert ours.CascadeClassifier(str(tmp_path / "none.xml")).empty()
    bad = tmp_path / "bad.xml"
    bad.write_text("<opencv_storage><a>")
    with pytest.raises(ours.error, match="no XML at byte"):
        ours.CascadeClassifier(str(bad))
    good = tmp_path / "good.xml"
    good.write_text(text)
    one = ours.CascadeClassifier(str(good))
    assert not one.empty()
    assert one.getOriginalWindowSize() == cascade.window
    assert one.getFeatureType() == 0
    assert not one.isOldFormatCascade()
    assert one.detectMultiScale(image[:3]) == ()
    assert one.detectMultiScale2(np.zeros((40, 40), np.uint8)) == ((), ())
    for call in (lambda: one.detectMultiScale(image, 1.0), lambda: one.detectMultiScale(image.astype(np.float32)), lambda: ours.CascadeClassifier().detectMultiScale(image)):
        with pytest.raises(ours.error) as caught:
            call()
        assert caught.value.code == -215
    for call in (lambda: one.detectMultiScale(image, minSize=5), lambda: one.detectMultiScale(image, minSize=(5.5, 6)), lambda: one.detectMultiScale(None),
                 lambda: one.detectMultiScale(image, minNeighbors=2.5)):
        with pytest.raises(ours.error):
            call()
    with pytest.raises(ours.error) as caught:
        one.detectMultiScale(np.zeros((40, 40, 2), np.uint8))
    assert caught.value.code == -15
    assert one.load(str(tmp_path / "none.xml")) is False
    assert one.empty()
