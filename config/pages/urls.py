from django.urls import path

from config.pages import views

urlpatterns = [
    path("", views.home, name="home"),
    path("gallery/", views.gallery, name="gallery"),
    path("healthz", views.health, name="health"),
]
