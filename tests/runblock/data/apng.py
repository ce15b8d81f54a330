"""Reads an animation: apng.py FILE. Prints its size, how many pictures there are, how long each stays, and their pixels."""
import struct
import sys
import zlib

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def chunks(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
        yield kind.decode(), body
        at += 12 + size


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def rows(packed, width, height, pixel):
    """The rows' bytes, of filtered ones; pixel: bytes of one."""
    data, above = zlib.decompress(packed), bytes(width * pixel)
    assert len(data) == height * (1 + width * pixel)
    for i in range(height):
        begin = i * (1 + width * pixel)
        how, row = data[begin], bytearray(data[begin + 1:begin + 1 + width * pixel])
        for k in range(len(row)):
            left, corner = (row[k - pixel], above[k - pixel]) if k >= pixel else (0, 0)
            row[k] = (row[k] + [0, left, above[k], (left + above[k]) // 2, paeth(left, above[k], corner)][how]) % 256
        above = bytes(row)
        yield above


order, pictures, delays, sequence = [], [], [], 0
for kind, body in chunks(open(sys.argv[1], "rb").read()):
    order.append(kind)
    if kind == "IHDR":
        width, height, depth, colour = struct.unpack(">IIBB", body[:10])
    elif kind == "acTL":
        count, repeats = struct.unpack(">II", body)
        assert repeats == 0
    elif kind in ("fcTL", "fdAT"):
        assert struct.unpack(">I", body[:4])[0] == sequence
        sequence += 1
        if kind == "fcTL":
            assert struct.unpack(">IIII", body[4:20]) == (width, height, 0, 0) and body[24:] == b"\0\0"
            delays.append("%d/%d" % struct.unpack(">HH", body[20:24]))
            pictures.append(b"")
        else:
            assert len(pictures) > 1
            pictures[-1] += body[4:]
    elif kind == "IDAT":
        assert len(pictures) == 1
        pictures[-1] += body
assert order[0] == "IHDR" and order[-1] == "IEND" and order.index("acTL") < order.index("IDAT") and len(pictures) == count
print(width, "x", height, "of", CHANNELS[colour], "channels,", depth, "bits,", count, "pictures,", *sorted(set(delays)))
for packed in pictures:
    numbers = []
    for row in rows(packed, width, height, CHANNELS[colour] * depth // 8):
        numbers += struct.unpack(f">{len(row) * 8 // depth}{'H' if depth == 16 else 'B'}", row)
    print(*(numbers if len(numbers) < 40 else [sum((i % 251 + 1) * v for i, v in enumerate(numbers))]))
