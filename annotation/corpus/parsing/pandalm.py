"""The test set of PandaLM: a list of response pairs with three people's choices, and a list per judge.

The files are aligned by `idx`. A choice is 0 (tie), 1 or 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from core.files.input_files import InputFile, Problems, locate_in_document, read_list

TEST_SET = "testset-v1.json"
JUDGES = {"gpt-3.5-turbo": "gpt-3.5-turbo-testset-v1.json", "pandalm-7b": "pandalm-7b-testset-v1.json"}
ANNOTATORS = ("annotator1", "annotator2", "annotator3")
VALUES = {"0": "tie", "tie": "tie", "1": "1", "2": "2"}


def to_text(value: object) -> object:
    """A few responses are JSON's true or false: the word that the model wrote was read as a truth value."""
    return str(value) if isinstance(value, bool | int | float) else value


Text = Annotated[str, BeforeValidator(to_text)]


class Comparison(BaseModel):
    """A record of the test set."""

    model_config = ConfigDict(extra="allow")

    idx: int
    cmp_key: str
    instruction: str
    input: str
    response1: Text
    response2: Text
    annotator1: Literal[0, 1, 2]
    annotator2: Literal[0, 1, 2]
    annotator3: Literal[0, 1, 2]

    @property
    def models(self) -> tuple[str, str]:
        """The models compared: `cmp_key` joins them with an underscore, which their names do not hold."""
        first, _, second = self.cmp_key.partition("_")
        return first, second

    def values(self) -> dict[str, str]:
        """Each annotator's choice as "1", "2" or "tie"."""
        return {name: VALUES[str(getattr(self, name))] for name in ANNOTATORS}


class Verdict(BaseModel):
    """A record of a judge's file. A result that is not a choice ("garbage") is one that could not be parsed."""

    model_config = ConfigDict(extra="allow")

    idx: int
    result: Text = Field(validation_alias=AliasChoices("gpt_result", "pandalm_result"))
    reason: Text = Field(validation_alias=AliasChoices("gpt_reason", "pandalm_reason"))
    reference: Text = Field(validation_alias=AliasChoices("gpt_reference", "pandalm_reference"))

    @property
    def value(self) -> str | None:
        """ "1", "2" or "tie"; None where the reply held no choice."""
        return VALUES.get(self.result.strip().lower())


def read_comparisons(folder: InputFile, problems: Problems) -> list[Comparison]:
    return [record for _, record in read_list(inside(folder, TEST_SET), Comparison, problems, id_field="idx")]


def read_verdicts(file: InputFile, known: set[str], problems: Problems) -> Iterator[Verdict]:
    """The verdicts in one judge's file; each must be about one of the `known` pairs."""
    for index, verdict in read_list(file, Verdict, problems, id_field="idx"):
        if str(verdict.idx) in known:
            yield verdict
        else:
            error = locate_in_document(file, [index, "idx"], f"no pair has the idx {verdict.idx}", skip=1)
            problems.add(error, verdict.model_dump_json())


def inside(folder: InputFile, name: str) -> InputFile:
    return InputFile(folder.path / name, f"{folder.name}/{name}")
