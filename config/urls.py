"""All addresses of the site."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path

urlpatterns = [
    path("login/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("", include("annotation.urls")),
    path("", include("judging.urls")),
    path("", include("simulation.urls")),
    path("", include("config.pages.urls")),
]
