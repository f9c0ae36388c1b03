"""What to do about a record that cannot be used: stop at once, or set it aside and go on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from core.errors import InputError

OnError = Literal["stop", "skip"]


@dataclass
class Problems:
    """Collects bad records. With `stop` (the default) the first one is raised."""

    on_error: OnError = "stop"
    errors: list[InputError] = field(default_factory=list)
    records: list[str] = field(default_factory=list)

    def add(self, error: InputError, record: bytes | str = b"") -> None:
        """Set a record aside; `record` is its text as it was found."""
        if self.on_error == "stop":
            raise error
        self.errors.append(error)
        self.records.append(record.decode("utf-8", "replace") if isinstance(record, bytes) else record)

    def to_json(self) -> list[dict[str, Any]]:
        """The errors as plain data: file, line, field and message."""
        return [{"file": e.file, "line": e.line, "field": e.field, "message": e.message} for e in self.errors]

    def to_jsonl(self) -> str:
        """One line per bad record: where, why, and the record itself."""
        rows = [{**error, "record": text} for error, text in zip(self.to_json(), self.records, strict=True)]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
