"""One request to an address that somebody gave: to the very address that was looked at, without following redirects.

It ends after some seconds whatever the other side does: one that says a byte now and then would hold a worker for good.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException
from threading import Timer
from typing import Any
from urllib.parse import quote

from core.addresses import Address, Rule, check, find_port, parse_url

SECONDS = 10.0
"""Seconds for a connection, and between two bytes of the answer."""

LONGEST = 20.0
"""Seconds for the whole call."""

MOST_READ = 10_000
IN_PATH = "/?%:@!$&'()*+,;=~-._[]"
"""What is sent as it stands; all else is written as percentages."""


class Pinned(http.client.HTTPConnection):
    """A connection to an address that is known already; the name is only what is asked for there."""

    def __init__(self, host: str, port: int, address: Address, *, context: ssl.SSLContext | None) -> None:
        super().__init__(host, port, timeout=SECONDS)
        self.address, self.context = address, context
        self.wire: socket.socket | None = None
        self.is_late = False

    def connect(self) -> None:
        self.wire = socket.create_connection((str(self.address), self.port), SECONDS)
        if self.context:
            self.wire = self.context.wrap_socket(self.wire, server_hostname=self.host, do_handshake_on_connect=False)
            self.wire.do_handshake()
        self.sock: Any = self.wire

    def hang_up(self) -> None:
        """Whoever waits for the other side then reads the end of the connection."""
        self.is_late = True
        with suppress(OSError, AttributeError):  # not connected yet, or closed meanwhile
            self.wire.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr] # the AttributeError


def post(url: str, body: bytes, headers: Mapping[str, str], *, rule: Rule) -> int:
    """The status of the answer. Raises ForbiddenAddressError, or OSError and HTTPException where there is none."""
    parts, address = parse_url(url), check(url, rule)
    assert address is not None  # the rule of webhooks always looks
    context = ssl.create_default_context() if parts.scheme == "https" else None
    connection = Pinned(str(parts.hostname), find_port(parts), address, context=context)
    end = Timer(LONGEST, connection.hang_up)
    end.start()
    try:
        path = quote(parts.path or "/", safe=IN_PATH) + (f"?{quote(parts.query, safe=IN_PATH)}" if parts.query else "")
        connection.request("POST", path, body=body, headers=dict(headers))
        answer = connection.getresponse()
        answer.read(MOST_READ)
    except (OSError, HTTPException):
        if not connection.is_late:
            raise
    finally:
        end.cancel()
        connection.close()
    if connection.is_late:  # half an answer may look like a whole one
        raise TimeoutError(f"no whole answer within {LONGEST:g} s")
    return answer.status
