"""kombu's file system transport, with messages that appear and disappear in one step.

In kombu's own, a message's file exists for a moment before its content does, and a worker that looks just then reads
an empty message and ends. It also moves a message it takes through the machine's temporary folder, which is several
steps where that is another file system. Here both are a rename inside the data folder.
"""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.encoding import bytes_to_str, str_to_bytes
from kombu.utils.json import dumps, loads


class Channel(filesystem.Channel):
    """Messages are files named by the time they were sent, so that sorting finds the oldest."""

    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]  # kombu disagrees with itself
        """Write beside the queue, then rename into it."""
        name = f"{time.time_ns()}_{uuid.uuid4()}.{queue}.msg"
        whole = Path(self.data_folder_out) / name
        part = whole.with_name(f"{name}.part")
        try:
            part.write_bytes(str_to_bytes(dumps(payload)))
            part.rename(whole)
        except OSError as error:  # the message is a hint: whoever sends it goes on without
            part.unlink(missing_ok=True)
            raise ChannelError(f"A message cannot be written: {error}") from error

    def _get(self, queue: str, timeout: float | None = None) -> Any:  # noqa: ARG002
        """The oldest message of the queue. Of several workers that reach for it, one gets it."""
        folder = Path(self.data_folder_in)
        for name in sorted(name for name in os.listdir(folder) if name.partition(".")[2] == f"{queue}.msg"):
            taken = folder / f"{name}.taken"
            try:
                (folder / name).rename(taken)
            except FileNotFoundError:
                continue
            message = taken.read_bytes()
            taken.unlink()
            return loads(bytes_to_str(message))
        raise Empty


class Transport(filesystem.Transport):
    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Look for messages once and hand control back: Celery asks for two seconds, and is deaf for as long."""
        longest = float(self.polling_interval or 1.0)
        super().drain_events(connection, timeout=longest if timeout is None else min(timeout, longest))

    @property
    def default_connection_params(self) -> dict[str, Any]:
        """None: files have no host, and kombu would warn that it assumes one."""
        return {}
