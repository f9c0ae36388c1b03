"""Addresses of coming into a study and leaving it, one a line."""

from django.urls import URLPattern, URLResolver, path

from annotation.recruitment.views import join, recruitment

urlpatterns: list[URLPattern | URLResolver] = [
    # the researcher's page of who comes in
    path("studies/<study:slug>/coming-in/", recruitment.recruitment, name="coming_in"),
    path("studies/<study:slug>/coming-in/invitations/", recruitment.invitation_create, name="invitation_create"),
    path(
        "studies/<study:slug>/coming-in/invitations/<within:pk>/revoke/",
        recruitment.invitation_revoke,
        name="invitation_revoke",
    ),
    path("studies/<study:slug>/coming-in/consent/", recruitment.consent_text, name="consent_text"),
    path("studies/<study:slug>/coming-in/questions/", recruitment.question_create, name="question_create"),
    path(
        "studies/<study:slug>/coming-in/questions/<within:pk>/remove/",
        recruitment.question_remove,
        name="question_remove",
    ),
    path("studies/<study:slug>/coming-in/settings/", recruitment.intake, name="intake"),
    path(
        "studies/<study:slug>/participants.<word:format>",
        recruitment.participants_download,
        name="participants_download",
    ),
    path(
        "studies/<study:slug>/participants/<within:pk>/withdraw/",
        recruitment.participant_withdraw,
        name="participant_withdraw",
    ),
    # the way in
    path("join/<own_text:token>/", join.join, name="join"),
    path("register/<own:slug>/", join.register, name="register"),
    # taking part
    path("work/<own:slug>/consent/", join.consent, name="consent"),
    path("work/<own:slug>/about-me/", join.answer_demographics, name="about_me"),
    path("work/<own:slug>/withdraw/", join.withdraw, name="withdraw"),
]
