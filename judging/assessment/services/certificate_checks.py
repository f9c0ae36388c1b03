"""Whether a certificate holds: who signed it, whether it was changed or revoked, and whether it still applies."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.errors import InputError
from core.files.json_text import parse_json
from core.hashing import digest
from judging.assessment import signing
from judging.assessment.canonical_json import to_canonical_bytes
from judging.assessment.models.assessment import Certificate
from judging.assessment.queries import certificates as queries
from judging.assessment.result_types import CertificateStatusDocument
from judging.assessment.services.certificates import FORMAT, document, judge_hash
from judging.assessment.signing import Key

UNSIGNED_FORMAT = "concord-judge-certificate/1"

HOLDS, EXPIRED, REVOKED, UNKNOWN = "holds", "expired", "revoked", "unknown"
ALTERED, FORGED, FOREIGN, UNSIGNED, MALFORMED = "altered", "forged", "foreign key", "unsigned", "malformed"

LARGEST_FILE = 4 * 2**20
"""Bytes. A certificate of fifty criteria has a tenth of them."""

LARGEST_ROW = 2**63
HASH = re.compile(r"[0-9a-f]{64}")
SIGNATURE = {"key_id": r"[0-9a-f]{16}", "public_key": r"[0-9a-f]{64}", "value": r"[0-9a-f]{128}"}


@dataclass(frozen=True)
class CertificateStatus:
    """Whether a certificate holds.

    Attributes
    ----------
    state
        holds; expired (judge, prompt or items changed); revoked; altered (the content is not that of the hash); forged
        (the signature is not of this content); foreign key; unsigned; unknown (not issued here); malformed.
    problems
        Why it does not hold, in words.
    notes
        What was checked, and what could not be.
    sha256
        Of the certificate, as far as the file has one.
    decisions
        What it decides by criterion, where it holds.
    """

    state: str
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sha256: str = ""
    decisions: Mapping[str, str] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether all that could be checked was found as it should be."""
        return self.state == HOLDS

    @property
    def allows_use(self) -> bool:
        """Whether it lets the judge be used on some criterion."""
        return bool({"replace", "assist and escalate"} & set(self.decisions.values()))

    def to_json(self) -> CertificateStatusDocument:
        """As JSON types."""
        return {
            "state": self.state,
            "holds": self.holds,
            "problems": list(self.problems),
            "notes": list(self.notes),
            "sha256": self.sha256,
            "decisions": dict(self.decisions),
        }


def read_file(data: bytes) -> object:
    """The JSON value in a certificate's file. InputError for what is too large, no JSON, or says a name twice."""
    if len(data) > LARGEST_FILE:
        raise InputError(
            "The file is larger than {largest_file} MB, which no certificate is.", largest_file=LARGEST_FILE // 2**20
        )
    if not data.strip():
        raise InputError("The file is empty.")
    parse_json(data)  # within limits: behind it, the standard library's reader cannot run out of stack
    try:
        return json.loads(data, object_pairs_hook=_once)
    except InputError:
        raise
    except ValueError as error:  # a whole number of thousands of digits
        raise InputError("This is not JSON that can be read: {error}.", error=error) from error


