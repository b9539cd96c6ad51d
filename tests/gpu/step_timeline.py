#!/usr/bin/env python3
"""Draws what several devices did in an evaluation: own work, communication, and gaps where they waited.

    step_timeline.py BENCH.json OUT.svg

BENCH.json is of `orrery bench --devices ... --json`. It draws the first result that has devices.
"""
import json
import sys

LEFT, WIDTH, ROW, BAR, TOP = 90, 760, 34, 22, 44
OWN, COMMUNICATES, WAITS = "#5b84c4", "#e0873c", "#e6e9ee"
LETTER = 6.2  # width of a letter of the names in bars


def results_with_devices(path):
    with open(path) as file:
        return [result for result in json.load(file)["results"] if result.get("devices")]


def svg(result):
    devices = result["devices"]
    end_ms = max(span["end_ms"] for device in devices for span in device["spans"])
    height = TOP + ROW * len(devices) + 58
    def x(ms):
        return LEFT + WIDTH * ms / end_ms
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 {height}" width="880" height="{height}" '
             'font-family="system-ui, -apple-system, \'Segoe UI\', \'DejaVu Sans\', sans-serif" font-size="13" role="img">',
             f'  <title>One evaluation of {result["kernel"]} with {result["n"]:,} bodies</title>',
             f'  <rect width="880" height="{height}" fill="#ffffff"/>',
             f'  <text x="{LEFT}" y="24" fill="#1f2733" font-weight="bold">{result["kernel"]}, {result["n"]:,} bodies</text>']
    for row, device in enumerate(devices):
        y = TOP + ROW * row
        lines.append(f'  <text x="{LEFT - 10}" y="{y + 16}" text-anchor="end" fill="#1f2733">device {device["device"]}</text>')
        lines.append(f'  <rect x="{LEFT}" y="{y}" width="{WIDTH}" height="{BAR}" fill="{WAITS}"/>')
        for span in device["spans"]:
            begin, width = x(span["begin_ms"]), x(span["end_ms"]) - x(span["begin_ms"])
            colour = COMMUNICATES if span["communicates"] else OWN
            lines.append(f'  <rect x="{begin:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{colour}" stroke="#ffffff"/>')
            if width > LETTER * (len(span["name"]) + 1):
                lines.append(f'  <text x="{begin + width / 2:.1f}" y="{y + 15.5}" text-anchor="middle" font-size="12" '
                             f'fill="#ffffff">{span["name"]}</text>')
    y = TOP + ROW * len(devices) + 10
    step_ms = next(step for step in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1e9) if end_ms / step <= 10)
    for tick in range(int(end_ms / step_ms) + 1):
        at = x(tick * step_ms)
        lines.append(f'  <line x1="{at:.1f}" y1="{y - 8}" x2="{at:.1f}" y2="{y - 3}" stroke="#7d8896"/>')
        lines.append(f'  <text x="{at:.1f}" y="{y + 9}" text-anchor="middle" font-size="12" fill="#1f2733">{tick * step_ms:g} ms</text>')
    for place, (colour, name) in enumerate([(OWN, "own work"), (COMMUNICATES, "communication"), (WAITS, "waiting")]):
        lines.append(f'  <rect x="{LEFT + 150 * place}" y="{y + 20}" width="14" height="14" fill="{colour}" stroke="#7d8896"/>')
        lines.append(f'  <text x="{LEFT + 20 + 150 * place}" y="{y + 32}" fill="#1f2733">{name}</text>')
    return "\n".join(lines + ["</svg>", ""])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    found = results_with_devices(sys.argv[1])
    if not found:
        sys.exit(f"{sys.argv[1]}: no result has devices: it needs bench with --devices and more than one")
    with open(sys.argv[2], "w") as out:
        out.write(svg(found[0]))


if __name__ == "__main__":
    main()
