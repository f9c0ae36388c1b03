"""The published layout of PersonaFeedback: {general,specific}/{easy,medium,hard}.jsonl and persona/<user_id>.json.

The personas' keys vary from file to file. Demographics and preferences stay structured, the name is known, and every
other section becomes readable text and is kept as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from core.errors import InputError
from core.files.input_files import InputFile, Problems, locate_error, parse_document, read_document, read_jsonl
from core.files.json_text import refuse_unstorable
from core.hashing import content_hash

# One public copy spells the second folder "spedific".
KINDS = {"general": "general", "specific": "specific", "spedific": "specific"}
TIERS = ("easy", "medium", "hard")


class SourceCase(BaseModel):
    """A question with the response that people chose and the one that they did not."""

    model_config = ConfigDict(extra="allow")

    user_id: str = Field(min_length=1, max_length=200)
    question: str = Field(min_length=1)
    chosen: str
    reject: str = Field(validation_alias=AliasChoices("reject", "rejected"))

    @model_validator(mode="after")
    def responses_differ(self) -> SourceCase:
        if self.chosen == self.reject:
            raise ValueError("the chosen and the rejected response are the same")
        return self


@dataclass(frozen=True)
class SourceGroup:
    """The cases of one file: a kind of question, and the tier that the authors gave it."""

    kind: str
    tier: str
    file: InputFile

    def id_of(self, case: SourceCase) -> str:
        """The same in every copy: the source gives no ids."""
        digest = content_hash([case.user_id, case.question, case.chosen, case.reject])
        return f"{self.kind}/{self.tier}/{digest[:20]}"

    def cases(self, personas: set[str], problems: Problems) -> Iterator[SourceCase]:
        """The cases whose persona is there; the others go to the problems."""
        for line, case in read_jsonl(self.file, SourceCase, problems, id_of=self.id_of):
            if case.user_id in personas:
                yield case
            else:
                error = self.file.error(f"there is no persona/{case.user_id}.json", line=line, field="user_id")
                problems.add(error, case.model_dump_json())


@dataclass(frozen=True)
class SourcePersona:
    """A profile as it is stored."""

    user_id: str
    content_hash: str
    fields: dict[str, object]


def groups(root: InputFile) -> list[SourceGroup]:
    """The files of cases in the folder, or in its folder data."""
    found = [
        SourceGroup(kind, tier, InputFile(path, f"{root.name}/{path.relative_to(root.path)}"))
        for base in (root.path, root.path / "data")
        for folder, kind in KINDS.items()
        for tier in TIERS
        if (path := base / folder / f"{tier}.jsonl").exists()
    ]
    if not found:
        raise root.error("holds neither general/easy.jsonl nor another file of PersonaFeedback's cases")
    return found


def persona_files(root: InputFile) -> dict[str, InputFile]:
    """The personas' files by user id."""
    return {
        path.stem: InputFile(path, f"{root.name}/{path.relative_to(root.path)}")
        for base in (root.path, root.path / "data")
        for path in sorted((base / "persona").glob("*.json"))
    }


def read_personas(files: dict[str, InputFile], problems: Problems) -> Iterator[SourcePersona]:
    for user_id, file in files.items():
        try:
            persona = read_persona(user_id, file)
        except InputError as error:
            problems.add(error)
        else:
            yield persona


def read_persona(user_id: str, file: InputFile) -> SourcePersona:
    data = read_document(file)
    document = parse_document(file, data)
    if not isinstance(document, dict):
        raise file.error("should be a JSON object", line=1)
    refuse_unstorable(document, lambda path, why: locate_error(file, data, path, why))
    return SourcePersona(user_id, hashlib.sha256(data).hexdigest(), persona_fields(document))


def persona_fields(document: dict[str, object]) -> dict[str, object]:
    """Columns of the profile; a section of another shape than expected is treated as one that is not known."""
    rest = dict(document)
    name = rest.pop("Name") if isinstance(rest.get("Name"), str) else ""
    demographics = rest.pop("Demographics") if isinstance(rest.get("Demographics"), dict) else {}
    preferences = rest.pop("Preference") if isinstance(rest.get("Preference"), dict) else {}
    memories = rest.pop("Memories") if isinstance(rest.get("Memories"), list) else []
    text = "\n\n".join(f"{readable(section)}\n{to_text(content)}" for section, content in rest.items())
    return {
        "name": str(name)[:200],
        "persona": text,
        "demographics": demographics,
        "preferences": preferences,
        "memories": memories,
        "extra": rest,
    }


def persona_document(fields: Mapping[str, object]) -> dict[str, object]:
    """A persona's file from the columns of its profile: what `persona_fields` reads, the other way round.

    Columns that the layout does not know stand under their own names; empty ones are left out.
    """
    sections = {"Name": "name", "Demographics": "demographics", "Preference": "preferences", "Memories": "memories"}
    known = {section: fields[column] for section, column in sections.items() if fields.get(column)}
    more = {name.capitalize(): fields[name] for name in ("interests", "interactions") if fields.get(name)}
    own = extra if isinstance(extra := fields.get("extra"), dict) else {}
    # the persona's text is made of what is in `extra`; one that was written by itself has no other place
    text = {"Persona": fields["persona"]} if fields.get("persona") and not own else {}
    return {**known, **more, **text, **own}


def to_text(value: object) -> str:
    """Nested data as lines: `Values and Interests: hiking, films`."""
    if isinstance(value, dict):
        return "\n".join(f"{readable(key)}: {to_line(part)}" for key, part in value.items())
    return to_line(value)


def to_line(value: object) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{readable(key)}: {to_line(part)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(to_line(part) for part in value)
    return str(value)


def readable(key: str) -> str:
    return key.replace("_", " ")
