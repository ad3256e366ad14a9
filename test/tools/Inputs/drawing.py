"""drawing.py FILE.svg: fails unless the file is XML whose boxes hold their texts and do not overlap, except
that one may be inside of another; prints how many boxes, lines and transfers it has."""

import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
CHARACTER = 6.7


def rectangle(element):
    x, y, width, height = (float(element.get(name)) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def contains(outer, inner):
    return outer[0] <= inner[0] and outer[1] <= inner[1] and outer[2] >= inner[2] and outer[3] >= inner[3]


def is_apart(a, b):
    return a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


root = xml.parse(sys.argv[1]).getroot()
boxes = [rectangle(box) for box in root.iter(SVG + "rect") if box.get("class")]
for i, a in enumerate(boxes):
    for b in boxes[:i]:
        assert is_apart(a, b) or contains(a, b) or contains(b, a), f"{a} and {b} overlap"
for group in root.iter(SVG + "g"):
    box = rectangle(group.find(SVG + "rect"))
    baselines = []
    for text in group.iter(SVG + "text"):
        x, y = float(text.get("x")), float(text.get("y"))
        assert contains(box, (x, y - 11, x + CHARACTER * len(text.text), y + 3)), f"'{text.text}' is outside of {box}"
        baselines.append(y)
    assert all(b - a >= 12 for a, b in zip(baselines, baselines[1:])), f"lines of text overlap in {box}"
paths = [path.get("class") for path in root.iter(SVG + "path")]
print(len(boxes), "boxes,", paths.count("value") + paths.count("long"), "lines,", paths.count("transfer"), "transfers")
