"""The formats of other tools that Concord knows: what files they are, what they cannot carry, how they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from annotation.corpus.exchange import argilla, doccano, hf_folder, inspect_log, label_studio, potato, votes
from annotation.corpus.exchange.dataset import Items, Naming, Package, Scale, StudyHead
from core.errors import InputError, gettext_noop
from core.files.input_files import InputFile, Problems

Write = Callable[[StudyHead, Items], Iterator[str]]
Read = Callable[[InputFile, Problems, Naming, Mapping[str, Scale]], Package]


@dataclass(frozen=True)
class Exchange:
    """A tool's format.

    Attributes
    ----------
    key, title
        As on the command line, and as people call it.
    files
        Name of a file -> what writes it; the first is the one that is read again. Empty where Concord only reads.
    unseen
        What the tool itself does not show, though the file carries it for Concord.
    kinds
        Kinds of items that it can hold.
    read
        Reads a file (a folder for Potato).
    telling
        Keys that its records have, and records of other formats do not.
    """

    key: str
    title: str
    files: Mapping[str, Write]
    read: Read
    unseen: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ("dialogue", "pair")
    telling: tuple[str, ...] = ()


MOSTLY = (
    gettext_noop("order of the responses"),
    gettext_noop("notes"),
    gettext_noop("strength"),
    gettext_noop("evidence"),
    gettext_noop("time"),
    gettext_noop("guideline version"),
)

EXCHANGES: dict[str, Exchange] = {
    found.key: found
    for found in (
        Exchange(
            "labelstudio",
            "Label Studio",
            {"tasks.json": label_studio.tasks, "config.xml": label_studio.configuration},
            label_studio.read,
            (
                gettext_noop("order of the responses"),
                gettext_noop("strength"),
                gettext_noop("evidence"),
                gettext_noop("guideline version"),
                gettext_noop("turns that a rating is of"),
                gettext_noop("severity"),
            ),
            telling=("data", "annotations"),
        ),
        Exchange(
            "argilla",
            "Argilla",
            {"records.json": argilla.records, ".argilla/settings.json": argilla.settings},
            argilla.read,
            (
                *MOSTLY,
                gettext_noop("names of annotators"),
                gettext_noop("further judges"),
                gettext_noop("answers without a value"),
                gettext_noop("marked spans"),
                gettext_noop("which response a text is of"),
            ),
            telling=("fields", "responses"),
        ),
        Exchange(
            "potato",
            "Potato",
            {
                "data.jsonl": potato.instances,
                "annotations.jsonl": potato.iterate_annotation_lines,
                "llm_labels.jsonl": potato.iterate_judgment_lines,
            },
            potato.read,
            (*MOSTLY[1:], gettext_noop("answers without a value"), gettext_noop("where marked spans lie")),
        ),
        Exchange(
            "doccano",
            "doccano",
            {"labels.jsonl": doccano.lines},
            doccano.read,
            (
                *MOSTLY,
                gettext_noop("turns"),
                gettext_noop("answers without a value"),
                gettext_noop("marked spans and texts"),
            ),
        ),
        Exchange(
            "votes",
            "votes (MT-Bench, Chatbot Arena)",
            {"votes.jsonl": votes.lines},
            votes.read,
            (*MOSTLY[1:], gettext_noop("criteria that are not a preference"), gettext_noop("answers without a value")),
            ("pair",),
            ("model_a", "model_b", "winner", "judge"),
        ),
        Exchange("inspect", "inspect_ai", {}, inspect_log.read, kinds=("dialogue",), telling=("eval", "samples")),
        Exchange("hf", "Hugging Face dataset of Concord", {}, hf_folder.read),
    )
}


def exchange_named(key: str, *, writing: bool = False) -> Exchange:
    """The format. Raises InputError, naming those that exist, where there is none."""
    known = {name: one for name, one in EXCHANGES.items() if one.files or not writing}
    if key not in known:
        raise InputError("there is no format {key!r}; choose {known}", field="format", key=key, known=", ".join(known))
    return known[key]


def recognise_exchange(record: Mapping[str, object]) -> Exchange | None:
    """The tool whose export a record is of; None where it does not look like one that brings labels."""
    return next((one for one in EXCHANGES.values() if one.telling and set(one.telling) <= set(record)), None)
