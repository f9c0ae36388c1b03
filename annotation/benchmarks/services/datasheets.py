"""What somebody must know who uses a benchmark: who judged and how, how far they agreed, tiers, known issues.

All of it comes from the benchmark itself, so that a release imported elsewhere has the same datasheet. The questions
are those of Gebru et al. (2021), Datasheets for Datasets, Communications of the ACM 64(12):86-92, as far as they apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.template.loader import render_to_string
from django.utils.translation import gettext as _, gettext_noop

from annotation.benchmarks.models import Benchmark
from annotation.benchmarks.queries import benchmarks as queries
from annotation.benchmarks.result_types import BenchmarkDocument, DatasheetDocument, MadeDocument, ShortAuditDocument
from annotation.benchmarks.services import datasheet_figures as figures
from annotation.stats.benchmarks.cases import TIERS
from annotation.stats.result_types import EstimateDocument
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


def to_markdown(found: DatasheetDocument) -> str:
    """The datasheet as GitHub-flavoured Markdown."""
    return "\n\n".join(part for part in render_parts(found) if part) + "\n"


def render_parts(found: DatasheetDocument) -> Iterator[str]:
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


def to_sections(found: BenchmarkDocument) -> dict[str, object]:
    """What pages show of how a benchmark was made."""
    made = found["made"]
    return {
        "facts": [[_(name), translate(value)] for name, value in facts(found)],
        "issues": issues(found),
        "sure": tiers_by_model(made),
        "expected": build_expected_rows(made),
    }


def facts(found: BenchmarkDocument) -> list[list[str]]:
    """How the benchmark was made, in words."""
    made = found["made"]
    told = [[name_fact(key), to_words(value)] for key, value in made.items() if key not in TOLD_ELSEWHERE]
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


def tiers_by_model(made: MadeDocument) -> str:
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


def build_expected_rows(made: MadeDocument) -> list[list[str]]:
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


def render_people(found: DatasheetDocument) -> Iterator[str]:
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
                figure(one["percent_agreement"]),
                figure(one["fleiss_kappa"]),
                figure(one["gwet_ac1"]),
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


def render_audit(audit: ShortAuditDocument) -> Iterator[str]:
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


def issues(found: BenchmarkDocument) -> list[str]:
    """What is known to be wrong with it; votes of programs among them."""
    voted = found["made"].get("annotators", {})
    simulated = voted.get("simulated", 0)
    drawn = [f"Of {sum(voted.values())} annotators {simulated} are simulated: their votes are drawn by a program."]
    return [*(drawn if simulated else []), *map(str, found["made"].get("known_issues", []))]


def rows(head: Sequence[str], body: Sequence[Sequence[object]]) -> str:
    """A table; nothing where it has no rows."""
    if not body:
        return ""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(cell(value) for value in line) + " |" for line in lines)


def cell(value: object) -> str:
    """A value that cannot end its cell or its line."""
    return str(value).replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def figure(found: EstimateDocument) -> str:
    """`0.77 [0.73, 0.82], n 620`, or why there is none."""
    if found["value"] is None:
        return f"– ({found['reason']})"
    ends = "" if found["low"] is None else f" [{found['low']:.2f}, {found['high']:.2f}]"
    return f"{found['value']:.2f}{ends}, n {found['n_items']:,}"


def name_fact(key: str) -> str:
    """What a stored key is called."""
    return FACTS.get(key) or key.replace("_", " ").capitalize()


def to_words(value: object) -> str:
    """Nested values on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {to_words(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(to_words(part) for part in value)
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


BOOTSTRAP = 2000


def datasheet(benchmark: Benchmark, *, bootstrap: int = BOOTSTRAP, seed: int = 0) -> DatasheetDocument:
    """The datasheet as JSON types."""
    row, cases = queries.row(benchmark), queries.vote_rows(benchmark)
    audited = queries.newest_audit(benchmark)
    return {
        **row.to_json(),
        "by_kind_and_tier": figures.count_by_kind_and_tier(cases, row.kinds),
        "splits": figures.count_splits(cases),
        "excluded_because": figures.count_exclusions(cases),
        "written_by": figures.count_authors(benchmark),
        "votes": figures.count_votes(cases),
        "agreement": figures.compute_agreements(cases, benchmark, bootstrap, seed),
        "audit": figures.shorten_audit(audited) if audited else None,
        "versions": [
            {"name": one.name, "version": one.version, "slug": one.slug, "made": one.made.get("how", "")}
            for one in queries.ancestors(benchmark)
        ],
        "bootstrap": bootstrap,
        "seed": seed,
    }


def to_html(found: DatasheetDocument) -> str:
    """The datasheet as one HTML file that needs nothing else."""
    context = {"sheet": found, **to_sections(found)}
    return render_to_string("annotation/benchmark_datasheet_file.html", context)
