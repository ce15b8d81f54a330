"""Reads a drawing of plot's: svg.py FILES. Prints how many points each curve has, and the first and last, in pixels of the
frame (0 to 1 from its left and lower edge), how many bars there are, and the words."""
import re
import sys
import xml.etree.ElementTree as ElementTree

NS = "{http://www.w3.org/2000/svg}"

def tell(path):
    root = ElementTree.parse(path).getroot()
    assert root.tag == NS + "svg"
    frame = next(r for r in root.iter(NS + "rect") if r.get("fill") == "none")
    left, top, width, height = (float(frame.get(k)) for k in ("x", "y", "width", "height"))
    for curve in root.iter(NS + "path"):
        points = [tuple(map(float, p)) for p in re.findall(r"([\d.]+) ([\d.]+)", curve.get("d"))]
        assert all(left <= x <= left + width and top <= y <= top + height for x, y in points)
        ends = ["(%.2f, %.2f)" % ((x - left) / width, 1 - (y - top) / height) for x, y in (points[0], points[-1])]
        print("curve:", len(points), "points,", curve.get("d").count("M"), "pieces,", *ends, "up to %.2f" % max(1 - (y - top) / height for _, y in points))
    for group in root.iter(NS + "g"):
        bars = ["%.2f" % (float(r.get("height")) / height) for r in group]
        print("bars:", *(bars if len(bars) < 20 else [len(bars)]))
    print("words:", *(t.text for t in root.iter(NS + "text")), sep=" | ")


for path in sys.argv[1:]:
    tell(path)
