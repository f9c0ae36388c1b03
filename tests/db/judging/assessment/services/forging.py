"""What somebody might do to a certificate who has no key of the site."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from core.hashing import content_hash, digest
from judging.assessment import signing
from judging.assessment.canonical_json import to_canonical_bytes

Document = dict[str, Any]


def decide_all(document: Document) -> Document:
    """Every decision is replace, and nothing else is done about it."""
    forged = copy.deepcopy(document)
    for one in forged["content"]["criteria"].values():
        one["decision"] = "replace (forged)"
    return forged


def hash_anew(document: Document) -> Document:
    return {**document, "sha256": digest(to_canonical_bytes(document["content"]))}


def hash_as_before_signing(document: Document) -> Document:
    return {**document, "sha256": content_hash(document["content"])}


def sign_anew(document: Document, private: str) -> Document:
    """The content as it is, under a key that somebody made for the purpose."""
    key = signing.read_key(private, "")
    signed = to_canonical_bytes(document["content"])
    value = key.private.sign(signed).hex() if key.private else ""
    signature = {"algorithm": "Ed25519", "key_id": key.key_id, "public_key": key.hex, "value": value}
    return {"content": document["content"], "sha256": digest(signed), "signature": signature}


def signed_elsewhere(document: Document) -> tuple[Document, bytes]:
    """As another site would have issued it, and that site's public key."""
    private = signing.new_key()
    content = {**document["content"], "code_version": "elsewhere"}
    return sign_anew({"content": content}, private), signing.read_key(private, "").public


def with_signature(document: Document, **changes: Any) -> Document:
    return {**document, "signature": {**document["signature"], **changes}}


def without_signature(document: Document) -> Document:
    return {name: part for name, part in document.items() if name != "signature"}


def under_the_sites_name(document: Document) -> Document:
    """Another key's signature beside the site's public key."""
    forged = sign_anew(decide_all(document), signing.new_key())
    real = document["signature"]
    return with_signature(forged, key_id=real["key_id"], public_key=real["public_key"])


FORGERIES: dict[str, tuple[Callable[[Document], Document], str, str]] = {
    "edited": (decide_all, "altered", "does not match its SHA-256"),
    "edited, hash of old": (lambda one: hash_as_before_signing(decide_all(one)), "altered", "does not match"),
    "edited, hash anew": (lambda one: hash_anew(decide_all(one)), "forged", "The signature is not of this content"),
    "another key": (lambda one: sign_anew(decide_all(one), signing.new_key()), "foreign key", "none of this site’s"),
    "another key under this one's name": (under_the_sites_name, "forged", "The signature is not of this content"),
    "another key id": (lambda one: with_signature(one, key_id="0" * 16), "forged", "The signature is not of this"),
    "signature of zeros": (lambda one: with_signature(one, value="0" * 128), "forged", "The signature is not of this"),
    "no signature": (without_signature, "unsigned", "It is not signed."),
    "no signature, format of old": (
        lambda one: without_signature({**one, "content": {**one["content"], "format": "concord-judge-certificate/1"}}),
        "unsigned",
        "issued before certificates were signed",
    ),
}
"""By what was done: the forgery, the state that it is found in, and some of the words."""

CHANGES: dict[str, Callable[[Document], Any]] = {
    "a list": lambda one: [one],
    "nothing": lambda one: None,
    "no content": lambda one: {"sha256": one["sha256"]},
    "content of text": lambda one: {**one, "content": "x"},
    "another format": lambda one: {**one, "content": {"format": "other"}},
    "a format of another type": lambda one: {**one, "content": {"format": ["x"]}},
    "no hash": lambda one: {**one, "sha256": None},
    "a hash of another type": lambda one: {**one, "sha256": 5},
    "a short hash": lambda one: {**one, "sha256": "ab"},
    "a hash in capitals": lambda one: {**one, "sha256": one["sha256"].upper().replace("0", "A")},
    "a signature of text": lambda one: {**one, "signature": "x"},
    "a signature of nothing": lambda one: {**one, "signature": None},
    "something beside the content": lambda one: {**one, "verdict": "replace"},
    "something beside the signature": lambda one: with_signature(one, verdict="replace"),
    "another algorithm": lambda one: with_signature(one, algorithm="none"),
    "a key of another type": lambda one: with_signature(one, public_key=7),
    "a short key": lambda one: with_signature(one, public_key="ab"),
    "a long signature": lambda one: with_signature(one, value="a" * 130),
    "a whole number beyond doubles": lambda one: {**one, "content": {**one["content"], "runs": [2**60]}},
    "half of a character": lambda one: {**one, "content": {**one["content"], "x": "\ud800"}},
}
"""What keeps a document from being read as a certificate."""
