"""Tables and figures of PersonaLens in plain Python, from an experiment's rows: nothing of the product's statistics.

A value stands under (number, group, row, measure), as in the CSV of the results. There are no intervals here.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from judging.judges.models import Judge
from judging.runs.models.runs import Judgment
from simulation.experiments.models import Experiment, Turn

Key = tuple[str, str, str, str]
Found = tuple[str, str, str, dict[str, float | None]]
SINGLE, SEVERAL = "one domain", "several domains"
OF_ASSISTANT = ("task_completion", "personalization", "naturalness_assistant", "coherence_assistant")
OF_USER = ("naturalness_user", "coherence_user")


@dataclass
class Talk:
    """A dialogue as its rows tell it."""

    assistant: str
    condition: str
    domains: list[str]
    ending: str
    scores: dict[str, float | None] = field(default_factory=dict)
    by_turn: dict[int, float] = field(default_factory=dict)
    said: list[tuple[str, str]] = field(default_factory=list)
    tokens: int = 0

    @property
    def kind(self) -> str:
        return SEVERAL if len(self.domains) > 1 else SINGLE

    @property
    def is_regular(self) -> bool:
        return self.ending in ("done", "limit")

    @property
    def words(self) -> list[list[str]]:
        return [words_of(text) for _, text in self.said]


def words_of(text: str) -> list[str]:
    """Words and punctuation marks in lower case; for scripts with spaces between words."""
    return re.findall(r"\w+(?:['’][^\W\d_]+)*|[^\w\s]", text.lower())


def talks_of(experiment: Experiment, judge: Judge) -> list[Talk]:
    rows = experiment.dialogues.exclude(ending="").select_related("assistant", "scenario__task").order_by("index")
    found, of_corpus = {}, {}
    for row in rows:
        talk = Talk(row.assistant.name, row.condition, row.scenario.task.domains, row.ending)
        found[row.pk] = of_corpus[row.dialogue_id] = talk
    for turn in Turn.objects.filter(simulated__experiment=experiment).exclude(text="").order_by("simulated", "number"):
        talk = found[turn.simulated_id]
        talk.said.append((turn.side, turn.text))
        talk.tokens += turn.output_tokens
    said = Judgment.objects.filter(run__judge=judge).order_by("pk")
    for key, dialogue, value, turn in said.values_list("criterion__key", "item__dialogue", "value", "turn"):
        number = {"yes": 1.0, "no": 0.0, "": None}.get(value, value)
        number = None if number is None else float(number)
        if not turn:
            of_corpus[dialogue].scores[key] = number
        elif key == "personalization" and number is not None:
            of_corpus[dialogue].by_turn[turn // 2] = number
    return list(found.values())


def mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fmean(there) if there else None


def score(talk: Talk, measure: str, turn: int | None = None) -> float | None:
    """The judge's; and completion as published, where a dialogue without a verdict has failed."""
    if turn:
        return talk.by_turn.get(turn) if measure == "personalization" else None
    if measure == "task_completion_published":
        return float(talk.scores.get("task_completion") == 1.0)
    return talk.scores.get(measure) if talk.is_regular else None


def measured(talks: list[Talk], measures: Iterable[str], turn: int | None) -> dict[str, float | None]:
    return {measure: mean(score(talk, measure, turn) for talk in talks) for measure in measures}


def values(document: Mapping[str, Any]) -> dict[Key, float | None]:
    """The numbers of the paper's tables in a document of results."""
    return {
        (table["number"], row["group"], row["name"], column["key"]): row["cells"][column["key"]]["value"]
        for table in document["tables"].values()
        if table["number"]
        for row in table["rows"]
        for column in table["columns"]
    }


def differences(found: Mapping[Key, float | None], expected: Mapping[Key, float | None]) -> dict[Key, Any]:
    """Where the two differ: other values, numbers that only one has, or rows that only one has with a value."""
    keys = {key for key in found | expected if found.get(key) is not None or expected.get(key) is not None}
    return {key: (found.get(key), expected.get(key)) for key in keys if not are_same(found.get(key), expected.get(key))}


def are_same(a: float | None, b: float | None) -> bool:
    return a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def tables(
    experiment: Experiment,
    judge: Judge,
    *,
    assistant: str = "",
    condition: str = "",
    tasks: str = "",
    domain: str = "",
    turn: int | None = None,
) -> dict[Key, float | None]:
    """Every number of Tables 3, 4, 10, 12 and 13 and of Figures 4 and 5, of all dialogues or of those asked for."""
    talks = [
        talk
        for talk in talks_of(experiment, judge)
        if assistant in ("", talk.assistant)
        and condition in ("", talk.condition)
        and {"": True, "single": talk.kind == SINGLE, "multi": talk.kind == SEVERAL}[tasks]
        and domain in ("", *talk.domains)
    ]
    conditions = [key for key in experiment.conditions if key in {talk.condition for talk in talks}]
    found: dict[Key, float | None] = {}
    for number, group, row, values in rows(talks, conditions, turn):
        found |= {(number, group, row, measure): value for measure, value in values.items()}
    return found


