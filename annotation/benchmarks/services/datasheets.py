"""What somebody must know who uses a benchmark: who judged and how, how far they agreed, tiers, known issues.

All of it comes from the benchmark itself, so that a release imported elsewhere has the same datasheet. The questions
are those of Gebru et al. (2021), Datasheets for Datasets, Communications of the ACM 64(12):86-92, as far as they apply.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.benchmarks.models import Benchmark
from annotation.benchmarks.queries import benchmarks as queries
from annotation.stats.benchmarks.cases import TIERS
from annotation.stats.benchmarks.votes import Votes, build_table, compute_agreement, compute_agreement_by
from core.sentences import translate

TOLD_ELSEWHERE = ("known_issues", "parent", "question", "guideline", "model")
FACTS = {
    "how": gettext_noop("Origin"),
    "study": gettext_noop("Study"),
    "studies": gettext_noop("Studies whose votes count"),
    "format": gettext_noop("Format"),
    "criterion": gettext_noop("Criterion"),
    "guideline_version": gettext_noop("Guideline version"),
    "annotators": gettext_noop("Annotators"),
    "tiers": gettext_noop("Tiers from"),
    "cuts": gettext_noop("Thresholds of kappa"),
    "agreement_cuts": gettext_noop("Thresholds of the model"),
    "chance": gettext_noop("Chance agreement"),
    "min_votes": gettext_noop("Least number of votes"),
    "votes": gettext_noop("Votes counted"),
    "gold": gettext_noop("Gold label"),
    "splits": gettext_noop("Shares of the splits"),
    "split_tolerance": gettext_noop("Tolerance of the shares"),
    "split_by": gettext_noop("Kept in one split"),
    "seed": gettext_noop("Random seed"),
    "with_tie": gettext_noop("Ties allowed"),
    "overlap": gettext_noop("Annotators per item"),
    "counts": gettext_noop("Cases by tier or reason"),
    "rules": gettext_noop("Rules of the cleaning"),
    "left_out": gettext_noop("Left out"),
    "before": gettext_noop("Cases before"),
    "after": gettext_noop("Cases after"),
}
"""By key of what is stored, what the datasheet calls it where that is not the key with spaces."""

ALONE = (
    *(gettext_noop("imported"), gettext_noop("built"), gettext_noop("cleaned")),
    *(gettext_noop("counted"), gettext_noop("uniform"), gettext_noop("margins")),
    *(gettext_noop("yes"), gettext_noop("no"), gettext_noop("tier"), gettext_noop("kind"), gettext_noop("split")),
    *(gettext_noop("contradicting"), gettext_noop("repeated"), gettext_noop("circular"), gettext_noop("nearly_same")),
    *(gettext_noop("near_duplicates"), gettext_noop("other_script"), gettext_noop("without_persona")),
    *(gettext_noop("pooled"), gettext_noop("majority"), gettext_noop("persona"), gettext_noop("response")),
    *(gettext_noop("question"), gettext_noop("person"), gettext_noop("simulated"), gettext_noop("tied")),
    *(gettext_noop("easy"), gettext_noop("medium"), gettext_noop("hard"), gettext_noop("contested")),
)
"""What a benchmark stores as one word, for pages to translate."""

AGREE_MORE = (
    "Intervals are 95 % and resample personas. Cases that people disagreed on are excluded, so that those left agree "
    "more than people do."
)


def to_markdown(found: Mapping[str, Any]) -> str:
    """The datasheet as GitHub-flavoured Markdown."""
    return "\n\n".join(part for part in render_parts(found) if part) + "\n"


def render_parts(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {found['name']} {found['version']}: datasheet"
    yield found["notes"]
    yield "## What it is"
    yield (
        f"{found['counting']:,} cases of {found['personas']:,} personas: a question and two responses, of which people "
        f"chose one. {found['excluded']:,} more are kept on record and excluded."
    )
    yield rows(["kind", "tier", "cases"], [[one["kind"], one["tier"], one["n"]] for one in found["by_kind_and_tier"]])
    yield rows(["split", "cases", "personas"], [[one["split"], one["n"], one["personas"]] for one in found["splits"]])
    yield "## How it was made"
    yield rows(["", ""], facts(found))
    yield rows(
        ["response", "written by", "prompt", "cases"],
        [[one["level"] or "–", one["model"] or "–", one["prompt"] or "–", one["n"]] for one in found["written_by"]],
    )
    yield tiers_by_model(found["made"])
    yield rows(["tier by kappa", "cases", *build_expected_head()], build_expected_rows(found["made"]))
    yield "## Who judged, and how far they agreed"
    yield from render_people(found)
    if found["excluded_because"]:
        yield "## What was left out"
        yield rows(["reason", "cases"], [[one["reason"], one["n"]] for one in found["excluded_because"]])
    if found["audit"]:
        yield "## What an audit found"
        yield from render_audit(found["audit"])
    yield "## Known issues"
    yield "\n".join(f"- {issue}" for issue in issues(found)) or "None are stated."


def to_sections(found: Mapping[str, Any]) -> dict[str, Any]:
    """What pages show of how a benchmark was made."""
    made = found["made"]
    return {
        "facts": [[_(name), translate(value)] for name, value in facts(found)],
        "issues": issues(found),
        "sure": tiers_by_model(made),
        "expected": build_expected_rows(made),
    }


def facts(found: Mapping[str, Any]) -> list[list[str]]:
    """How the benchmark was made, in words."""
    made = found["made"]
    told = [[name_fact(key), to_words(made[key])] for key in made if key not in TOLD_ELSEWHERE]
    if parent := made.get("parent"):
        told.append([gettext_noop("Made from"), " ".join(parent[key] for key in ("name", "version") if key in parent)])
    told += [
        [gettext_noop("State"), found["state"]],
        [
            gettext_noop("Released"),
            f"{released[:16].replace('T', ' ')} UTC" if (released := found["released_at"]) else "not yet",
        ],
        [gettext_noop("Code"), found["code_version"]],
    ]
    return [[key, value] for key, value in told if value]


def tiers_by_model(made: Mapping[str, Any]) -> str:
    """How sure the tiers are that the difficulty model made, in two sentences; empty where it made none."""
    model = made.get("model")
    if not model:
        return ""
    cuts = ", ".join(f"{cut:g}" for cut in made["agreement_cuts"])
    return (
        f"Each tier is the likeliest by the difficulty model ({model['method']}) of all votes together. Contested, "
        f"hard and medium end where two people agree with probability {cuts}. On {model['n_cases']:,} cases with "
        f"votes the likeliest tier has probability {model['sure']:.2f} on average; in {model['clear']:,} it is "
        f"{model['clear_from']:.2f} or more."
    )


def build_expected_head() -> list[str]:
    """Tiers, the easiest first."""
    return [f"expected {tier}" for tier in TIERS]


def build_expected_rows(made: Mapping[str, Any]) -> list[list[str]]:
    """By counted tier, how many cases the model expects of each tier; last all cases, with 95 % intervals."""
    model = made.get("model")
    if not model:
        return []
    parts = [
        [one["counted"], f"{one['n']:,}", *(f"{one['expected'][tier]:.1f}" for tier in TIERS)]
        for one in model["by_counted"]
    ]
    ends = [(model["expected"][tier], *model["intervals"][tier]) for tier in TIERS]
    return [*parts, ["all", f"{model['n_cases']:,}", *(f"{n:.1f} [{low:.0f}, {high:.0f}]" for n, low, high in ends)]]


def render_people(found: Mapping[str, Any]) -> Iterator[str]:
    made, votes = found["made"], found["votes"]
    if made.get("question"):
        yield f"Asked: {made['question']}\n\n> " + str(made.get("guideline", "")).replace("\n", "\n> ")
    if not votes["cases"]:
        yield "No votes are known."
        return
    yield f"{votes['total']:,} votes on {votes['cases']:,} cases, {votes['least']} to {votes['most']} a case."
    if not found["agreement"]:
        return
    head = ["cases", "n", "votes", "percent agreement", "Fleiss' kappa", "AC1"]
    overall = found["agreement"]["overall"]
    yield rows(
        head,
        [
            [
                one["group"],
                one["n"],
                one["votes"],
                *(figure(one[k]) for k in ("percent_agreement", "fleiss_kappa", "gwet_ac1")),
            ]
            for one in overall
        ],
    )
    yield AGREE_MORE
    for name, groups in found["agreement"]["groups"].items():
        yield rows(
            [name, "cases", "percent agreement", "Fleiss' kappa", "tier of the group"],
            [
                [
                    one["group"],
                    one["n_items"],
                    figure(one["percent_agreement"]),
                    figure(one["fleiss_kappa"]),
                    one["tier"] or "",
                ]
                for one in groups
            ],
        )


def render_audit(audit: Mapping[str, Any]) -> Iterator[str]:
    yield rows(
        ["tier", "cases", "pairs that are in another tier too", "of these with the opposite label"],
        [[one["tier"] or "all", one["n"], one["recurring"], one["opposite"]] for one in audit["recurring"]],
    )
    yield rows(
        ["rule", "tier", "agrees with people"],
        [[one["rule"], one["tier"] or "all", figure(one["accuracy"])] for one in audit["shortcuts"]],
    )
    yield (
        f"{audit['contradicting_pairs']} pairs have labels that contradict each other; {audit['shared_questions']} "
        f"questions are asked of several personas; a response is in another script than its question in "
        f"{figure(audit['other_script'])} of the cases."
    )


def issues(found: Mapping[str, Any]) -> list[str]:
    """What is known to be wrong with it; votes of programs among them."""
    voted = found["made"].get("annotators", {})
    simulated = voted.get("simulated", 0)
    drawn = [f"Of {sum(voted.values())} annotators {simulated} are simulated: their votes are drawn by a program."]
    return [*(drawn if simulated else []), *map(str, found["made"].get("known_issues", []))]


def rows(head: Sequence[str], body: Sequence[Sequence[Any]]) -> str:
    """A table; nothing where it has no rows."""
    if not body:
        return ""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(cell(value) for value in line) + " |" for line in lines)


def cell(value: Any) -> str:
    """A value that cannot end its cell or its line."""
    return str(value).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def figure(found: Mapping[str, Any]) -> str:
    """`0.77 [0.73, 0.82], n 620`, or why there is none."""
    if found["value"] is None:
        return f"– ({found['reason']})"
    ends = "" if found["low"] is None else f" [{found['low']:.2f}, {found['high']:.2f}]"
    return f"{found['value']:.2f}{ends}, n {found['n_items']:,}"


def name_fact(key: str) -> str:
    """What a stored key is called."""
    return FACTS.get(key) or key.replace("_", " ").capitalize()


def to_words(value: Any) -> str:
    """Nested values on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {to_words(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(to_words(part) for part in value)
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


BOOTSTRAP = 2000


def datasheet(benchmark: Benchmark, *, bootstrap: int = BOOTSTRAP, seed: int = 0) -> dict[str, Any]:
    """The datasheet as JSON types."""
    row, cases = queries.row(benchmark), queries.vote_rows(benchmark)
    audited = queries.newest_audit(benchmark)
    return {
        **row.to_json(),
        "by_kind_and_tier": [
            {"kind": kind, "tier": tier, "n": n} for (kind, tier), n in count_by_kind_and_tier(cases, row.kinds)
        ],
        "splits": [
            {"split": name, "n": n, "personas": personas} for name, (n, personas) in sorted(count_splits(cases).items())
        ],
        "excluded_because": [{"reason": reason, "n": n} for reason, n in count_exclusions(cases)],
        "written_by": count_authors(benchmark),
        "votes": count_votes(cases),
        "agreement": agreements(cases, benchmark, bootstrap, seed),
        "audit": audited and {"at": audited.created_at.isoformat(), **short(audited.result)},
        "versions": [
            {"name": one.name, "version": one.version, "slug": one.slug, "made": one.made.get("how", "")}
            for one in queries.ancestors(benchmark)
        ],
        "bootstrap": bootstrap,
        "seed": seed,
    }


def count_by_kind_and_tier(
    cases: Sequence[queries.VoteRow], kinds: Mapping[str, int]
) -> Iterator[tuple[tuple[str, str], int]]:
    counts = Counter((case.kind, case.tier) for case in cases if not case.excluded)
    for kind in kinds:
        yield from (((kind, tier), counts[kind, tier]) for tier in (*TIERS, "") if counts[kind, tier])


def count_splits(cases: Sequence[queries.VoteRow]) -> dict[str, tuple[int, int]]:
    """Split -> cases that count and their personas."""
    found: dict[str, list[str]] = {}
    for case in cases:
        if case.split and not case.excluded:
            found.setdefault(case.split, []).append(case.persona)
    return {name: (len(people), len(set(people))) for name, people in found.items()}


def count_authors(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Of the responses of cases that count: their level, who wrote them, the hash of the prompt, and how many."""
    found: Counter[tuple[str, str, str]] = Counter()
    fields = benchmark.cases.only_counting().values_list("pair__model_1", "pair__model_2", "pair__extra")
    for one, two, extra in fields.iterator(chunk_size=2000):
        levels, prompts = extra.get("levels") or ["", ""], extra.get("prompts") or ["", ""]
        found.update(zip(levels, (one, two), prompts, strict=True))
    return [
        {"level": level, "model": model, "prompt": prompt, "n": n}
        for (level, model, prompt), n in sorted(found.items())
        if level or model
    ]


def count_exclusions(cases: Sequence[queries.VoteRow]) -> list[tuple[str, int]]:
    """Why cases are excluded, most frequent first; reasons that differ in what follows a colon count as one."""
    reasons = Counter(shorten_reason(case.excluded) for case in cases if case.excluded)
    return sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))


def shorten_reason(reason: str) -> str:
    """A reason without the numbers of its own case: up to the last colon before its votes."""
    return re.sub(r": \d+ to \d+.*$", "", reason, flags=re.DOTALL)


def count_votes(cases: Sequence[queries.VoteRow]) -> dict[str, Any]:
    """How many votes the cases have."""
    totals = [case.votes.total for case in cases if case.votes]
    return {
        "cases": len(totals),
        "without": len(cases) - len(totals),
        "total": sum(totals),
        "least": min(totals, default=None),
        "most": max(totals, default=None),
    }


def agreements(
    cases: Sequence[queries.VoteRow], benchmark: Benchmark, bootstrap: int, seed: int
) -> dict[str, Any] | None:
    """Agreement of all cases with votes and of those that count, and by kind, tier and persona group."""
    voted = [case for case in cases if case.votes and case.votes.total >= 1]
    if not voted:
        return None
    with_tie = bool(benchmark.made.get("with_tie")) or any(case.votes and case.votes.tie for case in voted)
    counting = [case for case in voted if not case.excluded]

    def one(part: Sequence[queries.VoteRow], group: str) -> dict[str, Any]:
        return compute_agreement(table(part, with_tie), group=group, bootstrap=bootstrap, seed=seed).to_json()

    return {
        "resampled": "personas",
        "overall": [one(voted, "all cases with votes"), *([one(counting, "cases that count")] if counting else [])],
        "groups": {
            name: compute_agreement_by(table(counting, with_tie), groups, bootstrap=bootstrap, seed=seed)
            for name in GROUPS
            if len(set(groups := [group_case(case, name) for case in counting])) > 1
        },
    }


GROUPS = ("kind", "tier", "split")


def group_case(case: queries.VoteRow, name: str) -> str:
    return str(getattr(case, name)) or f"(no {name})"


def table(cases: Sequence[queries.VoteRow], with_tie: bool) -> Any:
    votes = [case.votes or Votes(0, 0) for case in cases]
    return build_table(votes, [case.id for case in cases], with_tie=with_tie, clusters=[case.cluster for case in cases])


def short(result: Mapping[str, Any]) -> dict[str, Any]:
    """What of an audit belongs into a datasheet."""
    return {
        "n": result["n"],
        "recurring": [one for one in result["recurring"] if not one["kind"]],
        "shortcuts": [one for one in result["shortcuts"] if not one["kind"]],
        "contradicting_pairs": result["contradicting_pairs"],
        "shared_questions": len(result["shared_questions"]["questions"]),
        "other_script": result["scripts"]["other_than_question"],
    }


def to_html(found: Mapping[str, Any]) -> str:
    """The datasheet as one HTML file that needs nothing else."""
    context = {"sheet": found, **to_sections(found)}
    return render_to_string("annotation/benchmark_datasheet_file.html", context)
