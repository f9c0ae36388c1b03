"""Small pictures and sounds, made here byte by byte."""

from __future__ import annotations

import struct
import zlib


def png(width: int = 8, height: int = 8, colour: tuple[int, int, int] = (13, 85, 112)) -> bytes:
    """A picture of one colour."""
    rows = (b"\x00" + bytes(colour) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def wav(seconds: float = 0.05, rate: int = 8000) -> bytes:
    """Silence."""
    data = bytes(int(seconds * rate))
    told = struct.pack("<4sIHHIIHH4sI", b"fmt ", 16, 1, 1, rate, rate, 1, 8, b"data", len(data))
    return b"RIFF" + struct.pack("<I", 4 + len(told) + len(data)) + b"WAVE" + told + data


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=1"><script>window.hacked=1</script></svg>'
JPEG = b"\xff\xd8\xff\xe0" + bytes(40)
