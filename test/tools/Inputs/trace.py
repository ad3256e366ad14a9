"""trace.py FILE.json DEVICES CALLS: fails unless the file is a trace with a named row for each device and a slice
for each call, whose slices nest and whose arrows connect a send with a later receive; prints what it has."""

import collections
import json
import sys

with open(sys.argv[1]) as file:
    events = json.load(file)["traceEvents"]
devices, calls = int(sys.argv[2]), int(sys.argv[3])

rows = [event["tid"] for event in events if event["ph"] == "M" and event["name"] == "thread_name"]
assert rows == list(range(devices)), rows
slices = collections.defaultdict(list)
for event in events:
    if event["ph"] == "X":
        # In nanoseconds, so that sums are exact.
        begin, length = round(event["ts"] * 1000), round(event["dur"] * 1000)
        assert begin >= 0 and length >= 0
        slices[event["tid"]].append((begin, begin + length, event))
for row in slices.values():
    open_slices = []
    for begin, end, event in sorted(row, key=lambda slice: (slice[0], -slice[1])):
        while open_slices and open_slices[-1] <= begin:
            open_slices.pop()
        assert not open_slices or end <= open_slices[-1], f"{event} ends after the slice around it"
        open_slices.append(end)

# Another call begins only after every device has finished the one before.
spans = sorted((begin, end) for begin, end, event in slices[0] if event["cat"] == "call")
assert len(spans) == calls, spans
for row in slices.values():
    for begin, end, event in row:
        assert any(first <= begin and end <= last for first, last in spans), f"{event} is in no call"


def slice_at(event):
    """The innermost slice of a row at the time of an event, to which an arrow belongs."""
    time = round(event["ts"] * 1000)
    around = (slice for slice in slices[event["tid"]] if slice[0] <= time <= slice[1])
    return max(around, key=lambda slice: (slice[0], -slice[1]))


starts = {event["id"]: event for event in events if event["ph"] == "s"}
ends = {event["id"]: event for event in events if event["ph"] == "f"}
assert starts.keys() == ends.keys(), "an arrow lacks an end"
assert len(starts) == sum(event["ph"] == "s" for event in events), "two arrows have the same number"
for number, start in starts.items():
    end = ends[number]
    assert start["tid"] != end["tid"] and start["ts"] <= end["ts"]
    sent, _, send = slice_at(start)
    received, _, receive = slice_at(end)
    assert send["cat"] == "send", f"arrow {number} begins at {send}"
    assert receive["cat"] in ("receive", "transfer"), f"arrow {number} ends at {receive}"
    # Viewers point an arrow at the slice that begins later.
    assert sent <= received, f"arrow {number} begins at a slice after the one where it ends"
counts = collections.Counter(event["cat"] for row in slices.values() for _, _, event in row)
transfers = counts.pop("transfer", 0)
assert counts["send"] == counts["receive"] == len(starts), counts
assert transfers <= len(starts)
print(dict(sorted(counts.items())))
