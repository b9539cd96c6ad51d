"""Reads pictures that the program wrote."""

import struct
import zlib


def read_png(file):
    """Width, height and the RGB bytes of an 8-bit picture without interlacing."""
    with open(file, "rb") as data:
        assert data.read(8) == b"\x89PNG\r\n\x1a\n", file
        pixels = b""
        while True:
            length, kind = struct.unpack(">I4s", data.read(8))
            chunk = data.read(length)
            data.read(4)
            if kind == b"IHDR":
                width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunk)
                assert (depth, colour, interlaced) == (8, 2, 0), "8-bit RGB"
            elif kind == b"IDAT":
                pixels += chunk
            elif kind == b"IEND":
                break
    raw, stride = zlib.decompress(pixels), 3 * width
    rows, above = bytearray(), bytes(stride)
    for y in range(height):
        at = y * (stride + 1)
        method, row = raw[at], bytearray(raw[at + 1:at + 1 + stride])
        for x in range(stride):
            left, up, corner = row[x - 3] if x > 2 else 0, above[x], above[x - 3] if x > 2 else 0
            if method == 1:
                guess = left
            elif method == 2:
                guess = up
            elif method == 3:
                guess = (left + up) // 2
            elif method == 4:
                guess = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            else:
                guess = 0
            row[x] = (row[x] + guess) & 255
        rows += row
        above = row
    return width, height, bytes(rows)
