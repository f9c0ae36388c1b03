"""A datasheet as GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.stats.bands import TIERS

TOLD_ELSEWHERE = ("known_issues", "question", "guideline", "model")
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
        "facts": facts(found),
        "issues": issues(found),
        "sure": tiers_by_model(made),
        "expected": build_expected_rows(made),
    }


def facts(found: Mapping[str, Any]) -> list[list[str]]:
    """How the benchmark was made, in words."""
    made = found["made"]
    told = [[readable(key), to_words(made[key])] for key in made if key not in TOLD_ELSEWHERE]
    told += [
        ["state", found["state"]],
        ["released", found["released_at"] or "not yet"],
        ["code", found["code_version"]],
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
    return [f"expected {tier}" for tier in reversed(TIERS)]


def build_expected_rows(made: Mapping[str, Any]) -> list[list[str]]:
    """By counted tier, how many cases the model expects of each tier; last all cases, with 95 % intervals."""
    model = made.get("model")
    if not model:
        return []
    parts = [
        [one["counted"], f"{one['n']:,}", *(f"{one['expected'][tier]:.1f}" for tier in reversed(TIERS))]
        for one in model["by_counted"]
    ]
    ends = [(model["expected"][tier], *model["intervals"][tier]) for tier in reversed(TIERS)]
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


def readable(key: str) -> str:
    return key.replace("_", " ")


def to_words(value: Any) -> str:
    """Nested values on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {to_words(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(to_words(part) for part in value)
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
