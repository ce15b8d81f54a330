"""Checks a trace of overlap.knl: its form, that a stream's work is in order, and that the two streams' work overlaps."""
import json
import sys

with open(sys.argv[1]) as file:
    entries = json.load(file)["traceEvents"]
work = [e for e in entries if e["ph"] == "X"]
names = {e["tid"]: e["args"]["name"] for e in entries if e["name"] == "thread_name"}
for e in work:
    assert e["pid"] == 1 and e["tid"] in names and e["ts"] > 0 and e["dur"] >= 0, e

host, copying, computing = ([e for e in work if e["tid"] == tid] for tid in range(3))
assert names == {0: "host and calls without a stream", 1: "stream 1", 2: "stream 2"}, names
host = [e["cat"] for e in sorted(host, key=lambda e: e["ts"])]
assert host[:4] in (["copy", "copy", "compile", "launch"], ["copy", "copy", "load", "launch"]), host
assert len(copying) == len(computing) == 20
assert all(e["cat"] == "copy" and e["name"] == "host to device" and e["args"]["bytes"] > 0 for e in copying)
assert all(e["cat"] == "launch" and e["name"] == "work" and e["args"]["block"] == [128, 1, 1] for e in computing)
for stream in copying, computing:
    for before, after in zip(stream, stream[1:]):
        assert before["ts"] + before["dur"] <= after["ts"] + 0.01, (before, after)
overlaps = sum(c["ts"] < k["ts"] + k["dur"] and k["ts"] < c["ts"] + c["dur"] for c in copying for k in computing)
assert overlaps > 0, "the streams run one after the other"
print("overlaps:", overlaps)
