"""Which addresses this site may call on somebody's word, and calls: not its own machine, not its own network.

Webhooks and models are called where a researcher says. Without a guard that reaches what only this machine can reach:
a database, a router, a cloud's metadata. The name is resolved once, every address that it has must be public, and a
connection that `connected` makes goes to the address that was looked at, so that a name cannot change in between.

A request ends after some seconds whatever the other side does: one that says a byte now and then would hold a worker
for good.
"""

from __future__ import annotations

import http.client
import os
import socket
import ssl
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from threading import Timer
from urllib.parse import SplitResult, quote, urlsplit

Address = IPv4Address | IPv6Address
METADATA = {
    ip_address(one)
    for one in (
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure
        "192.0.0.192",  # Oracle
        "fd00:c1::a9fe:a9fe",  # Oracle
        "fd00:ec2::254",  # Amazon
        "fd20:ce::254",  # Google
    )
}
"""Where clouds tell a machine its keys, beside 169.254.0.0/16."""

GLOBAL = IPv6Network("2000::/3")
"""All that is given out of IPv6. What is outside leads to nobody, to this network, or to an IPv4 address."""

TRANSLATED = IPv6Network("64:ff9b:1::/48")
"""What a network translates to IPv4 addresses, in which way only that network knows (RFC 8215)."""

RESERVED = [
    ip_network(one)
    for one in (
        "192.0.0.0/24",  # for protocols; clouds keep services there
        "192.88.99.0/24",  # relays of 6to4, which are gone
        "2001::/23",  # Teredo and others for protocols
        "2002::/16",  # 6to4
        "3fff::/20",  # for documentation
    )
]
"""What `ipaddress` takes for public in this or another version of Python."""

Resolve = Callable[..., Iterable[tuple[object, object, object, object, Sequence[object]]]]


class ForbiddenAddressError(ValueError):
    """An address that this site does not call. The message says why."""


@dataclass(frozen=True)
class Rule:
    """What may be called.

    Attributes
    ----------
    private
        Whether addresses of this machine and of private networks may be called; those of the link never are.
    hosts
        Names that may be called whatever their addresses are.
    """

    private: bool = False
    hosts: Collection[str] = ()

    @classmethod
    def build_webhook_rule(cls, environment: Mapping[str, str] = os.environ) -> Rule:
        """Public addresses, and the hosts that CONCORD_ALLOWED_HOOK_HOSTS lists."""
        return cls(hosts=split_hosts(environment.get("CONCORD_ALLOWED_HOOK_HOSTS", "")))

    @classmethod
    def build_model_rule(cls, environment: Mapping[str, str] = os.environ) -> Rule:
        """All, unless the site is served over HTTPS or CONCORD_ALLOW_PRIVATE_ENDPOINTS says otherwise."""
        usual = "0" if is_enabled(environment.get("CONCORD_HTTPS", "")) else "1"
        private = is_enabled(environment.get("CONCORD_ALLOW_PRIVATE_ENDPOINTS") or usual)
        return cls(private=private, hosts=split_hosts(environment.get("CONCORD_ALLOWED_MODEL_HOSTS", "")))


def split_hosts(text: str) -> frozenset[str]:
    return frozenset(part.strip().lower() for part in text.split(",") if part.strip())


def is_enabled(text: str) -> bool:
    return text.strip().lower() in {"1", "true", "yes", "on"}


def check(url: str, rule: Rule, *, resolve: Resolve = socket.getaddrinfo) -> Address | None:
    """The address to connect to; None where the rule asks for no look. Raises ForbiddenAddressError."""
    parts = parse_url(url)
    if rule.private and not is_link_local(parse_literal(parts)):
        return None
    return resolve_checked(url, rule, resolve=resolve)[0]


def resolve_checked(url: str, rule: Rule, *, resolve: Resolve = socket.getaddrinfo) -> list[Address]:
    """All addresses that the name has now, each of which the rule lets pass. Raises ForbiddenAddressError."""
    parts = parse_url(url)
    found = resolve_host(parts, resolve)
    if (parts.hostname or "").lower() in rule.hosts:
        return found
    if at_the_link := [one for one in found if is_link_local(one)]:
        raise ForbiddenAddressError(
            f"{parts.hostname} is {at_the_link[0]}, which is not a public address but the machine's own link."
        )
    if not rule.private and (hidden := [one for one in found if not is_public(one)]):
        named = "" if parts.hostname == str(hidden[0]) else f" {hidden[0]}, which is"
        raise ForbiddenAddressError(f"{parts.hostname} is{named} not a public address.")
    return found


def parse_literal(parts: SplitResult) -> Address | None:
    """The address itself, where no name stands there."""
    try:
        return ip_address(str(parts.hostname).partition("%")[0])
    except ValueError:
        return None


def parse_url(url: str) -> SplitResult:
    """The parts of an address of the web, without a user in it."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ForbiddenAddressError(f"{url!r} is not an address.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ForbiddenAddressError("Only addresses that begin with http:// or https:// are called.")
    if parts.username is not None or parts.password is not None:
        raise ForbiddenAddressError("An address with a name or password in it is not called.")
    return parts


def resolve_host(parts: SplitResult, resolve: Resolve) -> list[Address]:
    try:
        found = resolve(parts.hostname, parts.port or find_port(parts), type=socket.SOCK_STREAM)
        return [ip_address(str(row[4][0]).partition("%")[0]) for row in found]
    except (OSError, UnicodeError, ValueError) as error:
        raise ForbiddenAddressError(f"{parts.hostname} cannot be found.") from error


def find_port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def is_public(address: Address) -> bool:
    """Whether anybody on the internet could reach it. An IPv6 address that stands for an IPv4 one is judged by that."""
    if isinstance(address, IPv6Address) and (inner := address.ipv4_mapped or nat64(address)):
        return is_public(inner)
    if address in METADATA or any(address in network for network in RESERVED):
        return False
    is_given_out = address.version == 4 or address in GLOBAL
    return is_given_out and address.is_global and not address.is_multicast


def is_link_local(address: Address | None) -> bool:
    """Whether it is behind no router, where clouds keep the keys of a machine: no model and no webhook is there."""
    if isinstance(address, IPv6Address) and (inner := find_embedded_ipv4(address)):
        return is_link_local(inner)
    return address is not None and (address.is_link_local or address in METADATA or address in TRANSLATED)


def find_embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that a translator or a tunnel would send it to."""
    number = int(address)
    last = IPv4Address(number & 0xFFFFFFFF)
    if number >> 32 in (0, 0xFFFF0000):  # compatible; RFC 2765
        return last
    return address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1]) or nat64(address)


def nat64(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address behind 64:ff9b::/96 (RFC 6052)."""
    number = int(address)
    return IPv4Address(number & 0xFFFFFFFF) if number >> 32 == 0x64FF9B << 64 else None


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
        self.sock: object = self.wire

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
