"""Logs of inspect_ai: each sample is a dialogue, each scorer a judge. Read only, as `.json` or `.eval`.

An epoch is a dialogue of its own, for its answer is another one. A score of several values is a criterion for each.
A scorer is named with the model that it scored: `match of openai/gpt-4o`.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.corpus.exchange.dataset import ExchangedAnswer, Naming, Package, Rated, Scale, spell_value, to_key
from annotation.corpus.exchange.reading import Given, Place, collect_package
from annotation.corpus.parsing.messages import to_turns
from core.errors import InputError
from core.files.input_files import (
    DOCUMENT_LIMIT,
    MEGABYTE,
    InputFile,
    Problems,
    parse_document,
    read_document,
    unreadable,
)
from core.files.writing import load_arrow

ZSTANDARD = 93
"""How current logs are packed (APPNOTE 6.3.8 of the ZIP format); Python 3.11 cannot unpack it by itself."""
ATTACHED = "attachment://"
KEPT = ("role", "content", "tool_calls", "tool_call_id", "reasoning_content", "parts")
"""What is kept of a message; its ids and times are of no use to who reads it."""
NO_ANSWER = "N"
GRADES = (("I", "Incorrect"), ("P", "Partly correct"), ("C", "Correct"))


def read(file: InputFile, problems: Problems, naming: Naming, known: Mapping[str, Scale]) -> Package:
    """A log with its samples. InputError names the file and the sample."""
    log = open_packed_log(file) if is_packed(file) else whole_log(file)
    answers = SampleAnswers(str(log.about.get("model", "?")), naming)
    return collect_package(file, problems, log.samples, answers.to_rated, {**known, **build_grade_scales(known)})


def build_grade_scales(known: Mapping[str, Scale]) -> dict[str, Scale]:
    """Scorers give the grades C, P and I; they are a scale for whatever criterion is graded so."""
    categories = tuple({"value": value, "label": label, "guideline": ""} for value, label in GRADES)
    names = ("match", "includes", "choice", "model_graded_qa", "model_graded_fact", "answer", "exact", "pattern")
    return {
        name: Scale(name, name, "Is the answer correct?", "ordinal", categories) for name in names if name not in known
    }


@dataclass(frozen=True)
class Log:
    """What was evaluated, and the samples with their places."""

    about: Mapping[str, object]
    samples: Iterator[Given]


def whole_log(file: InputFile) -> Log:
    document = parse_document(file, read_document(file))
    if not isinstance(document, dict) or "eval" not in document or not isinstance(document.get("samples"), list):
        raise file.error("is not a log of inspect_ai: an object with eval and samples is expected")
    return Log(
        build_about(file, document), ((f"samples.{place}", one) for place, one in enumerate(document["samples"]))
    )


def build_about(file: InputFile, document: object) -> Mapping[str, object]:
    about = document.get("eval") if isinstance(document, dict) else None
    if not isinstance(about, dict):
        raise file.error("does not say what was evaluated", field="eval")
    return about


def is_packed(file: InputFile) -> bool:
    try:
        return zipfile.is_zipfile(file.path)
    except OSError as error:
        raise unreadable(file, error) from error


def open_packed_log(file: InputFile) -> Log:
    """A log in a ZIP file: header.json, and a file for each sample."""
    try:
        with zipfile.ZipFile(file.path) as archive:
            inside = {member.filename: member for member in archive.infolist()}
    except (OSError, zipfile.BadZipFile) as error:
        raise file.error("is not a ZIP file that can be read: {error}", error=error) from error
    size = sum(member.file_size for member in inside.values())
    if size > DOCUMENT_LIMIT:
        raise file.error(
            "holds {size} MB, and a log may have {most} MB", size=size // MEGABYTE, most=DOCUMENT_LIMIT // MEGABYTE
        )
    if "header.json" not in inside:
        raise file.error("is not a log of inspect_ai: it has no header.json")
    header = parse_document(file, unpack_member(file, inside["header.json"]))
    names = [name for name in inside if name.startswith("samples/") and name.endswith(".json")]
    samples = ((name, parse_document(file, unpack_member(file, inside[name]))) for name in names)
    return Log(build_about(file, header), samples)


def unpack_member(file: InputFile, member: zipfile.ZipInfo) -> bytes:
    """The content of one file of the archive, no longer than it says it is."""
    try:
        if member.compress_type != ZSTANDARD:
            with zipfile.ZipFile(file.path) as archive, archive.open(member) as plain:
                return plain.read(member.file_size)
        with file.path.open("rb") as archive_file:
            archive_file.seek(member.header_offset + 26)  # the lengths of name and extra in the local header
            lengths = archive_file.read(4)
            archive_file.seek(
                int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), io.SEEK_CUR
            )
            packed = archive_file.read(member.compress_size)
        arrow = load_arrow()
        with arrow.CompressedInputStream(arrow.py_buffer(packed), "zstd") as stream:
            return bytes(stream.read(member.file_size))
    except (OSError, ValueError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise file.error("cannot be unpacked: {error}", field=member.filename, error=error) from error


@dataclass(frozen=True)
class SampleAnswers:
    """Reads samples of a log whose model is known."""

    model: str
    naming: Naming

    def to_rated(self, sample: Mapping[str, Any], place: Place) -> Rated:  # noqa: ARG002
        """A dialogue with what each scorer gave it."""
        attached = sample.get("attachments") or {}
        messages = [{**one, "content": resolve_attachments(one.get("content"), attached)} for one in sample["messages"]]
        turns = [{name: turn[name] for name in KEPT if name in turn} for turn in to_turns(messages)]
        identity = spell_value(sample["id"])
        epoch = sample.get("epoch", 1)
        record = {
            "id": identity if epoch == 1 else f"{identity}-{epoch}",
            "turns": turns,
            "assistant_model": self.model[:120],
            "target": sample.get("target"),
        }
        answers = [
            answer
            for scorer, score in (sample.get("scores") or {}).items()
            for answer in self.iterate_answers(scorer, score, attached)
        ]
        return Rated(record, tuple(answers))

    def iterate_answers(
        self, scorer: str, score: Mapping[str, object], attached: Mapping[str, str]
    ) -> Iterator[ExchangedAnswer]:
        value = score["value"]
        values = value if isinstance(value, dict) else {scorer: value}
        told = {"rater": f"{scorer} of {self.model}"[:100], "of_judge": True}
        note = str(resolve_attachments(score.get("explanation") or "", attached))
        for name, one in values.items():
            if isinstance(one, list):
                raise InputError("a score of several values without names cannot be read", field=scorer)
            given = {"reason": "no answer"} if one in (None, NO_ANSWER) else {"value": spell_value(one)}
            yield ExchangedAnswer.from_extras({**given, "note": note}, **told, criterion=to_key(name))


def resolve_attachments(content: object, attached: Mapping[str, str]) -> object:
    """The content; long texts lie apart and are named by their hash."""
    if isinstance(content, str) and content.startswith(ATTACHED):
        return attached[content.removeprefix(ATTACHED)]
    if isinstance(content, list):
        return [
            {**part, "text": resolve_attachments(part["text"], attached)}
            if isinstance(part, dict) and "text" in part
            else part
            for part in content
        ]
    return content
