"""The canonical form of what is signed, by the examples printed in RFC 8785."""

from __future__ import annotations

import struct

import pytest

from judging.assessment.canonical_json import to_canonical_bytes

NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}
"""Bits of a double -> its text: RFC 8785, appendix B."""


@pytest.mark.parametrize("bits", NUMBERS)
def test_numbers_are_written_as_the_standard_prints_them(bits):
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert to_canonical_bytes(value).decode() == NUMBERS[bits]


def test_names_are_sorted_by_utf_16():
    """RFC 8785, 3.2.3: its example, in which the emoji comes before the dalet with a dagesh."""
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    found = to_canonical_bytes(dict.fromkeys(names, 0)).decode()
    assert found == '{"\\r":0,"1":0,"\u0080":0,"\u00f6":0,"\u20ac":0,"\U0001f600":0,"\ufb33":0}'


def test_texts_and_literals():
    """RFC 8785, 3.2.2: its example."""
    given = {"string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/", "literals": [None, True, False]}
    wanted = '{"literals":[null,true,false],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    assert to_canonical_bytes(given).decode() == wanted


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, -(2**60), "\ud800", {"\ud800": 1}, {1: 2}, {3}])
def test_what_has_no_form_is_refused(value):
    with pytest.raises(ValueError):
        to_canonical_bytes([value])
