"""The tables and the picture of the benchmark `inference`, from the report that it also writes as JSON.

A report has `systems` (labels and versions), `limits` by the number of threads, and `rows`: a model with a number of
threads and the figures of each system, or why there are none.
"""

import statistics
from xml.sax.saxutils import escape

from measuring import table

LABELS = {"tfc": "tfc", "ort": "ONNX Runtime", "openvino": "OpenVINO"}
COLOURS = {"ort": "#c2570c", "openvino": "#1d5fa8"}


def summary(times):
    """Of microseconds of calls: median, best, tenth and ninetieth percentile in milliseconds, and the calls."""
    cuts = statistics.quantiles(times, n=10, method="inclusive")
    figures = {"median_ms": statistics.median(times), "best_ms": min(times), "p10_ms": cuts[0], "p90_ms": cuts[-1]}
    return {name: value / 1e3 for name, value in figures.items()} | {"calls": len(times)}


def measured(row, key="median_ms"):
    """System -> a figure, of those that have it."""
    return {system: figures[key] for system, figures in row["systems"].items() if key in figures}


def ratio(row, key):
    """The time of the fastest peer by that of tfc, or None."""
    times = measured(row, key)
    own = times.pop("tfc", None)
    return min(times.values()) / own if own and times else None


def digits(value):
    """Three digits that matter, and all before the point."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:#.3g}" if value >= 1 else f"{value:.3g}"


def threads_text(count):
    return "1 thread" if count == 1 else f"{count} threads"


def text_of(value, form):
    return "" if value is None else form.format(value)


def print_times(report, systems):
    header = ["model", "threads"]
    for system in systems:
        header += [f"{LABELS[system]} median", "10..90 %", "best"]
    rows = []
    for row in report["rows"]:
        cells = [row["model"], str(row["threads"])]
        for system in systems:
            figures = row["systems"].get(system, {})
            if "median_ms" in figures:
                cells += [digits(figures["median_ms"]), f"{digits(figures['p10_ms'])}..{digits(figures['p90_ms'])}"]
                cells += [digits(figures["best_ms"])]
            else:
                cells += ["failed", "", ""]
        rows.append([*cells, *(text_of(ratio(row, key), "{:.2f}") for key in ("median_ms", "best_ms"))])
    print("Milliseconds of a call: the median, the tenth and the ninetieth percentile, and the best:\n")
    table([*header, "fastest peer / tfc", "of the best calls"], rows)


def share_of_peak(row, system, report):
    """Of the best call, because limits are also those of the best call."""
    time, work = measured(row, "best_ms").get(system), row.get("multiply_adds")
    peak = report["limits"].get(str(row["threads"]), {}).get("fma_f32")
    return 100 * 2 * work / (time * 1e6 * peak) if time and work and peak else None


def print_work(report, systems):
    header = ["model", "threads", "multiply-adds, 1e9", *(f"{LABELS[s]}, of the peak" for s in systems)]
    header += ["weights, MB", "tfc, of reading them once", "difference"]
    rows = []
    for row in report["rows"]:
        time, read = measured(row, "best_ms").get("tfc"), report["limits"].get(str(row["threads"]), {}).get("read")
        weights = row.get("weight_bytes")
        reading = 100 * weights / (time * 1e6 * read) if time and weights and read else None
        work = row.get("multiply_adds")
        rows.append(
            [row["model"], str(row["threads"]), text_of(work and work / 1e9, "{:.2f}")]
            + [text_of(share_of_peak(row, system, report), "{:.0f} %") for system in systems]
            + [text_of(weights and weights / 1e6, "{:.0f}"), text_of(reading, "{:.0f} %")]
            + [text_of(row.get("difference"), "{:.0e}")]
        )
    print(
        "By the best calls: the multiply-adds of the direct algorithm as a share of the FMA peak, and the time of reading all\n"
        "weights as a share of tfc's time. Then the largest difference of two systems' results by the largest element:\n"
    )
    table(header, rows)


def print_resources(report, systems):
    header = ["model", "threads", "tfc compiles, s", "MB"]
    for system in systems:
        header += [f"{LABELS[system]} loads, s", "MB"]
    rows = []
    for row in report["rows"]:
        compiled = row.get("compile") or {}
        cells = [row["model"], str(row["threads"]), text_of(compiled.get("seconds"), "{:.1f}")]
        cells.append(text_of(compiled.get("peak_mb"), "{:.0f}"))
        for system in systems:
            figures = row["systems"].get(system, {})
            cells += [text_of(figures.get("load_s"), "{:.2f}"), text_of(figures.get("peak_mb"), "{:.0f}")]
        rows.append(cells)
    print("Seconds until a model is compiled or loaded, and the peak memory of the process:\n")
    table(header, rows)


def print_report(report):
    systems = [system for system in LABELS if system in report["systems"]]
    print_times(report, systems)
    print_work(report, systems)
    print_resources(report, systems)
    for row in report["rows"]:
        for reason in row["errors"]:
            print(f"{row['model']}, {threads_text(row['threads'])}: {reason}")


def bars(report):
    """[label, [(system, time of the system by that of tfc)]] of the rows that have both."""
    groups = []
    for row in report["rows"]:
        times = measured(row)
        peers = [(system, times[system] / times["tfc"]) for system in COLOURS if system in times and "tfc" in times]
        if peers:
            groups.append((f"{row['model']}, {threads_text(row['threads'])}", peers))
    return groups


def picture(report):
    """SVG: a bar for each peer and row, as long as its time by that of tfc; a line where both are equal."""
    left, scale, thickness, gap, top = 190, 260, 11, 9, 46
    groups = bars(report)
    longest = max([1.0, *(value for _, peers in groups for _, value in peers)])
    height = top + sum(thickness * len(peers) + gap for _, peers in groups) + 8
    width = max(620, int(left + scale * longest + 60))
    title = f"Time of a peer's call divided by that of tfc: {report['processor']}"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="16" font-size="13">{escape(title)}</text>',
    ]
    for place, (system, colour) in enumerate(COLOURS.items()):
        out.append(f'<rect x="{left + 130 * place}" y="25" width="11" height="11" fill="{colour}"/>')
        out.append(f'<text x="{left + 130 * place + 16}" y="35">{escape(LABELS[system])}</text>')
    y = top
    for label, peers in groups:
        middle = y + thickness * len(peers) / 2 + 4
        out.append(f'<text x="{left - 8}" y="{middle:g}" text-anchor="end">{escape(label)}</text>')
        for system, value in peers:
            out.append(f'<rect x="{left}" y="{y}" width="{scale * value:.1f}" height="{thickness - 1}" fill="{COLOURS[system]}"/>')
            out.append(f'<text x="{left + scale * value + 4:.1f}" y="{y + 9}">{value:.2f}</text>')
            y += thickness
        y += gap
    out.append(f'<path d="M{left + scale} {top - 4}V{height - 8}" stroke="#222222" stroke-dasharray="3 3"/>')
    return "\n".join([*out, "</svg>", ""])
