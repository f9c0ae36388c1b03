"""Results as text on a terminal: aligned columns, and figures with their interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def estimate(found: Mapping[str, object] | None, digits: int = 3) -> str:
    """`0.864 [0.843, 0.884]`; without an interval the value alone; a dash with its reason where it is undefined."""
    if found is None:
        return "-"
    if found["value"] is None:
        return f"- ({found['reason']})"
    value = f"{found['value']:.{digits}f}"
    if found["low"] is None or found["high"] is None:
        return value
    return f"{value} [{found['low']:.{digits}f}, {found['high']:.{digits}f}]"


def columns(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> str:
    """Rows whose cells stand under each other."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))] if rows else []
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "\n".join((indent + "  ".join(cells)).rstrip() for cells in padded)


def to_words(value: object) -> str:
    """Say a value of a document: a list by its items, types by their criteria, and what was renamed to what."""
    if isinstance(value, dict):
        return ", ".join(f"{name} ({one})" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(" as ".join(one) if isinstance(one, tuple) else str(one) for one in value)
    return str(value)
