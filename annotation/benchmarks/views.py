"""Benchmarks in the browser: their cases, audit, datasheet and release; filter rounds and grades of pairs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop, ngettext
from django.views.decorators.http import require_safe

from annotation.benchmarks.forms import BuildForm, CleanForm, FilterForm, list_studies
from annotation.benchmarks.models import Benchmark, FilterOutcome
from annotation.benchmarks.queries import benchmarks, benchmarks as queries
from annotation.benchmarks.result_types import DatasheetDocument
from annotation.benchmarks.services import datasheets, grading, releasing, versions
from annotation.stats.benchmarks.cases import TIERS
from annotation.stats.benchmarks.result_types import BenchmarkAuditDocument
from annotation.studies.models.studies import Study
from annotation.studies.queries.context import Subject, build_panels
from annotation.studies.steps import Step, link, study_steps
from core.accounts.access import get_account, researcher_required
from core.accounts.models.users import User
from core.accounts.permissions import filter_visible
from core.downloads import attach_file
from core.errors import InputError
from core.messages import show_errors


def benchmark_steps(benchmark: Benchmark, current: str = "") -> list[Step]:
    """List all steps, the one called `current` marked as where the reader is. Two queries."""
    counts = benchmarks.numbers(benchmark)
    own = [*votes_step(benchmark), cases_step(benchmark, counts), audit_step(benchmark, counts)]
    steps = [*own, sheet_step(benchmark), release_step(benchmark)]
    return [replace(step, current=step.key == current) for step in steps if step.href]


def votes_step(benchmark: Benchmark) -> Iterable[Step]:
    if benchmark.study:
        yield Step("votes", _("Votes"), benchmark.study.name, "done", link("filter_rounds", benchmark.study.slug))


def cases_step(benchmark: Benchmark, counts: benchmarks.Numbers) -> Step:
    n = f"{counts.counting:,}"
    if counts.cases != counts.counting:
        n = _("{n:,} of {total:,}").format(n=counts.counting, total=counts.cases)
    state = "done" if counts.counting else "todo"
    return Step("cases", _("Cases"), n, state, link("benchmark_cases", benchmark.slug))


def audit_step(benchmark: Benchmark, counts: benchmarks.Numbers) -> Step:
    here = link("benchmark_audit", benchmark.slug)
    if counts.audits:
        return Step("audit", _("Audit"), _("done"), "done", here)
    return Step("audit", _("Audit"), _("not yet"), "active", here, _("Audit"), here)


def sheet_step(benchmark: Benchmark) -> Step:
    return Step("datasheet", _("Datasheet"), "", "done", link("benchmark_datasheet", benchmark.slug))


def release_step(benchmark: Benchmark) -> Step:
    here = link("benchmark_release", benchmark.slug)
    if benchmark.is_released:
        return Step("release", _("Release"), f"{benchmark.released_at:%Y-%m-%d}", "done", here)
    return Step("release", _("Release"), _("draft"), "active", here, _("Release"), here)


PER_PAGE = 40


def find_benchmark(slug: str) -> Benchmark:
    return get_object_or_404(Benchmark.objects.select_related("parent", "study", "created_by"), slug=slug)


def render_step(request: HttpRequest, name: str, benchmark: Benchmark, step: str, **more: object) -> HttpResponse:
    context = {"benchmark": benchmark, "steps": benchmark_steps(benchmark, step), **more}
    return render(request, f"annotation/{name}.html", context)


@researcher_required
@require_safe
def benchmark_list(request: HttpRequest) -> HttpResponse:
    """Show all versions of all benchmarks."""
    rows = queries.rows(filter_visible(request.user, Benchmark.objects.all()))
    context = {"rows": rows, "may_build": list_studies(get_account(request)).exists()}
    return render(request, "annotation/benchmark_list.html", context)


@researcher_required
def benchmark_create(request: HttpRequest) -> HttpResponse:
    """Make a draft from the votes of a study."""
    form = BuildForm(request.POST or None, by=get_account(request), initial={"study": request.GET.get("study", "")})
    if form.is_valid() and (made := form.build(get_account(request))):
        says = _("{made} is a draft. It does not change any more once it is released.")
        messages.success(request, says.format(made=made))
        return redirect("benchmark_detail", slug=made.slug)
    return render(request, "annotation/benchmark_create.html", {"form": form})


@researcher_required
@require_safe
def benchmark_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one version: how many cases, how it was made, what it was made from."""
    benchmark = find_benchmark(slug)
    row = queries.row(benchmark)
    counts = queries.kind_by_tier(benchmark)
    tiers = [tier for tier in (*TIERS, "") if any(counts.get((kind, tier)) for kind in row.kinds)]
    return render_step(
        request,
        "benchmark_detail",
        benchmark,
        "",
        row=row,
        tiers=tiers,
        table=[(kind, n, [counts.get((kind, tier), 0) for tier in tiers]) for kind, n in row.kinds.items()],
        **datasheets.to_sections(row.to_json()),
        children=benchmark.children.order_by("created_at", "pk"),
    )


