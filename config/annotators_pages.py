"""The annotators' pages: what every language of locale/ has. `scripts/messages.py` reads this without Django."""

from __future__ import annotations

TRANSLATED = frozenset(
    {
        # work
        "my_work", "next_item", "assignment", "assignment_skip", "assignment_flag", "assignment_later",
        "assignment_message", "assignment_decline", "assignment_save", "assignment_draft", "assignment_put_back",
        "next_ahead", "my_items", "qualification", "training_answer",
        # taking part
        "join", "register", "consent", "about_me", "withdraw",
        # the account
        "login", "account_login", "logout", "account_logout", "account_inactive", "account_change_password",
        "account_reauthenticate", "account", "person_erase",
        "mfa_index", "mfa_authenticate", "mfa_reauthenticate", "mfa_activate_totp", "mfa_deactivate_totp",
        "mfa_view_recovery_codes", "mfa_generate_recovery_codes",
    }
)  # fmt: skip
"""Names of addresses whose pages, and whatever these include, have every text in each language of locale/."""

PAGES = (
    "403.html", "403_csrf.html", "404.html", "413.html", "input_error.html",
    "account/login.html",
    "annotation/about_me.html", "annotation/all_done.html", "annotation/assignment.html", "annotation/consent.html",
    "annotation/join.html", "annotation/join_platform.html", "annotation/join_refused.html",
    "annotation/my_items.html", "annotation/my_work.html", "annotation/qualification.html",
    "annotation/training_answer.html", "annotation/withdraw.html", "annotation/_answer_extras.html",
    "config/account.html", "config/erased.html", "config/person_erase.html", "config/second_factor.html",
)  # fmt: skip
"""Templates of these pages."""

MODULES = (
    "annotation/quality/queries/gold_questions.py",
    "annotation/recruitment/forms.py", "annotation/recruitment/platforms.py", "annotation/recruitment/queries.py",
    "annotation/recruitment/services/consents.py", "annotation/recruitment/services/demographics.py",
    "annotation/recruitment/services/enrolment.py", "annotation/recruitment/views/join.py",
    "annotation/studies/models/assignments.py", "annotation/studies/models/studies.py",
    "annotation/studies/parsing/answers.py",
    "annotation/studies/queries/asks.py", "annotation/studies/queries/context.py",
    "annotation/studies/queries/given_answers.py", "annotation/studies/queries/guidelines.py",
    "annotation/workbench/controls.py", "annotation/workbench/queries/my_items.py",
    "annotation/workbench/services/annotations.py", "annotation/workbench/services/assignments.py",
    "annotation/workbench/services/drafts.py", "annotation/workbench/services/highlights.py",
    "annotation/workbench/services/item_messages.py",
    "annotation/workbench/views/item_actions.py", "annotation/workbench/views/rating_api.py",
    "annotation/workbench/views/work.py",
    "config/accounts.py", "config/erasure/erasing.py", "config/erasure/forms.py", "config/languages.py",
    "config/pages/views.py", "config/templatetags/concord.py",
)  # fmt: skip
"""Modules whose texts stand on these pages."""
