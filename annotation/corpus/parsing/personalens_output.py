"""What PersonaLens writes: dialogues, and judges' replies about them as free text.

output/dialogue/user<N>/<assistant model>/<task_id>_dialogue.json
output/evaluation/user<N>/<assistant model>/<dimension>/<judge model>/<task_id>[_user|_asst].txt
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from annotation.corpus.parsing.records import Turn
from core.errors import InputError
from core.files.input_files import InputFile, Problems, check_value, not_utf8, parse_document, read_document

# Dimension and side (the end of the file's name) -> key of the criterion.
CRITERIA = {
    ("task_completion", ""): "task_completion",
    ("personalization", ""): "personalization",
    ("naturalness", "user"): "naturalness_user",
    ("naturalness", "asst"): "naturalness_assistant",
    ("coherence", "user"): "coherence_user",
    ("coherence", "asst"): "coherence_assistant",
}
COMPLETED = {"true": "yes", "false": "no"}
COMPLETION = re.compile(r"\A\W*(true|false)\b|\b(true|false)\b\W*explanation", re.IGNORECASE)
SCORE = re.compile(r"\bscore\b[^\w\n]{0,12}(\d+(?:\.\d+)?)", re.IGNORECASE)
REASON = re.compile(r"\b(?:explanation|justification)\b\W*(.*)\Z", re.IGNORECASE | re.DOTALL)


class DialogueDocument(BaseModel):
    """<task_id>_dialogue.json"""

    model_config = ConfigDict(extra="allow")

    task_id: str
    dialogue: Annotated[list[Turn], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class About:
    """Which dialogue it is: of which user with which assistant about which task."""

    user: str
    assistant_model: str
    task: str

    @property
    def external_id(self) -> str:
        return f"{self.user}/{self.assistant_model}/{self.task}"


@dataclass(frozen=True, slots=True)
class ParsedDialogue:
    about: About
    file: InputFile
    content_hash: str
    turns: list[dict[str, object]]
    extra: dict[str, object]


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """A judge's reply, and the value that it holds, if it holds exactly one."""

    about: About
    file: InputFile
    judge: str
    criterion: str
    value: str | None
    explanation: str
    text: str


def read_dialogues(output: InputFile, users: set[int] | None, problems: Problems) -> Iterator[ParsedDialogue]:
    for parts, file in files(output, "dialogue", users, problems, depth=3, ending="_dialogue.json"):
        try:
            dialogue = read_dialogue(About(*parts), file)
        except InputError as error:
            problems.add(error)
        else:
            yield dialogue


def read_dialogue(about: About, file: InputFile) -> ParsedDialogue:
    data = read_document(file)
    document = check_value(file, data, [], parse_document(file, data), DialogueDocument)
    if document.task_id != about.task:
        raise file.error(f"the file's name says {about.task}, and its task_id {document.task_id}", field="task_id")
    if len(about.external_id) > 200 or len(about.assistant_model) > 120:
        raise file.error("the names of its folders are too long")
    turns = [turn.model_dump() for turn in document.dialogue]
    return ParsedDialogue(about, file, hashlib.sha256(data).hexdigest(), turns, document.model_extra or {})


def read_replies(output: InputFile, users: set[int] | None, problems: Problems) -> Iterator[ParsedReply]:
    for parts, file in files(output, "evaluation", users, problems, depth=5, ending=".txt"):
        try:
            reply = read_reply(*parts, file=file)
        except InputError as error:
            problems.add(error)
        else:
            yield reply


def read_reply(user: str, assistant: str, dimension: str, judge: str, name: str, *, file: InputFile) -> ParsedReply:
    key = re.sub(r"[\s-]+", "_", dimension.lower())
    task, _, side = name.rpartition("_")
    about, criterion = About(user, assistant, task), CRITERIA.get((key, side))
    if not criterion:
        about, criterion = About(user, assistant, name), CRITERIA.get((key, ""))
    if not criterion:
        sided = any(known == key for known, _ in CRITERIA)
        raise file.error("its name ends neither in _user nor in _asst" if sided else f"no dimension is called {key}")
    data = read_document(file)
    if wrong := not_utf8(data):
        raise file.error(wrong[0], line=wrong[1])
    text = data.decode().replace("\0", "")
    return ParsedReply(about, file, judge, criterion, verdict(text, criterion), explanation(text), text)


def verdict(text: str, criterion: str) -> str | None:
    """The score, or yes or no for task completion; None where the reply holds none, or several that differ."""
    if criterion == "task_completion":
        found = {COMPLETED[(start or before).lower()] for start, before in COMPLETION.findall(text)}
    else:
        found = set(SCORE.findall(text))
    return found.pop() if len(found) == 1 else None


def explanation(text: str) -> str:
    """What follows the word explanation or justification."""
    found = REASON.search(text)
    return found[1].strip() if found else ""


def files(
    output: InputFile, folder: str, users: set[int] | None, problems: Problems, *, depth: int, ending: str
) -> Iterator[tuple[tuple[str, ...], InputFile]]:
    """Names of the folders below <output>/<folder> and of the file without its ending, and the file, in order."""
    root = output.path / folder
    for user in sorted(root.glob("user*"), key=lambda path: (len(path.name), path.name)):
        if not re.fullmatch(r"user\d+", user.name) or (users is not None and int(user.name[4:]) not in users):
            continue
        for path in sorted(user.rglob(f"*{ending}")):
            parts = path.relative_to(root).parts
            file = InputFile(path, f"{output.name}/{path.relative_to(output.path)}")
            if len(parts) == depth:
                yield (*parts[:-1], path.name.removesuffix(ending)), file
            else:
                problems.add(file.error(f"lies {len(parts)} levels below {folder}, and {depth} are expected"))