@researcher_required
@require_safe
def benchmark_cases(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the cases with gold, votes, tier and split."""
    benchmark = find_benchmark(slug)
    asked = {name: request.GET.get(name, "") for name in ("kind", "tier", "split", "only")}
    search = request.GET.get("q", "").strip()
    cases = queries.list_cases(benchmark, search=search, **asked)
    return render_step(
        request,
        "benchmark_cases",
        benchmark,
        "cases",
        asked=asked,
        q=search,
        filters=[(name, values, asked[name]) for name, values in queries.values(benchmark).items() if values],
        shown=[(name, _(words)) for name, words in queries.SHOWN.items()],
        page=Paginator(cases, PER_PAGE).get_page(request.GET.get("page")),
    )


@researcher_required
@require_safe
def benchmark_case(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show one case: its texts, its votes, and all that happened to it."""
    benchmark = find_benchmark(slug)
    case = get_object_or_404(benchmark.cases.select_related("pair__profile"), pk=pk)
    before, after = queries.neighbours(case)
    return render_step(
        request,
        "benchmark_case",
        benchmark,
        "cases",
        case=case,
        pair=case.pair,
        panels=build_panels(Subject(case.pair.profile, None, {})),
        others=queries.list_same_texts(case, by=get_account(request)),
        previous_href=before and reverse("benchmark_case", args=[slug, before.pk]),
        next_href=after and reverse("benchmark_case", args=[slug, after.pk]),
    )


@researcher_required
def benchmark_audit(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the newest audit, or the button that makes one; and a cleaned version."""
    benchmark = find_benchmark(slug)
    form = CleanForm(request.POST if "rules" in request.POST or "version" in request.POST else None)
    if request.method == "POST" and not form.is_bound:
        return render_audit(request, benchmark)
    if form.is_valid() and (made := form.clean_into(get_account(request), benchmark)):
        left = made.made["before"] - made.made["after"]
        says = ngettext("{made} leaves {n} case out.", "{made} leaves {n} cases out.", left)
        messages.success(request, says.format(made=made, n=left))
        return redirect("benchmark_detail", slug=made.slug)
    newest = queries.newest_audit(benchmark)
    return render_step(
        request,
        "benchmark_audit",
        benchmark,
        "audit",
        audit=newest,
        form=form,
        downloads=[("JSON", reverse("benchmark_audit_download", args=[slug]))],
        **(build_audit_context(benchmark, newest.result) if newest else {}),
    )


MOST_SHOWN = 30


def build_audit_context(benchmark: Benchmark, result: BenchmarkAuditDocument) -> dict[str, object]:
    """Return what the page shows of an audit: tables of all and of tiers, the first repeated pairs with links."""
    several = sum(1 for one in result["recurring"] if one["kind"]) > 0
    pairs = sorted(result["repeated_pairs"], key=lambda one: not one["opposite"])[:MOST_SHOWN]
    links = queries.load_case_ids(benchmark, [name for one in pairs for name in one["cases"]])
    return {
        "several_kinds": several,
        "rules": sorted({one["rule"] for one in result["shortcuts"]}),
        "pairs": [([(name, links.get(name)) for name in one["cases"]], one["tiers"], one["opposite"]) for one in pairs],
        "questions": result["shared_questions"]["questions"][:MOST_SHOWN],
    }


def render_audit(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    with show_errors(request):
        versions.audit(by=get_account(request), benchmark=benchmark)
    return redirect("benchmark_audit", slug=benchmark.slug)


@researcher_required
@require_safe
def audit_download(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001
    """Send the newest audit."""
    newest = queries.newest_audit(find_benchmark(slug))
    if newest is None:
        raise Http404("there is no audit yet")
    return attach_file(json.dumps(newest.result, ensure_ascii=False, indent=1), name=f"{slug}-audit.json")


@researcher_required
@require_safe
def benchmark_datasheet(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what somebody must know who uses it."""
    benchmark = find_benchmark(slug)
    sheet = datasheets.datasheet(benchmark)
    return render_step(
        request,
        "benchmark_datasheet",
        benchmark,
        "datasheet",
        sheet=sheet,
        **datasheets.to_sections(sheet),
        downloads=[(name.upper(), reverse("datasheet_download", args=[slug, name])) for name in SHEETS],
    )


@researcher_required
@require_safe
def datasheet_download(request: HttpRequest, slug: str, format: str) -> HttpResponse:  # noqa: ARG001
    """Send the datasheet as md, html or json."""
    if format not in SHEETS:
        raise Http404(f"a datasheet is not given as {format}")
    sheet = SHEETS[format](datasheets.datasheet(find_benchmark(slug)))
    return attach_file(sheet, name=f"{slug}-datasheet.{format}")


SHEETS: dict[str, Callable[[DatasheetDocument], str]] = {
    "md": datasheets.to_markdown,
    "html": datasheets.to_html,
    "json": lambda sheet: json.dumps(sheet, ensure_ascii=False, indent=1),
}


@researcher_required
def benchmark_release(request: HttpRequest, slug: str) -> HttpResponse:
    """Release a draft; download what is released."""
    benchmark = find_benchmark(slug)
    if request.method == "POST":
        with show_errors(request):
            versions.release(by=get_account(request), benchmark=benchmark)
            messages.success(
                request, _("{benchmark} is released. A correction is a new version.").format(benchmark=benchmark)
            )
        return redirect("benchmark_release", slug=slug)
    return render_step(request, "benchmark_release", benchmark, "release", row=queries.row(benchmark))


@researcher_required
@require_safe
def release_download(request: HttpRequest, slug: str) -> HttpResponse | FileResponse:
    """Send the folder that `release` writes, as one ZIP file. It is made for this answer and gone afterwards."""
    benchmark = find_benchmark(slug)
    if not benchmark.is_released:
        raise Http404("a draft is not given out")
    try:
        packed = releasing.pack_release(benchmark=benchmark)
    except InputError as error:
        messages.error(request, error.message)
        return redirect("benchmark_release", slug=slug)
    return FileResponse(packed, as_attachment=True, filename=f"{slug}.zip")


@researcher_required
def filter_rounds(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what each round did with the items, and a form for the next."""
    study = get_object_or_404(Study, slug=slug)
    if study.kind != Study.Kind.PAIR:
        raise Http404("only studies of response pairs are filtered")
    form = FilterForm(request.POST or None)
    if form.is_valid() and (made := form.run(get_account(request), study)):
        counts = Counter(made.outcomes.values_list("outcome", flat=True))
        messages.success(request, ", ".join(f"{n} {_(outcome)}" for outcome, n in counts.items()).capitalize() + ".")
        return redirect("filter_rounds", slug=slug)
    rounds = list(study.filter_rounds.select_related("follow_up", "created_by").order_by("number"))
    numbers = FilterOutcome.objects.filter(round__in=rounds).values_list("round", "outcome").annotate(n=Count("pk"))
    counted = {(pk, outcome): n for pk, outcome, n in numbers.order_by()}
    context = {
        "study": study,
        "steps": study_steps(study, "gold"),
        "form": form,
        "outcomes": FilterOutcome.Outcome.labels,
        "rounds": [(one, [counted.get((one.pk, name), 0) for name in FilterOutcome.Outcome.values]) for one in rounds],
        "simulated": study.annotators.filter(kind=User.Kind.SIMULATED).count(),
        "undecided": study.items.filter(filter_outcomes=None).count(),
        "benchmarks": Benchmark.objects.filter(study=study).order_by("created_at", "pk"),
        "before": study.follows.select_related("study").first(),
    }
    return render(request, "annotation/filter_rounds.html", context)


FIGURES = {
    "no_difference": gettext_noop("Preferences whose two grades are equal"),
    "same_sign": gettext_noop("Of the others: the chosen response has the higher grade"),
    "opposite": gettext_noop("Preferences whose chosen response has the lower grade"),
    "both_high": gettext_noop("Preferences between two responses above the middle of the scale"),
    "both_low": gettext_noop("Preferences between two responses below the middle of the scale"),
    "difference": gettext_noop("Mean difference of grades in favour of the chosen response"),
    "correlation": gettext_noop("Rank correlation of choice and difference of grades"),
}


@researcher_required
def grades_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what choices hide that grades of the same people show, or the button that makes the study of grades."""
    study = get_object_or_404(Study, slug=slug, kind=Study.Kind.PAIR)
    if request.method == "POST":
        try:
            made = grading.make_study(by=get_account(request), study=study)
        except InputError as error:
            messages.error(request, error.message)
            return redirect("graded", slug=slug)
        says = _("{made} is a draft: its annotators see it once it is open.")
        messages.success(request, says.format(made=made))
        return redirect("study_detail", slug=made.slug)
    simulated = study.annotators.filter(kind=User.Kind.SIMULATED).count()
    context: dict[str, object] = {"study": study, "steps": study_steps(study, "gold"), "simulated": simulated}
    if there := grading.list_graded_studies(study):
        with show_errors(request):
            found = grading.compare(study=study, graded=there[0])
            named: dict[str, object] = {**found}
            figures = [(_(words), named[name]) for name, words in FIGURES.items()]
            context |= {"found": found, "figures": figures}
            context["downloads"] = [("JSON", reverse("graded_download", args=[slug]))]
        context["graded"] = there[0]
    return render(request, "annotation/graded.html", context)


@researcher_required
@require_safe
def grades_download(request: HttpRequest, slug: str) -> HttpResponse:  # noqa: ARG001
    """Send what the page shows, with the number of draws and the seed."""
    study = get_object_or_404(Study, slug=slug, kind=Study.Kind.PAIR)
    there = grading.list_graded_studies(study)
    if not there:
        raise Http404("its responses are not graded yet")
    try:
        found = grading.compare(study=study, graded=there[0])
    except InputError as error:
        raise Http404(error.message) from error
    text = json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False)
    return attach_file(text, name=f"{slug}-graded.json")
