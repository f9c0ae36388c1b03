"""What the API answers of studies and how people come into them."""

from __future__ import annotations

from typing import Any, TypedDict

from concord_client.types.benchmarks import PairTexts


class Template(TypedDict):
    """A criterion that studies can be made with."""

    key: str
    kind: str
    name: str
    question: str
    level: str


class Person(TypedDict):
    """Person."""

    username: str
    name: str
    kind: str
    is_researcher: bool
    is_active: bool


class Study(TypedDict):
    """A study with its criteria. Counts are counted by the query."""

    id: int
    name: str
    slug: str
    project: str
    kind: str
    state: str
    description: str
    instructions: str
    overlap: int
    most_overlap: int | None
    is_adaptive: bool
    shown: Any
    asks_strength: bool
    seed: int
    clustering: str
    created_at: str
    n_items: int
    criteria: list[Criterion]


class Criterion(TypedDict):
    """Criterion."""

    key: str
    name: str
    question: str
    guideline: str
    guideline_version: int
    unit: str
    level: str
    categories: Any


class Annotator(TypedDict):
    """An annotator of a study with what they have done in it."""

    annotator: Person
    submitted: int
    in_work: int
    skipped: int


class Changed(TypedDict):
    """How much changed."""

    n: int


class Version(TypedDict):
    """One text of a criterion, and how many labels that count rest on it."""

    version: int
    question: str
    guideline: str
    categories: Any
    reason: str
    created_by: str | None
    created_at: str
    labels: int
    is_current: bool


class Item(TypedDict):
    """An item with the dialogue or the pair that is rated."""

    position: int
    item_id: str
    item_source: str
    stratum: str
    inclusion_probability: float
    dialogue: DialogueTexts | None
    pair: PairTexts | None


class DialogueTexts(TypedDict):
    """DialogueTexts."""

    turns: Any
    assistant_model: str
    condition: str


class Progress(TypedDict):
    """How far a study has come."""

    items: int
    people: int
    planned: int
    submitted: int
    share: float


class Sample(TypedDict):
    """Sample."""

    id: int
    method: str
    strata: Any
    filters: Any
    frame_size: int
    size: int
    seed: int
    input_hash: str
    created_at: str


class Admission(TypedDict):
    """A result of training and qualification, or a person's decision on one. The newest of somebody holds."""

    id: int
    annotator: str
    outcome: str
    round: int
    asked: int
    right: int
    pass_mark: float
    decided_by: str | None
    reason: str
    created_at: str


class KnownItem(TypedDict):
    """An item with known answers; `answers` by criterion, with a full stop and its number where they are of a turn."""

    id: int
    item_id: str
    item_source: str
    purpose: str
    round: int
    position: int
    origin: str
    answers: dict[str, dict[str, Any]]
    answered: int
    created_at: str
    retired_at: str | None


class Named(TypedDict):
    """How many items are named now as was asked, those that were named before included."""

    n: int


class Rules(TypedDict):
    """How checks and repeats are mixed in, how much one person rates, and what newcomers must pass."""

    check_every: int | None
    repeat_every: int | None
    repeat_after: int
    item_limit: int | None
    pass_mark: float | None


class Change(TypedDict):
    """The rules as somebody set them."""

    id: int
    rules: Any
    decided_by: str | None
    created_at: str


class Intake(TypedDict):
    """How people come into a study, and what they get at its end."""

    is_public: bool
    public_path: str | None
    completion_code: str
    completion_url: str
    consent_text: str | None
    consent_hash: str | None


class Invitation(TypedDict):
    """A link into a study, without the link: only its hash is kept."""

    id: int
    platform: str
    note: str
    max_uses: int | None
    joined: int
    expires_at: str | None
    closed: str
    created_by: str | None
    created_at: str
    revoked_at: str | None


class MadeInvitation(TypedDict):
    """With the token and the path of the link, which are shown now."""

    id: int
    platform: str
    note: str
    max_uses: int | None
    joined: int
    expires_at: str | None
    closed: str
    created_by: str | None
    created_at: str
    revoked_at: str | None
    token: str
    path: str


class Participant(TypedDict):
    """Somebody who is or was in a study."""

    annotator: str
    came_by: str
    platform: str
    platform_id: str
    joined_at: str | None
    decision: str
    text_hash: str
    decided_at: str | None
    erased: int | None
    submitted: int
    completed_at: str | None
    completion_code: str


class Withdrawal(TypedDict):
    """What stays of a withdrawal."""

    annotator: str
    decision: str
    erased: int | None
    created_at: str


class Question(TypedDict):
    """What people are asked about themselves; "prefer not to say" is always one more answer."""

    key: str
    text: str
    options: list[str]
    position: int


class Erased(TypedDict):
    """Erased."""

    erased: int