def _once(members: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Raise InputError for a name that stands twice: two readers might read two values."""
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("The file holds {twice!r} twice.", twice=twice[:80])
    return found


def find_issued(sha256: str) -> CertificateStatus:
    """Whether the certificate of this hash holds, among those that the site issued."""
    if not HASH.fullmatch(sha256):
        return CertificateStatus(MALFORMED, ("A certificate's hash has 64 hexadecimal digits.",))
    row = queries.find_issued(sha256)
    if row is None:
        return CertificateStatus(UNKNOWN, ("No certificate of this hash was issued here.",), sha256=sha256)
    return replace(check(document(row)), decisions={})  # who has the hash alone reads nothing of the study


def check(found: Any, public_key: bytes | None = None) -> CertificateStatus:
    """Whether a certificate's file holds: by this key alone, or by any of the site's where none is given."""
    if problem := _malformed(found):
        return CertificateStatus(MALFORMED, (problem,))
    content, sha256 = found["content"], found["sha256"]
    if "signature" not in found:
        old = content["format"] == UNSIGNED_FORMAT
        why = "It is not signed: it was issued before certificates were signed." if old else "It is not signed."
        return CertificateStatus(UNSIGNED, (why,), sha256=sha256)
    state, problem = _check_signature(content, sha256, found["signature"], public_key)
    if state != HOLDS:
        return CertificateStatus(state, (problem,), sha256=sha256)
    checked = _check_issued(sha256, problem, alone=public_key is not None)
    return replace(checked, decisions=_decisions(content)) if checked.holds else checked


def _decisions(content: Mapping[str, Any]) -> dict[str, str]:
    """The verdict on each criterion, by the criterion's name; none where another site wrote it in another way.

    Criteria of one name have their keys behind it: each has its verdict.
    """
    try:
        found = [(str(key), str(one["name"]), str(one["decision"])) for key, one in content["criteria"].items()]
    except (AttributeError, KeyError, TypeError):
        return {}
    often = Counter(name for _, name, _ in found)
    return {f"{name} ({key})" if often[name] > 1 else name: decision for key, name, decision in found}


def _malformed(found: object) -> str:
    """What keeps a value from being read as a certificate; empty where nothing does."""
    if not isinstance(found, Mapping) or not isinstance(found.get("content"), Mapping):
        return "This is not a certificate: it has no content."
    if found["content"].get("format") not in (FORMAT, UNSIGNED_FORMAT):
        return f"This is not a certificate of the format {FORMAT}."
    if unsigned := set(found) - {"content", "sha256", "signature"}:
        return f"It holds {str(min(unsigned))[:80]!r}, which no signature covers."
    if not _matches(HASH.pattern, found.get("sha256")):
        return "Its sha256 is not 64 hexadecimal digits."
    return _malformed_signature(found["signature"]) if "signature" in found else ""


def _malformed_signature(signature: object) -> str:
    if not isinstance(signature, Mapping) or set(signature) != {"algorithm", *SIGNATURE}:
        return "Its signature has other parts than a signature has."
    if signature["algorithm"] != signing.ALGORITHM:
        return f"Its signature is not one by {signing.ALGORITHM}."
    wrong = (name for name, pattern in SIGNATURE.items() if not _matches(pattern, signature[name]))
    return next((f"The {name} of its signature is not what it should be." for name in wrong), "")


def _matches(pattern: str, value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _check_signature(
    content: Mapping[str, object], sha256: str, signature: Mapping[str, str], given: bytes | None
) -> tuple[str, str]:
    """The state by the signature alone, with the problem, or with who signed where there is none."""
    try:
        signed = to_canonical_bytes(content)
    except ValueError as error:
        return MALFORMED, f"Its content has no canonical form: {error}."
    if digest(signed) != sha256:
        return ALTERED, "The content does not match its SHA-256: it was changed after it was issued."
    public, value = bytes.fromhex(signature["public_key"]), bytes.fromhex(signature["value"])
    if signature["key_id"] != signing.name_key(public) or not signing.is_signed_by(public, value, signed):
        return (
            FORGED,
            "The signature is not of this content: somebody changed or made up the content and recomputed its hash.",
        )
    keys = signing.read_keys() if given is None else [Key(given)]
    if signing.find_key(public, keys):
        whose = "this site’s key" if given is None else "the key that was given"
        return HOLDS, f"Signed with {whose} {signature['key_id']}."
    if given is not None:
        return FOREIGN, f"It is signed with another key ({signature['key_id']}) than the one that was given."
    return FOREIGN, (
        f"It is signed with the key that stands in it ({signature['key_id']}), which is none of this site’s. That "
        "proves nothing about who signed it: check it with the public key of its issuer."
    )


def _check_issued(sha256: str, signed: str, *, alone: bool) -> CertificateStatus:
    """Whether a certificate with a good signature was issued here, and is neither revoked nor expired.

    ``alone`` says that somebody named the key that they believe: then it need not be known here.
    """
    row = None if alone and not queries.has_tables() else queries.find_issued(sha256)
    if row is None and alone:
        note = "It was not issued by this site: only its issuer knows whether it was revoked or expired since."
        return CertificateStatus(HOLDS, notes=(signed, note), sha256=sha256)
    if row is None:
        why = "It is not among the certificates that this site issued: its study was deleted, or the key was stolen."
        return CertificateStatus(UNKNOWN, (why,), (signed,), sha256)
    if hasattr(row, "revocation"):
        when = f"{row.revocation.created_at:%Y-%m-%d}"
        return CertificateStatus(REVOKED, (f"It was revoked on {when}: {row.revocation.reason}",), (signed,), sha256)
    if not _is_whole(row):
        return CertificateStatus(
            MALFORMED, ("It lacks something that a certificate of this format says.",), (signed,), sha256
        )
    problems = tuple(_changes(row))
    return CertificateStatus(EXPIRED if problems else HOLDS, problems, (signed,), sha256)


def _is_whole(row: Certificate) -> bool:
    """Whether all is there that it is held to: rows may come from another site's archive."""
    try:
        content, judge, items = row.content, row.content["judge"], row.content["items"]
        texts, numbers = [judge["hash"], items["hash"], *content["prompts"]], [*content["runs"]]
    except (KeyError, TypeError):
        return False
    is_text = all(isinstance(one, str) for one in texts)
    return is_text and all(type(one) is int and 0 <= one < LARGEST_ROW for one in numbers)


def _changes(row: Certificate) -> Iterator[str]:
    """What it was issued for and is not so any more."""
    content, judge = row.content, row.judge
    if judge_hash(judge) != content["judge"]["hash"]:
        yield "the judge's provider, model or parameters are not those that were certified"
    newest = queries.newest_version(judge)
    if newest > judge.version:
        yield f"there is a newer version of the judge (v{newest})"
    today = queries.prompts_today(content["runs"])
    if today and not today <= set(content["prompts"]):
        yield "the prompt that the judge is asked with has changed"
    if queries.item_set(row.study)[1] != content["items"]["hash"]:
        yield "the study's items have changed: some were added or taken away, or their text was edited"
