"""Administration: accounts, and a look at the rows when something has to be found out."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import UserCreationForm

from annotation.studies.models.assignments import Assignment
from annotation.studies.models.labels import Annotation
from annotation.studies.models.studies import Criterion, Study
from core.accounts.models.users import User


class AdminAccountForm(UserCreationForm[User]):
    class Meta:
        model = User
        fields = ("username",)


@admin.register(User)
class UserAdmin(DjangoUserAdmin[User]):
    """Accounts: who may research, and who is imported or simulated."""

    add_form = AdminAccountForm
    list_display = ("username", "display_name", "kind", "is_researcher", "is_active")
    list_filter = ("kind", "is_researcher", "is_active")
    fieldsets = (*(DjangoUserAdmin.fieldsets or ()), ("Concord", {"fields": ("display_name", "kind", "is_researcher")}))
    add_fieldsets = (
        *DjangoUserAdmin.add_fieldsets,
        ("Concord", {"fields": ("display_name", "kind", "is_researcher")}),
    )


class CriterionInline(admin.TabularInline[Criterion, Study]):
    model = Criterion
    fields = ("position", "key", "name", "level")
    readonly_fields = fields
    extra = 0
    can_delete = False


@admin.register(Study)
class StudyAdmin(admin.ModelAdmin[Study]):
    list_display = ("name", "kind", "state", "overlap", "created_by", "created_at")
    list_filter = ("kind", "state")
    search_fields = ("name", "slug")
    readonly_fields = ("kind", "state", "overlap", "seed", "created_by")
    raw_id_fields = ("annotators",)
    inlines = (CriterionInline,)


class ReadOnly:
    """Rows that only the site itself writes."""

    def has_add_permission(self, *args: object) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, *args: object, **kwargs: object) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, *args: object, **kwargs: object) -> bool:  # noqa: ARG002
        return False


@admin.register(Assignment)
class AssignmentAdmin(ReadOnly, admin.ModelAdmin[Assignment]):
    list_display = ("id", "study", "rank", "slot", "annotator", "state", "leased_until", "submitted_at")
    list_filter = ("state", "study")
    list_select_related = ("study", "annotator")


@admin.register(Annotation)
class AnnotationAdmin(ReadOnly, admin.ModelAdmin[Annotation]):
    list_display = ("id", "assignment_id", "criterion", "value", "unscored_reason", "updated_at")
    list_filter = ("criterion__study",)
    list_select_related = ("criterion",)
