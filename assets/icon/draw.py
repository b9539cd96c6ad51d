#!/usr/bin/env python3
"""Draws the icon: a sun and three planets on their orbits, as orrery.svg and as PNGs. Needs only Python.

    draw.py [--check]   writes the files beside this script; --check compares them with what it would write
"""

import math
import os
import struct
import sys
import zlib

SIDE = 128  # of the drawing, in its own units
SIZES = (32, 48, 128)
SAMPLES = 4  # per pixel and axis
TILT = math.radians(-24)  # of the orbits

BACK, RING = (13, 17, 28), (86, 100, 148)
SUN, GLOW = (255, 214, 130), (224, 160, 84)
# Of each orbit: half of its long axis, half of its short one, the planet's angle, its radius and colour.
ORBITS = ((24, 9.5, 200, 5, (122, 162, 247)), (38, 15.5, 318, 6.5, (158, 206, 106)), (53, 22, 128, 8, (247, 118, 142)))
CENTRE, CORNER, SUN_RADIUS, GLOW_RADIUS, STROKE = 64, 28, 9.5, 17, 2.4


def place(long, short, degrees):
    x, y = long * math.cos(math.radians(degrees)), short * math.sin(math.radians(degrees))
    return (CENTRE + x * math.cos(TILT) - y * math.sin(TILT), CENTRE + x * math.sin(TILT) + y * math.cos(TILT))


def svg():
    def colour(rgb):
        return "#{:02x}{:02x}{:02x}".format(*rgb)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIDE}" height="{SIDE}" viewBox="0 0 {SIDE} {SIDE}">',
             "  <title>Orrery</title>",
             f'  <rect width="{SIDE}" height="{SIDE}" rx="{CORNER}" fill="{colour(BACK)}"/>']
    for long, short, *_ in ORBITS:
        lines.append(f'  <ellipse cx="{CENTRE}" cy="{CENTRE}" rx="{long}" ry="{short}" fill="none" '
                     f'stroke="{colour(RING)}" stroke-width="{STROKE}" '
                     f'transform="rotate({math.degrees(TILT):g} {CENTRE} {CENTRE})"/>')
    lines.append(f'  <circle cx="{CENTRE}" cy="{CENTRE}" r="{GLOW_RADIUS}" fill="{colour(GLOW)}" fill-opacity="0.35"/>')
    lines.append(f'  <circle cx="{CENTRE}" cy="{CENTRE}" r="{SUN_RADIUS}" fill="{colour(SUN)}"/>')
    for long, short, degrees, radius, rgb in ORBITS:
        x, y = place(long, short, degrees)
        lines.append(f'  <circle cx="{x:.2f}" cy="{y:.2f}" r="{radius}" fill="{colour(rgb)}"/>')
    return ("\n".join(lines) + "\n</svg>\n").encode()


def inside_square(x, y):
    dx, dy = (max(abs(v - CENTRE) - (CENTRE - CORNER), 0) for v in (x, y))
    return dx * dx + dy * dy <= CORNER * CORNER


def on_orbit(x, y, long, short):
    dx, dy = x - CENTRE, y - CENTRE
    u, v = dx * math.cos(TILT) + dy * math.sin(TILT), -dx * math.sin(TILT) + dy * math.cos(TILT)
    f = math.hypot(u / long, v / short)
    slope = math.hypot(u / long**2, v / short**2)
    return f > 0 and abs(f - 1) * f <= slope * STROKE / 2


def sample(x, y):
    """Colour and opacity at a point."""
    if not inside_square(x, y):
        return (0, 0, 0), 0
    for long, short, degrees, radius, rgb in reversed(ORBITS):
        px, py = place(long, short, degrees)
        if math.hypot(x - px, y - py) <= radius:
            return rgb, 1
    distance = math.hypot(x - CENTRE, y - CENTRE)
    if distance <= SUN_RADIUS:
        return SUN, 1
    rgb = RING if any(on_orbit(x, y, orbit[0], orbit[1]) for orbit in ORBITS) else BACK
    if distance <= GLOW_RADIUS:
        rgb = tuple(0.65 * below + 0.35 * above for below, above in zip(rgb, GLOW))
    return rgb, 1


def pixels(size):
    """RGBA, top row first."""
    step = SIDE / size / SAMPLES
    rows = []
    for row in range(size):
        line = bytearray()
        for column in range(size):
            sums, covered = [0, 0, 0], 0
            for i in range(SAMPLES * SAMPLES):
                rgb, opacity = sample((column * SAMPLES + i % SAMPLES + 0.5) * step,
                                      (row * SAMPLES + i // SAMPLES + 0.5) * step)
                covered += opacity
                sums = [total + opacity * part for total, part in zip(sums, rgb)]
            line += bytes(round(total / covered) if covered else 0 for total in sums)
            line.append(round(255 * covered / SAMPLES**2))
        rows.append(bytes(line))
    return rows


def png(rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", len(rows), len(rows), 8, 6, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) +
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 9)) + chunk(b"IEND", b""))


def content(name, data):
    """What must be equal: another zlib may pack the same pixels in another way."""
    return zlib.decompress(data[41:-16]) if name.endswith(".png") else data


def main():
    check = sys.argv[1:] == ["--check"]
    files = {"orrery.svg": svg()} | {f"orrery-{size}.png": png(pixels(size)) for size in SIZES}
    for name, data in files.items():
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
        if not check:
            with open(path, "wb") as file:
                file.write(data)
            continue
        with open(path, "rb") as file:
            if content(name, file.read()) != content(name, data):
                sys.exit(f"{name} is not what draw.py draws")


if __name__ == "__main__":
    main()
