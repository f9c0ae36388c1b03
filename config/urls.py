"""All addresses of the site."""

from allauth.account import views as account
from allauth.socialaccount.providers.openid_connect import urls as openid_connect
from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("annotation.urls")),  # first, for the annotators' sake
    path("login/", account.login, name="login"),
    path("login/", account.login, name="account_login"),
    path("logout/", account.logout, name="logout"),
    path("logout/", account.logout, name="account_logout"),
    path("account/inactive/", account.account_inactive, name="account_inactive"),
    path("account/new/", account.signup, name="account_signup"),
    path("account/password/", account.password_change, name="account_change_password"),
    path("account/again/", account.reauthenticate, name="account_reauthenticate"),
    path("account/2fa/", include("allauth.mfa.urls")),
    path("account/sso/", include("allauth.socialaccount.urls")),
    path("account/sso/", include(openid_connect)),
    path("admin/", admin.site.urls),
    path("api/v1/", include("config.api.urls")),
    path("", include("judging.urls")),
    path("", include("simulation.urls")),
    path("", include("config.pages.urls")),
]

handler400 = "config.middleware.bad_request"
handler500 = "config.middleware.server_error"
