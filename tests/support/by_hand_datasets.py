"""Tables 1 and 5 to 10 and Figure 3 of PersonaLens in plain Python, from exported rows: nothing of the product's
statistics, which `Compared` sets beside them.

A value stands under its table and what tells its row from others. There are no intervals here.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from itertools import combinations
from statistics import fmean
from typing import Any

from django.core import serializers

from annotation.corpus.models import Dialogue, Profile, Scenario, Task
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Study
from judging.runs.models.runs import Judgment
from simulation.experiments.models import Experiment, PreferenceType
from simulation.results import charts
from simulation.results.services import measure_tables, measures
from tests.support.by_hand import VARIETY, mean, words_of

Numbers = dict[tuple[str, ...], float | None]

REGIONS = {
    "US": ["United States"],
    "UK": ["United Kingdom"],
    "Northern America": ["Canada"],
    "Australia and New Zealand": ["Australia", "New Zealand"],
    "Europe": [
        *("Belgium", "Ukraine", "Netherlands", "Ireland", "Switzerland", "Poland", "Denmark", "Czechia"),
        *("Slovenia", "Spain", "Norway"),
    ],
    "Middle East": ["Israel"],
    "Asia": ["Bangladesh", "China", "Korea, Republic of"],
    "Africa": ["South Africa"],
    "Latin America and the Caribbean": ["Mexico"],
    "Prefer not to say": ["N/A"],
}
"""Countries by the regions of the United Nations (M49), those of the profiles here."""

OF_TABLE_7 = ("education", "marital_status", "english_proficiency", "region")
OF_FIGURE_3 = ("gender", "age", "ethnicity", "religion", "region")


def exported(kind: Any, **of: Any) -> list[dict[str, Any]]:
    """Rows of a table as `dumpdata` writes them."""
    rows = json.loads(serializers.serialize("json", kind.objects.filter(**of).order_by("pk")))
    return [{"pk": row["pk"], **row["fields"]} for row in rows]


def of_profiles(source: str) -> Numbers:
    """Every number of Tables 1 and 6 to 9."""
    profiles = exported(Profile, source=source)
    return {
        **dict(table_1(source)),
        **dict(tables_6_and_7(profiles)),
        **dict(tables_8_and_9(profiles, exported(PreferenceType, source=source))),
    }


def table_1(source: str) -> Iterator[tuple[tuple[str, ...], float]]:
    """A task of several domains counts in each; a scenario is a user with a task, however many situations it has."""
    domains_of = {task["pk"]: task["domains"] for task in exported(Task, source=source)}
    tasks = Counter(domain for domains in domains_of.values() for domain in domains)
    pairs = {(one["profile"], one["task"]) for one in exported(Scenario, task__source=source) if one["profile"]}
    scenarios = Counter(domain for _, task in pairs for domain in domains_of[task])
    for domain, n in tasks.items():
        yield ("1", domain, "tasks"), n
        yield ("1", domain, "scenarios"), scenarios[domain]


def demographics(profiles: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    region_of = {country: region for region, countries in REGIONS.items() for country in countries}
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for person in (one["demographics"] for one in profiles):
        born = {"region": region_of[person["birth_country"]]} if "birth_country" in person else {}
        for field, value in {**born, **person}.items():
            if value and field != "user_id":
                found[field][value] += 1
    return found


def tables_6_and_7(profiles: list[dict[str, Any]]) -> Iterator[tuple[tuple[str, ...], float]]:
    for field, counts in demographics(profiles).items():
        for value, n in counts.items():
            number = "7" if field in OF_TABLE_7 else "6"
            yield (number, field, value, "n"), n
            yield (number, field, value, "percent"), 100 * n / len(profiles)


def figure_3(source: str) -> dict[str, list[tuple[str, int]]]:
    """Field by field its bars, the longest first."""
    found = demographics(exported(Profile, source=source))
    return {
        field: sorted(found[field].items(), key=lambda bar: (-bar[1], bar[0]))
        for field in OF_FIGURE_3
        if field in found
    }


def tables_8_and_9(
    profiles: list[dict[str, Any]], types: list[dict[str, Any]]
) -> Iterator[tuple[tuple[str, ...], float | None]]:
    known = {(one["domain"], one["name"]): one for one in types}
    held: dict[tuple[str, str], list[list[str]]] = defaultdict(list)
    for one in profiles:
        for domain, preferences in one["preferences"].items():
            for name, value in preferences.items():
                held[domain, name].append(value if isinstance(value, list) else [value])
    for (domain, name), values in held.items():
        counts = Counter(one for of_person in values for one in of_person)
        kind = known.get((domain, name))
        is_closed = kind is not None and kind["is_categorical"]
        listed = set(kind["possible_values"]) if kind is not None and is_closed else set()
        measures: dict[str, float | None] = {
            "is_categorical": None if kind is None else float(kind["is_categorical"]),
            "n_possible": len(listed) if is_closed else None,
            "generated": min(len(counts), len(listed)) if is_closed else len(counts),
            "n": counts.total(),
            "profiles": sum(bool(of_person) for of_person in values),
            "occurring": evenness(counts, len(counts)),
            "possible": evenness(counts, len(listed | set(counts)) if is_closed else 0),
        }
        for measure, value in measures.items():
            yield ("9" if domain >= "Messaging" else "8", domain, name, measure), value


def evenness(counts: Counter[str], n: int) -> float | None:
    if n < 2:
        return None
    return -sum(k / counts.total() * math.log(k / counts.total()) for k in counts.values()) / math.log(n)


def of_dialogues(source: str) -> Numbers:
    """Every number of Table 10 of a dataset."""
    several = {task["pk"]: task["is_multi_domain"] for task in exported(Task)}
    task_of = {one["pk"]: one["task"] for one in exported(Scenario)}
    found: Numbers = {}
    talks = [
        (several.get(task_of.get(one["scenario"]), False), one["turns"]) for one in exported(Dialogue, source=source)
    ]
    for tasks, kinds in {"single": (False,), "multi": (True,), "all": (False, True)}.items():
        of_kind = [turns for is_several, turns in talks if is_several in kinds]
        for side, roles in {"user": ("user",), "assistant": ("assistant",), "both": ("user", "assistant")}.items():
            said = [[words_of(turn["content"]) for turn in turns if turn["role"] in roles] for turns in of_kind]
            together = [text for texts in said for text in texts]
            row: dict[str, float | None] = {"dialogues": len(of_kind), "words": sum(map(len, together))}
            for name, measure in VARIETY.items():
                if name == "self_bleu":
                    row[name] = measure(together) if len(together) > 1 else None
                else:
                    row[f"{name}_pooled"] = measure(together) if together else None
                    row[f"{name}_by_dialogue"] = mean(measure(texts) for texts in said)
            found |= {("10", side, tasks, name): value for name, value in row.items()}
    return found


def table_5(study: Study) -> Numbers:
    """Fleiss (1971) among people, the mean of the judge's Cohen kappas with each, and the share of agreeing pairs."""
    people: dict[str, dict[int, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    rows = Annotation.objects.filter(assignment__study=study)
    for key, person, item, value in rows.values_list(
        "criterion__key", "assignment__annotator", "assignment__item", "value"
    ):
        people[key][person][item] = value
    judge: dict[str, dict[int, str]] = defaultdict(dict)
    for key, item, value in Judgment.objects.filter(run__study=study).values_list("criterion__key", "item", "value"):
        if value:
            judge[key][item] = value
    found: Numbers = {}
    for key, by_person in people.items():
        votes = [[by_person[person][item] for person in by_person] for item in next(iter(by_person.values()))]
        row = {
            "items": len(votes),
            "raters": len(by_person),
            "fleiss_kappa": fleiss(votes),
            "percent_agreement": agreeing(votes),
            "mean_cohen_kappa": fmean(cohen(judge[key], mine) for mine in by_person.values()),
        }
        found |= {("5", key, name): value for name, value in row.items()}
    return found


def agreeing(votes: list[list[str]]) -> float:
    return fmean(fmean(a == b for a, b in combinations(one, 2)) for one in votes)


def fleiss(votes: list[list[str]]) -> float:
    counts = Counter(vote for one in votes for vote in one)
    by_chance = sum((n / counts.total()) ** 2 for n in counts.values())
    return (agreeing(votes) - by_chance) / (1 - by_chance)


def cohen(one: Mapping[int, str], other: Mapping[int, str]) -> float:
    both = [(one[item], other[item]) for item in one if item in other]
    seen = fmean(a == b for a, b in both)
    mine, theirs = Counter(a for a, _ in both), Counter(b for _, b in both)
    by_chance = sum(mine[value] * theirs[value] for value in mine) / len(both) ** 2
    return (seen - by_chance) / (1 - by_chance)


KEYS = {"1": ["domain"], "5": ["criterion"], "8": ["domain", "type"], "9": ["domain", "type"], "10": ["side", "tasks"]}


def values(tables: Iterable[Mapping[str, Any]]) -> Numbers:
    """The numbers of the product's tables, under the same names."""
    found: Numbers = {}
    for table in tables:
        keys = KEYS.get(table["table"], ["field", "value"])
        for row in table["rows"]:
            for name, value in row.items():
                if name not in (*keys, "judge"):
                    number = value["value"] if isinstance(value, Mapping) else value
                    place = (table["table"], *(row[key] for key in keys), name)
                    if place in found:
                        raise AssertionError(f"{place} stands there twice")
                    found[place] = None if number is None else float(number)
    return found


def bars(svg: str) -> dict[str, list[tuple[str, int]]]:
    """The bars of a drawing of Figure 3, by the titles of its panels."""
    found: dict[str, list[tuple[str, int]]] = {}
    drawn: list[tuple[str, int]] = []
    for label in map(unescape, re.findall(r'aria-label="([^"]*)"', svg)):
        if bar := re.fullmatch(r"n: (\d+); name: (.*)", label):
            drawn.append((bar[2], int(bar[1])))
        elif title := re.fullmatch(r"Title text '(.*)'", label):
            found[title[1].lower()], drawn = drawn, []
    return found


@dataclass(frozen=True)
class Compared:
    """What the product says of the datasets, and what this module does. `figure_3` are the bars that are drawn."""

    found: Numbers
    expected: Numbers
    figure_3: dict[str, list[tuple[str, int]]]


def of_datasets(experiment: Experiment, study: Study) -> Compared:
    """Tables 1 and 6 to 9 of the profiles, Table 10 of the experiment's dialogues, Table 5 of a human check."""
    profiles = source_of(experiment)
    made = {
        "profiles": measures.measures("profiles", profiles, patient=True),
        "dialogues": measures.measures("dialogues", experiment.source, patient=True),
    }
    tables = [*(measure_tables.table(number, made[kind]) for number, kind in measure_tables.KINDS.items())]
    found = values([*tables, measure_tables.table_5(by=None, study=study)])
    expected = {**of_profiles(profiles), **of_dialogues(experiment.source), **table_5(study)}
    return Compared(
        found, expected, bars(charts.svg(charts.bars, charts.figure_3(made["profiles"]["demographics"]), charts.FILE))
    )


def source_of(experiment: Experiment) -> str:
    return str(experiment.dialogues.values_list("scenario__profile__source", flat=True)[0])
