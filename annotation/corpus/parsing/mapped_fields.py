"""What can be made of the rows of a table: kinds of records, and the fields that a column may be mapped to."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.stats.orders import LETTERS, MOST
from core.errors import InputError

TEXT, JSON, LIST, TURNS, NUMBER, RESPONSES = "text", "json", "list", "turns", "number", "responses"


@dataclass(frozen=True)
class MappedField:
    """A field that a column can be mapped to.

    Attributes
    ----------
    key, title, help
        In files, on pages, and what it holds where the title does not say it.
    holds
        How a cell is read: TEXT; JSON for an object; LIST for JSON or texts with separators; TURNS for messages;
        RESPONSES for a JSON list of texts or objects.
    names
        What such columns are called, in lower case with underscores, the most usual first.
    may_be_constant
        Whether one value may be given for all rows in place of a column.
    """

    key: str
    title: str
    names: tuple[str, ...] = ()
    help: str = ""
    holds: str = TEXT
    may_be_constant: bool = False


@dataclass(frozen=True)
class MappedKind:
    """Something that rows can become. One of the `needed` sets of fields must be there."""

    key: str
    title: str
    about: str
    fields: tuple[MappedField, ...]
    needed: tuple[tuple[str, ...], ...]

    def field(self, key: str) -> MappedField:
        """The field of that key. InputError where there is none."""
        for one in self.fields:
            if one.key == key:
                return one
        known = ", ".join(each.key for each in self.fields)
        raise InputError(
            "{title} have no field {key!r}; they have {known}",
            field=f"columns.{key}",
            title=self.title,
            key=key,
            known=known,
        )


ID = MappedField(
    "id",
    "Id",
    ("id", "uid", "uuid", "example_id", "sample_id", "item_id", "row_id", "prompt_id", "key", "nr"),
    "Rows with the same id are one record. Without a column, the content itself identifies a row.",
)
PROFILE = MappedField("profile_id", "Profile", ("profile_id", "persona_id", "profile"), "Id of an imported profile.")
TASK = MappedField("task_id", "Task", ("task_id", "task"), "Id of an imported task.")
PROBABILITY = MappedField(
    "inclusion_probability",
    "Inclusion probability",
    ("inclusion_probability",),
    "Where the file is a sample itself: the chance that each row had of being in it, above 0 and at most 1.",
    NUMBER,
)
PROMPT_NAMES = ("prompt", "question", "instruction", "query", "input", "user_message", "user", "request", "frage")
ANSWER_NAMES = (
    "response",
    "answer",
    "completion",
    "output",
    "reply",
    "assistant_message",
    "assistant",
    "generated_text",
    "model_output",
    "model_response",
    "antwort",
)
SYSTEM_NAMES = ("system", "system_prompt", "system_message", "system_instruction")
MODEL_NAMES = ("assistant_model", "model", "model_name", "model_id", "generator")
CONTEXT_NAMES = ("context", "background", "passage", "document", "kontext")

DIALOGUES = MappedKind(
    "dialogues",
    "Dialogues",
    "One conversation in each row, or one turn in each row.",
    (
        ID,
        MappedField(
            "turns",
            "Whole conversation",
            ("turns", "messages", "conversation", "conversations", "dialogue", "dialog", "chat", "transcript"),
            "A list of messages, or a text in which each turn begins with its role.",
            TURNS,
        ),
        MappedField("user", "What the user says", PROMPT_NAMES, "For conversations of one question and one answer."),
        MappedField("assistant", "What the assistant says", ANSWER_NAMES),
        MappedField("system", "System prompt", SYSTEM_NAMES),
        MappedField(
            "role",
            "Role (one turn in each row)",
            ("role", "speaker", "author", "from", "sender"),
            "Rows that follow each other with the same id are one conversation.",
        ),
        MappedField(
            "content",
            "What is said (one turn in each row)",
            ("content", "text", "message", "utterance", "value", "body"),
        ),
        PROFILE,
        TASK,
        MappedField("assistant_model", "Model of the assistant", MODEL_NAMES, may_be_constant=True),
        MappedField("condition", "Condition", ("condition", "arm", "variant"), may_be_constant=True),
        PROBABILITY,
    ),
    (("turns",), ("user",), ("id", "role", "content")),
)
SPELT = {1: ("left",), 2: ("right",)}
"""What else the first two responses are called."""


def build_response(number: int) -> MappedField:
    """The field of a response by its number."""
    letter = LETTERS[number - 1].lower()
    words = ("response", "answer", "completion", "output")
    names = [f"{word}_{mark}" for word in words for mark in (number, letter)]
    names += [f"response{number}", f"answer{number}", f"text{number}", f"text_{number}", *SPELT.get(number, ())]
    return MappedField(
        f"response_{number}", f"Response {number}", (*names, f"antwort_{number}", f"antwort_{letter}", letter)
    )


def build_model(number: int) -> MappedField:
    """The field of who wrote a response."""
    names = (f"model_{number}", f"model_{LETTERS[number - 1].lower()}", f"model{number}")
    return MappedField(f"model_{number}", f"Model of response {number}", names, may_be_constant=True)


PAIRS = MappedKind(
    "pairs",
    "Response pairs",
    "A question and the responses to it in each row: two, or up to twelve.",
    (
        ID,
        MappedField("question", "Question", PROMPT_NAMES),
        MappedField("context", "Context", CONTEXT_NAMES, "What belongs to the question."),
        *(build_response(number) for number in range(1, MOST + 1)),
        MappedField(
            "responses",
            "All responses",
            ("responses", "completions", "answers", "candidates", "outputs", "generations"),
            f"A list of 1 to {MOST} texts, objects with text and model, or conversations; in place of all others.",
            RESPONSES,
        ),
        MappedField(
            "chosen",
            "Chosen response",
            ("chosen", "preferred", "winner_response", "better"),
            "In place of responses 1 and 2. Which of the two it becomes is drawn by the id.",
        ),
        MappedField("rejected", "Rejected response", ("rejected", "dispreferred", "loser_response", "worse")),
        MappedField(
            "label",
            "Which response is better",
            ("label", "preference", "winner", "better_response", "choice"),
            "1, 2, … or tie; also A, B, left, right, model_a, model_b. Annotators never see it.",
        ),
        *(build_model(number) for number in range(1, MOST + 1)),
        MappedField("kind", "Group", ("kind", "category", "subset", "domain"), may_be_constant=True),
        MappedField("tier", "Tier in the source", ("tier", "difficulty")),
        PROFILE,
        PROBABILITY,
    ),
    (("response_1", "response_2"), ("responses",), ("chosen", "rejected")),
)
PROFILES = MappedKind(
    "profiles",
    "Profiles",
    "One person in each row.",
    (
        ID,
        MappedField("name", "Name", ("name", "full_name", "username")),
        MappedField("persona", "Persona", ("persona", "description", "bio", "profile", "about")),
        MappedField("demographics", "Demographics", ("demographics",), "A JSON object.", JSON),
        MappedField("preferences", "Preferences", ("preferences",), "A JSON object: domain, then type.", JSON),
        MappedField("interests", "Interests", ("interests",), "A JSON object: domain, then true or false.", JSON),
        MappedField("interactions", "Past interactions", ("interactions", "history"), "A JSON object by domain.", JSON),
        MappedField(
            "memories", "Memories", ("memories", "facts"), "A JSON list, or texts separated by semicolons.", LIST
        ),
    ),
    (("persona",), ("name",), ("demographics",), ("preferences",), ("memories",)),
)
TASKS = MappedKind(
    "tasks",
    "Tasks",
    "One task of a user in each row.",
    (
        ID,
        MappedField("description", "Description", ("description", "task_description", "task", "text", "prompt")),
        MappedField("intent", "Intent", ("intent", "user_intent")),
        MappedField("goal", "Goal", ("goal", "task_goal")),
        MappedField(
            "domains", "Domains", ("domains", "domain"), "A JSON list, or names separated by semicolons.", LIST
        ),
        MappedField("preference_types", "Preference types", ("preference_types",), "The same.", LIST),
    ),
    (("description",),),
)
LABEL_FIELDS = (
    MappedField(
        "item",
        "Item",
        (
            "item",
            "id",
            "item_id",
            "task_id",
            "example_id",
            "sample_id",
            "dialogue_id",
            "dialogue",
            "pair",
            "instance_id",
        ),
        "Id of an imported dialogue or pair.",
    ),
    MappedField(
        "criterion",
        "Criterion",
        ("criterion", "question", "dimension", "aspect", "metric"),
        "Key of the criterion. Not needed where the study has only one.",
        may_be_constant=True,
    ),
    MappedField(
        "value",
        "Value",
        ("value", "label", "rating", "score", "answer", "annotation", "category", "judgment", "judgement"),
        "The label itself.",
    ),
    MappedField("reason", "Reason", ("reason",), "Why there is no value."),
    MappedField("order", "Order shown", ("order",), "AB or BA."),
    MappedField("turn", "Turn", ("turn",), "Number of the turn that was rated, from 1."),
)
RATER = MappedField(
    "rater",
    "Rater",
    ("rater", "annotator", "annotator_id", "rater_id", "worker", "worker_id", "user_id", "coder", "person"),
    may_be_constant=True,
)
RATINGS = MappedKind(
    "ratings",
    "People's labels",
    "One label of one person in each row.",
    (LABEL_FIELDS[0], RATER, *LABEL_FIELDS[1:]),
    (("item", "rater", "value"),),
)
JUDGMENTS = MappedKind(
    "judgments",
    "A judge's labels",
    "One label of one judge in each row.",
    (
        *LABEL_FIELDS,
        MappedField("repeat", "Repeat", ("repeat",), "The n-th independent reply."),
        MappedField("explanation", "Explanation", ("explanation", "rationale", "critique")),
    ),
    (("item", "value"),),
)

KINDS: dict[str, MappedKind] = {one.key: one for one in (DIALOGUES, PAIRS, PROFILES, TASKS, RATINGS, JUDGMENTS)}
LABELS = (RATINGS.key, JUDGMENTS.key)
"""Kinds that are labels of a study, not material."""