def rows(talks: list[Talk], conditions: list[str], turn: int | None) -> Iterator[Found]:
    from simulation.agents.prompts import CONDITIONS  # what conditions are called

    judged = ["task_completion", "task_completion_published", *OF_ASSISTANT[1:]]
    assistants = list(dict.fromkeys(talk.assistant for talk in talks))
    shown = "base" if "base" in conditions else conditions[0] if conditions else ""
    base = [talk for talk in talks if talk.condition == shown]
    several = len(assistants) > 1
    for kind in (SINGLE, SEVERAL):
        for assistant in assistants:
            mine = [talk for talk in base if (talk.assistant, talk.kind) == (assistant, kind)]
            yield "Table 3", kind, assistant, measured(mine, judged, turn)
            yield "Table 12", kind, assistant, measured(mine, OF_USER, turn)
            regular = [talk for talk in mine if talk.is_regular]
            if regular and not turn:
                yield "Table 10", kind, assistant, variety(regular)
                yield "Table 13", kind, assistant, size(regular)
            for condition in conditions:
                here = [t for t in talks if (t.assistant, t.kind, t.condition) == (assistant, kind, condition)]
                group = f"{kind}, {assistant}" if several else kind
                yield "Table 4", group, CONDITIONS[condition].name, measured(here, judged, turn)
    for assistant in assistants:
        mine = [talk for talk in base if talk.assistant == assistant]
        yield from figure_4(mine, assistant if several else "", judged, turn)
        yield from figure_5(mine, assistant if several else "", turn)


def by_domain(talks: list[Talk]) -> dict[str, list[Talk]]:
    found = defaultdict(list)
    for talk in talks:
        if talk.kind == SINGLE:
            found[talk.domains[0]].append(talk)
    return found


def figure_4(talks: list[Talk], group: str, judged: list[str], turn: int | None) -> Iterator[Found]:
    single = {domain: measured(there, judged, turn) for domain, there in by_domain(talks).items()}
    for domain, values in single.items():
        yield "Figure 4", group, domain, values
    several = [talk for talk in talks if talk.kind == SEVERAL]
    yield "Figure 4", group, SEVERAL, measured(several, judged, turn)
    of_domains = {measure: mean(values[measure] for values in single.values()) for measure in judged}
    yield "Figure 4", group, "mean of domains", of_domains
    yield "Figure 4", group, "all", measured(talks, judged, turn)


def figure_5(talks: list[Talk], group: str, turn: int | None) -> Iterator[Found]:
    single = [talk for talk in talks if talk.kind == SINGLE]
    curves = {"all of one domain": single, SEVERAL: [talk for talk in talks if talk.kind == SEVERAL]}
    for name, there in {group: single}.items() if group else {**curves, **by_domain(talks)}.items():
        for n in sorted({n for talk in talks for n in talk.by_turn if turn in (None, n)}):
            yield "Figure 5", name, str(n), {"personalization": mean(talk.by_turn.get(n) for talk in there)}


def runs(texts: list[list[str]], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(text[i : i + n]) for text in texts for i in range(len(text) - n + 1))


def distinct(texts: list[list[str]], n: int) -> float:
    found = runs(texts, n)
    return len(found) / found.total()


def entropy(texts: list[list[str]]) -> float:
    found = runs(texts, 4)
    return -sum(c / found.total() * math.log(c / found.total()) for c in found.values())


def self_bleu(texts: list[list[str]]) -> float:
    """BLEU as Papineni et al. (2002) have it, smoothed exponentially where nothing matches, as far as the order goes.

    Of each run of words the most that another text holds is the largest or, for the text that holds that, the second.
    """
    counts = [[runs([text], n) for n in range(1, 5)] for text in texts]
    most: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    for run, n in (pair for of_text in counts for of_order in of_text for pair in of_order.items()):
        most[run] = sorted([*most[run], n])[1:]
    lengths = Counter(map(len, texts))
    return fmean(bleu(text, of_text, most, lengths) for text, of_text in zip(texts, counts, strict=True))


def bleu(text: list[str], counts: list[Counter[Any]], most: Mapping[Any, list[int]], lengths: Counter[int]) -> float:
    logs, smooth = [], 1.0
    for of_order in filter(None, counts):
        matched = sum(min(n, most[run][0] if most[run][1] == n else most[run][1]) for run, n in of_order.items())
        if not matched and not logs:
            return 0.0
        smooth = smooth if matched else smooth * 2
        logs.append(math.log((matched or 1 / smooth) / of_order.total()))
    nearest = min(lengths - Counter([len(text)]), key=lambda length: (abs(length - len(text)), length))
    brevity = 1.0 if len(text) >= nearest else math.exp(1 - nearest / len(text))
    return brevity * math.exp(fmean(logs))


VARIETY: dict[str, Callable[[list[list[str]]], float]] = {
    "dist_1": lambda texts: distinct(texts, 1),
    "dist_2": lambda texts: distinct(texts, 2),
    "ent_4": entropy,
    "self_bleu": self_bleu,
}


def variety(talks: list[Talk]) -> dict[str, float | None]:
    together = [text for talk in talks for text in talk.words]
    found: dict[str, float | None] = {"dialogues": len(talks)}
    for name, measure in VARIETY.items():
        found |= {name: mean(measure(talk.words) for talk in talks), f"{name}_pooled": measure(together)}
    return found


def size(talks: list[Talk]) -> dict[str, float | None]:
    messages = [len(talk.said) for talk in talks]
    exchanges = [sum(side == "user" for side, _ in talk.said) - 1 for talk in talks]
    words = sum(len(text) for talk in talks for text in talk.words)
    return {
        "dialogues": len(talks),
        "turns": fmean(messages),
        "exchanges": fmean(exchanges),
        "words_per_turn": words / sum(messages),
        "words_per_exchange": words / sum(exchanges),
        "tokens_per_turn": sum(talk.tokens for talk in talks) / sum(messages),
    }
