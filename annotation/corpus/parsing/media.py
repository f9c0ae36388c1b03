"""Which pictures and sounds are taken, told by their first bytes and never by their name (pure)."""

from __future__ import annotations

from pathlib import PurePosixPath

SIGNATURES = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"\xff\xf3", "audio/mpeg"),
    (0, b"\xff\xf2", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (4, b"ftypM4A", "audio/mp4"),
)
"""Where a mark stands, the mark, and what it says."""

IN_RIFF = ("image/webp", "audio/wav")
ENDINGS = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".svg": "image/svg+xml",
}
SAME = {"image/jpg": "image/jpeg", "audio/mp3": "audio/mpeg", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav"}
TAKEN = "PNG, JPEG, GIF and WebP pictures, and WAV, MP3, OGG, FLAC and M4A sounds"
NO_SVG = "is an SVG drawing, which can hold scripts: make a PNG of it"
HEAD = 512
"""Bytes from which the type is told."""


def detect_type(head: bytes) -> str:
    """The type that the first bytes say; empty for what is not taken."""
    for at, mark, name in SIGNATURES:
        if head[at : at + len(mark)] == mark and (name not in IN_RIFF or head.startswith(b"RIFF")):
            return name
    return ""


def check_type(head: bytes, *, name: str = "", declared: str = "", kind: str = "") -> str:
    """The type of a file by its first bytes. ValueError where it is not taken, or not what it is said to be.

    `name` is the file's, `declared` its type as it was sent along, `kind` whether it stands for an image or a sound.
    """
    found = detect_type(head)
    told = list_declared_types(name, declared)
    if not found:
        is_drawing = b"<svg" in head.lower() or "image/svg+xml" in told
        raise ValueError(NO_SVG if is_drawing else f"is none of {TAKEN}")
    if wrong := [one for one in told if one != found]:
        raise ValueError(f"says that it is {wrong[0]}, but is {found}")
    if kind and not found.startswith(f"{kind}/"):
        raise ValueError(f"stands for a part of type {kind}, but is {found}")
    return found


def list_declared_types(name: str, declared: str) -> list[str]:
    """The types that a file's ending and its sender name; an unknown ending says nothing."""
    ending = ENDINGS.get(PurePosixPath(name).suffix.lower(), "")
    return [one for one in (ending, SAME.get(declared.lower(), declared.lower())) if one]
