"""Which addresses may be called on somebody's word."""

from __future__ import annotations

import socket
from ipaddress import ip_address

import pytest

from core.addresses import ForbiddenAddressError, Rule, check, resolve_checked


def resolving(*addresses: str):
    """A resolver that knows one name with these addresses."""
    return lambda host, port, type: [(socket.AF_INET, type, 6, "", (address, port)) for address in addresses]


HIDDEN = [
    "127.0.0.1",
    "127.8.8.8",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "0.1.2.3",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.8",
    "192.0.0.192",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "240.0.0.1",
    "::ffff:100.64.0.1",
    "::ffff:168.63.129.16",
    "64:ff9b::a83f:8110",
    "64:ff9b:1::7f00:1",
    "64:ff9b:1:a00:0:100::",
    "64:ff9b:1::808:808",
    "::127.0.0.1",
    "::10.0.0.1",
    "::8.8.8.8",
    "::ffff:0:127.0.0.1",
    "fec0::1",
    "feff:ffff::1",
    "2002:a00:1::1",
    "2002:808:808::1",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",  # Teredo of 127.0.0.1
    "2001:0:808:808:8000:63bf:f7f7:f7f7",  # Teredo of 8.8.8.8
    "2001:db8::1",
    "3fff::1",
    "100::1",
    "5f00::1",
    "4000::1",
    "ff0e::1",
    "fd00:ec2::254",
    "fd20:ce::254",
]
AT_THE_LINK = [
    "169.254.169.254",
    "168.63.129.16",
    "192.0.0.192",
    "100.100.100.200",
    "fe80::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "::ffff:169.254.169.254",
    "::169.254.169.254",
    "::ffff:0:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe",
    "64:ff9b:1:a9fe:a9:fe00::",
    "2002:a9fe:a9fe::1",
    "2001:0:4136:e378:8000:63bf:5601:5601",
]
"""Where a machine's keys may be, which not even a site with models at home calls."""


@pytest.mark.parametrize("address", HIDDEN)
def test_what_is_not_public_is_not_called(address):
    with pytest.raises(ForbiddenAddressError, match="not a public address"):
        check("https://lab.example/hook", Rule(), resolve=resolving(address))


@pytest.mark.parametrize("address", AT_THE_LINK)
def test_what_a_cloud_tells_a_machine_is_never_called(address):
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(ForbiddenAddressError, match="the machine's own link"):
        resolve_checked("https://lab.example/", Rule(private=True), resolve=resolving(address))
    with pytest.raises(ForbiddenAddressError, match="the machine's own link"):
        check(f"http://{host}/", Rule(private=True), resolve=resolving(address))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2a00:1450::1"]
)
def test_what_is_public_is_called_at_the_address_that_was_looked_at(address):
    assert str(check("https://lab.example/hook", Rule(), resolve=resolving(address))) == str(ip_address(address))


def test_an_address_without_a_name_is_said_once():
    with pytest.raises(ForbiddenAddressError, match=r"^127\.0\.0\.1 is not a public address\.$"):
        check("http://127.0.0.1/", Rule(), resolve=resolving("127.0.0.1"))


def test_one_hidden_address_among_public_ones_is_enough():
    with pytest.raises(ForbiddenAddressError):
        check("https://lab.example", Rule(), resolve=resolving("8.8.8.8", "10.0.0.1"))


SPELT = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0x7f.1",
    "127.0.0.1.",
    "localhost",
    "LOCALHOST.",
    "[::1]",
    "[::1%25lo]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "\uff11\uff12\uff17.0.0.1",
    "\u2460\u2461\u2466.0.0.1",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.254.169.254.",
]


@pytest.mark.parametrize("host", SPELT)
def test_the_systems_own_resolver_is_asked_however_an_address_is_written(host):
    with pytest.raises(ForbiddenAddressError):
        check(f"http://{host}:8000/", Rule())


@pytest.mark.parametrize(
    "url",
    [
        "ftp://lab.example/",
        "file:///etc/passwd",
        "lab.example",
        "http://",
        "http://a:b@lab.example/",
        "http://x:99999/",
    ],
)
def test_what_is_no_address_of_the_web_is_not_called(url):
    with pytest.raises(ForbiddenAddressError):
        check(url, Rule(private=True), resolve=resolving("8.8.8.8"))


def test_a_listed_host_may_be_private():
    rule = Rule.build_webhook_rule({"CONCORD_ALLOWED_HOOK_HOSTS": "other, Lab.Example"})
    assert check("http://lab.example/", rule, resolve=resolving("10.0.0.1"))
    with pytest.raises(ForbiddenAddressError):
        check("http://lab.example.evil/", rule, resolve=resolving("10.0.0.1"))


@pytest.mark.parametrize(
    ("environment", "private"),
    [
        ({}, True),
        ({"CONCORD_HTTPS": "1"}, False),
        ({"CONCORD_HTTPS": "1", "CONCORD_ALLOW_PRIVATE_ENDPOINTS": "1"}, True),
        ({"CONCORD_ALLOW_PRIVATE_ENDPOINTS": "0"}, False),
    ],
)
def test_models_may_be_at_home_on_a_laptop_and_not_on_a_site(environment, private):
    assert Rule.build_model_rule(environment).private is private
