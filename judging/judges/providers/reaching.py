"""Clients for addresses that a researcher named: they connect to the address that was looked at, and to no other.

A name could have another address at the moment of the connection than at the moment of the look. So it is resolved
once for each call, all of its addresses are looked at, and the connection goes to one of these; the name stays in the
Host header and in what the certificate is checked against. Redirects are not followed. Where a proxy of the environment
makes the connections, it is the proxy that resolves: then the name is looked at before each call and no more.

No answer is read beyond `MOST_BYTES`, counted unpacked: else a server could fill a worker's memory.
"""

from __future__ import annotations

import asyncio
from functools import cache, partial
from ipaddress import IPv6Address
from ssl import SSLContext
from typing import Any
from urllib.request import getproxies, proxy_bypass

import httpx2
from httpx2 import Limits

from core.addresses import Rule, resolve_checked
from judging.judges.providers.calls import OversizedError

MOST_BYTES = 32_000_000
"""Of an answer; a hundred embeddings or a reply with its log probabilities take a few million."""

PACKED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that say how an answer was packed."""


class Client(httpx2.AsyncClient):
    """Follows no redirect and reads each answer whole, up to `MOST_BYTES`. Raises OversizedError beyond."""

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:  # noqa: ARG002
        response = await super().send(request, stream=True, **options)
        try:
            content = await read_body(response)
        finally:
            await response.aclose()
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in PACKED]
        return httpx2.Response(
            response.status_code, headers=headers, content=content, request=request, extensions=response.extensions
        )


async def read_body(response: httpx2.Response) -> bytes:
    parts: list[bytes] = []
    left = MOST_BYTES
    async for part in response.aiter_bytes():
        left -= len(part)
        if left < 0:
            raise OversizedError(f"An answer of more than {MOST_BYTES // 1_000_000} MB was not read to its end.")
        parts.append(part)
    return b"".join(parts)


class PinnedTransport(httpx2.AsyncBaseTransport):
    """Sends each request to an address that its rule lets pass; one after the other where nobody is there."""

    def __init__(self, rule: Rule, limits: Limits) -> None:
        self.rule, self.inner = rule, httpx2.AsyncHTTPTransport(limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        *others, last = await asyncio.to_thread(resolve_checked, str(request.url), self.rule)
        for address in others:
            try:
                return await self.inner.handle_async_request(to(request, to_text(address)))
            except httpx2.ConnectError:
                continue
        return await self.inner.handle_async_request(to(request, to_text(last)))

    async def aclose(self) -> None:
        await self.inner.aclose()


def to(request: httpx2.Request, address: str) -> httpx2.Request:
    """The same request for this address: who is asked for there stays the same."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )


def to_text(address: object) -> str:
    return f"[{address}]" if isinstance(address, IPv6Address) else str(address)


@cache
def load_authorities() -> SSLContext:
    """Return whose certificates are believed: reading them takes longer than a call on this machine."""
    return httpx2.create_ssl_context()


def client(
    url: str, rule: Rule | None, *, timeout: float, headers: dict[str, str] | None = None, limits: Limits | None = None
) -> httpx2.AsyncClient:
    """A client for `url` that follows no redirect and keeps to the rule. Without one the site's owner said where."""
    limits = limits or Limits()
    make = partial(Client, verify=load_authorities(), timeout=timeout, limits=limits, headers=headers)
    if rule is None:
        return make()
    if is_proxied(url):

        async def look(request: httpx2.Request) -> None:
            await asyncio.to_thread(resolve_checked, str(request.url), rule)

        return make(event_hooks={"request": [look]})
    return make(transport=PinnedTransport(rule, limits))


def is_proxied(url: str) -> bool:
    """Whether a proxy of the environment would make the connection."""
    parts, proxies = httpx2.URL(url), getproxies()
    return bool(proxies.get(parts.scheme) or proxies.get("all")) and not proxy_bypass(parts.host)
