"""Votes on pairs of models, as MT-Bench and Chatbot Arena publish them: JSON Lines or Parquet, one vote a row.

Model a is the one that was shown first. What else Concord knows of a vote stands in `concord`. Read are also votes on
a second turn: the question is then all that the user said, a response all that the model said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from annotation.corpus.exchange.dataset import (
    META,
    TIE,
    ExchangedAnswer,
    Items,
    Naming,
    Package,
    Rated,
    Scale,
    StudyHead,
    spell_value,
    to_named_response,
    to_shown_side,
)
from annotation.corpus.exchange.reading import collect_package
from annotation.corpus.formats.base import Row
from annotation.corpus.parsing.messages import list_contents, to_turns
from core.errors import InputError
from core.files.input_files import InputFile, Problems
from core.files.tables.layout import Layout
from core.files.tables.reading import open_table

CRITERION = "preference"
WINNERS = {"A": "model_a", "B": "model_b", TIE: "tie"}
SIDES = {"model_a": "A", "model_b": "B", "tie": TIE, "tie (bothbad)": TIE}
BOTH_BAD = "tie (bothbad)"
NAMES = ("response 1", "response 2")
"""What models are called whose names are not known."""


def lines(head: StudyHead, items: Items) -> Iterator[str]:
    """A line for each vote; one without a winner for a pair that has none, so that no pair is lost."""
    voted = {scale.key for scale in head.scales if scale.chooses_response}
    for item in items():
        for answer in item.answers or (None,):
            yield json.dumps(line(item, answer, voted), ensure_ascii=False) + "\n"


def line(item: Rated, answer: ExchangedAnswer | None, voted: set[str]) -> dict[str, object]:
    record = item.record
    order = answer.order if answer else ""
    sides = [
        (record.get(f"model_{n}") or NAMES[n - 1], conversation(item, record[f"response_{n}"]))
        for n in ((2, 1) if order == "BA" else (1, 2))
    ]
    (model_a, talk_a), (model_b, talk_b) = sides
    winner = (
        WINNERS[to_shown_side(answer.value, order)] if answer and answer.value and answer.criterion in voted else None
    )
    return {
        "question_id": str(record["id"]),
        "model_a": model_a,
        "model_b": model_b,
        "winner": winner,
        "judge": answer.rater if answer else "",
        "conversation_a": talk_a,
        "conversation_b": talk_b,
        "turn": 1,
        META: item.to_document([answer] if answer else []),
    }


def conversation(item: Rated, response: str) -> list[dict[str, str]]:
    """The question, with what belongs to it, and the response."""
    asked = "\n\n".join(filter(None, [item.record["question"], item.record.get("context", "")]))
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": response}]


def read(file: InputFile, problems: Problems, naming: Naming, known: Mapping[str, Scale]) -> Package:
    """Votes of people and of judges, one a row. InputError names the file and the line."""
    with open_table(file, Layout(), problems) as table:
        return collect_package(file, problems, table.rows, lambda one, _: parse_rated(one, naming), known)


def parse_rated(given: Row, naming: Naming) -> Rated:
    """A pair with one vote. Its response 1 is the model whose name comes first, so that both orders are one pair."""
    ours = given.get(META)
    if ours is not None:
        return Rated.from_document(ours)
    turn = int(given.get("turn") or 1)
    sides = {side: given[f"model_{side}"] for side in ("a", "b")}
    order = "AB" if sides["a"] <= sides["b"] else "BA"
    first, second = ("a", "b") if order == "AB" else ("b", "a")
    talks = {side: to_turns(given[f"conversation_{side}"]) for side in ("a", "b")}
    record = {
        "id": "-".join(
            [spell_value(given["question_id"]), sides[first], sides[second], *([str(turn)] if turn > 1 else [])]
        ),
        "question": render_turns(talks["a"], "user", turn),
        "response_1": render_turns(talks[first], "assistant", turn),
        "response_2": render_turns(talks[second], "assistant", turn),
        "model_1": sides[first],
        "model_2": sides[second],
        **{name: value for name, value in given.items() if name in ("language", "category", "tstamp")},
    }
    return Rated(record, vote(given, order, naming))


def render_turns(turns: Sequence[Mapping[str, object]], role: str, turn: int) -> str:
    """What one of them said, up to the turn that was voted on."""
    said = list_contents(turns, role)[:turn]
    if not said:
        raise InputError("the {role} says nothing", field="conversation", role=role)
    return "\n\n---\n\n".join(said)


def vote(given: Mapping[str, object], order: str, naming: Naming) -> tuple[ExchangedAnswer, ...]:
    """The vote, where there is one. A judge is named by a list (as MT-Bench writes them) or on the command line."""
    winner, judge = given.get("winner"), given.get("judge", "unknown")
    if winner is None:
        return ()
    if winner not in SIDES:
        raise InputError("is one of {sides}, not {winner!r}", field="winner", sides=", ".join(SIDES), winner=winner)
    rater = "-".join(map(str, judge)) if isinstance(judge, list) else spell_value(judge)
    return (
        ExchangedAnswer(
            rater=rater,
            criterion=CRITERION,
            value=to_named_response(SIDES[winner], order),
            of_judge=isinstance(judge, list) or rater in naming.judges,
            order="AB" if order == "AB" else "BA",
            note="Both are bad." if winner == BOTH_BAD else "",
        ),
    )
