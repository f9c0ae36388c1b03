"""People and studies: alice researches, bob annotates, charlie must see nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotation.studies.models.studies import Study
from annotation.studies.services import samples, studies
from annotation.workbench.services import assignments
from core.accounts.models.users import User
from tests.support.factories import DialogueFactory, ResearcherFactory, ResponsePairFactory, UserFactory


@pytest.fixture
def alice(db: None) -> User:
    return ResearcherFactory(username="alice")


@pytest.fixture
def bob(db: None) -> User:
    return UserFactory(username="bob")


@pytest.fixture
def charlie(db: None) -> User:
    return UserFactory(username="charlie")


OpenStudy = Callable[..., Study]


@pytest.fixture
def open_study(alice: User) -> OpenStudy:
    """Makes an open study of new material: `open_study(people, items=3, overlap=1, kind="pair")`."""

    def make(people: list[User], *, items: int = 3, overlap: int = 1, kind: str = "dialogue", **more) -> Study:
        (DialogueFactory if kind == "dialogue" else ResponsePairFactory).create_batch(items)
        criteria = more.pop(
            "criteria", ["task_completion", "personalization"] if kind == "dialogue" else ["preference"]
        )
        study = studies.create(by=alice, name="Pilot", kind=kind, criteria=criteria, overlap=overlap, **more)
        samples.draw(by=alice, study=study)
        assignments.add_annotators(by=alice, study=study, annotators=people)
        studies.open(by=alice, study=study)
        return study

    return make
