"""Everything that a researcher's pages change, the API changes too; what it does not is listed here with the reason."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from django.urls import get_resolver

COUNTERPARTS = {
    "benchmark_audit": "api_benchmark_audit",
    "benchmark_create": "api_benchmarks",
    "benchmark_release": "api_benchmark_release",
    "adjudicate": "api_item_adjudications",
    "admission": "api_admissions",
    "candidate_import": "api_candidate_imports",
    "candidate_again": "api_candidate_resume",
    "candidate_create": "api_candidate_runs",
    "candidate_pairs": "api_candidate_pairs",
    "candidate_stop": "api_candidate_stop",
    "cascade_escalate": "api_cascade_escalations",
    "certificate_issue": "api_certificates",
    "conflict_decide": "api_conflict_reviews",
    "consent_text": "api_intake",
    "evaluation_detail": "api_evaluation_runs",
    "evaluation_list": "api_of_benchmark",
    "exclusion": "api_study_exclusions",
    "experiment_create": "api_experiments",
    "experiment_judge": "api_experiment_judge",
    "experiment_people": "api_experiment_people",
    "experiment_resume": "api_experiment_resume",
    "experiment_stop": "api_experiment_stop",
    "failure_tag": "api_failure_tags",
    "filter_rounds": "api_filter_rounds",
    "graded": "api_graded",
    "guideline": "api_study_criterion",
    "import_upload": "api_imports",
    "intake": "api_intake",
    "invitation_create": "api_invitations",
    "invitation_revoke": "api_invitation",
    "item_tier": "api_item_tier",
    "judge_assess": "api_compute",
    "judge_create": "api_judges",
    "judge_delete": "api_judge",
    "judge_detail": "api_judge_test",
    "judge_escalate": "api_escalations",
    "judge_limits": "api_judge_limits",
    "judge_look": "api_look",
    "judge_plan_study": "api_plan",
    "judge_probes": "api_study_probes",
    "judge_recalibrate": "api_maps",
    "judge_version": "api_judge_versions",
    "known_add": "api_known_items",
    "known_from": "api_known_decided",
    "known_retire": "api_known_item",
    "late_answers": "api_late_answers",
    "making_again": "api_making_again",
    "making_list": "api_making_list",
    "member_add": "api_members",
    "member_change": "api_member",
    "member_remove": "api_member",
    "panel_create": "api_study_panels",
    "participant_withdraw": "api_withdrawal",
    "price_list": "api_prices",
    "price_remove": "api_price",
    "project_choose": "api_project_choose",
    "project_list": "api_projects",
    "question_create": "api_questions",
    "question_remove": "api_question",
    "queue": "api_queue",
    "run_create": "api_study_runs",
    "run_resume": "api_run_resume",
    "run_stop": "api_run_stop",
    "study_assign": "api_study_annotators",
    "study_close": "api_study_close",
    "study_create": "api_studies",
    "study_hold_out": "api_study_hold_out",
    "study_open": "api_study_open",
    "study_release": "api_study_release",
    "study_sample": "api_study_samples",
}
"""Page -> address of the API that writes the same."""

WITHOUT: dict[str, str] = {}
"""Pages that change something which the API does not, with the reason."""


def views(patterns: Any, before: str = "") -> Iterator[tuple[str, str, Any]]:
    for one in patterns:
        route = before + str(one.pattern)
        if hasattr(one, "url_patterns"):
            yield from views(one.url_patterns, route)
        else:
            yield one.name or "", route, one.callback


DOORS = ("researcher", "adjudicator", "owner")
ALL = list(views(get_resolver().url_patterns))


def writing_pages() -> set[str]:
    """Pages for researchers, adjudicators and owners that take a POST."""
    pages = {name: view for name, _, view in ALL if getattr(view, "access", "") in DOORS}
    return {name for name, view in pages.items() if "POST" in inspect.getsource(inspect.unwrap(view))}


def writing_addresses() -> set[str]:
    methods = ("post", "put", "patch", "delete")
    return {name for name, _, view in ALL if any(hasattr(getattr(view, "cls", None), one) for one in methods)}


def test_every_page_that_changes_something_has_an_address_of_the_api_or_a_reason():
    pages = writing_pages()
    assert len(pages) > 50
    assert pages == {*COUNTERPARTS, *WITHOUT}
    assert not {*COUNTERPARTS} & {*WITHOUT}


def test_what_stands_for_a_page_is_there_and_writes():
    assert set(COUNTERPARTS.values()) - writing_addresses() == set()
